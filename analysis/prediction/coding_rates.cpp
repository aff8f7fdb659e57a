#include "analysis/prediction/coding_rates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/records/metrics.hpp"
#include "analysis/statistics/statistics.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Sizes below this share of the largest tell of calls, not of bytes.
constexpr double kLargeSize = 1.0 / 16;

/// Times of one compressor, by the bytes of the buffer.
struct Timed {
  std::map<double, std::vector<double>> encode, decode;
  std::string newest;  ///< start of the newest run
};

void add(std::map<double, std::vector<double>>& times, const CaseResult& result, std::string_view metric) {
  std::vector<double> values;
  for (const Sample& sample : result.samples)
    if (sample.metric == metric && !sample.warmup && sample.value > 0) values.push_back(sample.value);
  if (!values.empty()) times[static_cast<double>(result.asked.collective.bytes)].push_back(median(std::move(values)));
}

struct Line {
  double per_byte = 0, call = 0;
};

/// \pre there are times
Line line_through(const std::map<double, std::vector<double>>& times) {
  std::vector<double> per_byte;
  for (const auto& [bytes, seconds] : times)
    if (bytes >= kLargeSize * times.rbegin()->first) per_byte.push_back(median(seconds) / bytes);
  Line line{.per_byte = median(std::move(per_byte))};
  const auto& [bytes, seconds] = *times.begin();
  line.call = std::max(0.0, median(seconds) - line.per_byte * bytes);
  return line;
}

bool is_timed_there(const CaseResult& result, const Case& like) {
  const Case& asked = result.asked;
  return result.status == CaseStatus::done && asked.is_of_machine() && asked.is_collective() &&
         asked.strategy.compresses() && asked.machine == like.machine &&
         asked.training.on_gpu() == like.training.on_gpu();
}

}  // namespace

std::map<std::string, StatedCoding, std::less<>> coding_rates(const std::vector<CaseResult>& results,
                                                              const Case& like) {
  std::map<std::string, Timed> by_compressor;
  for (const CaseResult& result : results) {
    if (!is_timed_there(result, like)) continue;
    Timed& timed = by_compressor[result.asked.strategy.compressor];
    add(timed.encode, result, metric::kEncode);
    add(timed.decode, result, metric::kDecode);
    timed.newest = std::max(timed.newest, result.producer.started_at);
  }
  std::map<std::string, StatedCoding, std::less<>> rates;
  for (const auto& [compressor, timed] : by_compressor) {
    if (timed.encode.empty() || timed.decode.empty()) continue;
    const Line encode = line_through(timed.encode), decode = line_through(timed.decode);
    constexpr std::size_t kDay = 10;  // characters of 2026-11-26
    rates[compressor] = {
        {.encode = encode.per_byte, .decode = decode.per_byte, .call = (encode.call + decode.call) / 2},
        fmt::format("coding rates measured here on {} by hbench collective, {}", timed.newest.substr(0, kDay),
                    counted(std::ssize(timed.encode), "size"))};
  }
  return rates;
}

}  // namespace hbench

#include "analysis/fit/machine_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/fit/profile_text.hpp"
#include "analysis/records/metrics.hpp"
#include "analysis/statistics/statistics.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/toml_reader.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr std::size_t kFewestSizes = 4;

/// seconds = constant + slope x bytes.
struct Line {
  double constant = 0;
  double slope = 0;
};

/// Minimises the sum of ((constant + slope x bytes) / seconds - 1)^2 by its normal equations, over every other size.
Line line_through(const std::vector<TimedSize>& timed) {
  double ww = 0, wx = 0, xx = 0, w = 0, x = 0;
  for (std::size_t i = 0; i < timed.size(); i += 2) {
    const double weight = 1 / timed[i].seconds, scaled = static_cast<double>(timed[i].bytes) / timed[i].seconds;
    ww += weight * weight;
    wx += weight * scaled;
    xx += scaled * scaled;
    w += weight;
    x += scaled;
  }
  const double determinant = ww * xx - wx * wx;
  const Line line{(w * xx - x * wx) / determinant, (ww * x - wx * w) / determinant};
  // No latency is negative: then the best line with none.
  return line.constant >= 0 ? line : Line{0, x / xx};
}

void check(const std::vector<TimedSize>& timed) {
  if (timed.size() < kFewestSizes)
    throw Error(ExitCode::usage, fmt::format("{} sizes are too few to fit a link to", timed.size()),
                fmt::format("time at least {}: half of them are fitted, the others check it", kFewestSizes));
  for (const TimedSize& each : timed)
    if (!(each.seconds > 0 && std::isfinite(each.seconds)))
      throw Error(ExitCode::wrong_data, fmt::format("{} bytes took {} s, which is no time", each.bytes, each.seconds));
}

/// Digits enough that reading them back changes nothing that matters: a millionth.
std::string local_lines(const Profile& network, const MachineFigures& machine) {
  if (!machine.link) return profile_lines(network, "local");
  return profile_line("latency", fmt::format("{:.6g} us", machine.link->latency.value * 1e6), machine.how_linked) +
         profile_line("rate", fmt::format("{:.6g} MB/s", machine.link->rate.value / 1e6), machine.how_linked);
}

std::string prediction(const Profile& network, const MachineFigures& machine) {
  if (!machine.link || machine.link->mean_error <= network.uncertainty) return profile_lines(network, "prediction");
  const double uncertainty = std::min(machine.link->mean_error, kMostUncertainty);
  return profile_line("uncertainty", fmt::format("{:.3g}", uncertainty),
                      fmt::format("mean error of the fitted link on {} sizes it has not seen; {}", machine.link->unseen,
                                  machine.how_linked));
}

std::string line_rate_in_words(const Profile& network) {
  const std::string one = format(network.line_rate);
  return network.nics > 1 ? fmt::format("{} x {}", network.nics, one) : one;
}

CaseResult row_of_point(const Point& point, const std::string& profile) {
  CaseResult row{.asked = point.asked};
  row.asked.profile = profile;
  row.asked.machine.clear();
  row.origin =
      fmt::format("run {}, {} on {} ranks", point.producer.run, point.asked.strategy_label(), point.asked.gpus);
  row.samples = {{.metric = "throughput", .value = point.throughput, .unit = "samples/s"},
                 {.metric = "baseline_throughput",
                  .value = point.throughput / (*point.efficiency * point.asked.gpus),
                  .unit = "samples/s"}};
  return row;
}

/// Sizes below this share of the largest tell of calls, not of bytes.
constexpr double kLargeSize = 1.0 / 16;

/// Times of one compressor, by the bytes of the buffer.
struct Timed {
  std::map<double, std::vector<double>> encode, decode;
  std::string newest;  ///< start of the newest run
};

void add_times(std::map<double, std::vector<double>>& times, const CaseResult& result, std::string_view metric) {
  std::vector<double> values;
  for (const Sample& sample : result.samples)
    if (sample.metric == metric && !sample.warmup && sample.value > 0) values.push_back(sample.value);
  if (!values.empty()) times[static_cast<double>(result.asked.collective.bytes)].push_back(median(std::move(values)));
}

struct CodingLine {
  double per_byte = 0, call = 0;
};

/// \pre there are times
CodingLine line_through(const std::map<double, std::vector<double>>& times) {
  std::vector<double> per_byte;
  for (const auto& [bytes, seconds] : times)
    if (bytes >= kLargeSize * times.rbegin()->first) per_byte.push_back(median(seconds) / bytes);
  CodingLine line{.per_byte = median(std::move(per_byte))};
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

LinkFit fit_link(std::vector<TimedSize> timed, int ranks) {
  check(timed);
  std::ranges::sort(timed, {}, &TimedSize::bytes);
  const Line line = line_through(timed);
  if (!(line.slope > 0 && std::isfinite(line.slope)))
    throw Error(ExitCode::wrong_data, "the times of the all-reduces do not grow with their size",
                "the machine is too busy to be measured, or the sizes are all small: measure again");
  const double steps = 2.0 * (ranks - 1);
  LinkFit link;
  link.latency = Seconds(line.constant / steps);
  link.rate = BytesPerSecond(steps / ranks / line.slope);
  for (std::size_t i = 1; i < timed.size(); i += 2) {
    const double error = std::fabs(ring_time(link, ranks, timed[i].bytes).value / timed[i].seconds - 1);
    link.mean_error += error;
    link.largest_error = std::max(link.largest_error, error);
    ++link.unseen;
  }
  link.mean_error /= static_cast<double>(link.unseen);
  return link;
}

Seconds ring_time(const LinkFit& link, int ranks, std::int64_t bytes) {
  const double steps = 2.0 * (ranks - 1);
  return Seconds(steps * link.latency.value + steps / ranks * static_cast<double>(bytes) / link.rate.value);
}

std::string machine_title(const Profile& network, const MachineFigures& machine) {
  return fmt::format("machines like this joined by {}, {} {} per node, {}", network.name, machine.ranks, machine.what,
                     line_rate_in_words(network));
}

std::string format_machine_profile(const Profile& network, const MachineFigures& machine) {
  return fmt::format("title = {}\ngpu = {}\n{}", toml_text(machine_title(network, machine)), toml_text(machine.gpu),
                     profile_line("gpus_per_node", std::to_string(machine.ranks), machine.how)) +
         profile_section("local", local_lines(network, machine)) +
         profile_section("network", profile_lines(network, "network")) +
         profile_section("parameter_server", profile_lines(network, "parameter_server")) +
         profile_section("compute", profile_line("call_latency", "0 us", "a part of the latency that was measured") +
                                        profile_lines(network, "compute", {"memory_rate", "call_latency"})) +
         profile_section("prediction", prediction(network, machine)) +
         profile_section("rates", rate_lines(machine.rates)) + profile_section("coding", coding_lines(machine.coding));
}

FrameworkRows framework_rows(const std::vector<CaseResult>& results, const std::vector<CaseResult>& baselines,
                             const std::string& profile) {
  std::vector<Point> measured = make_points(results, baselines);
  std::erase_if(measured, [](const Point& point) {
    return !point.asked.is_of_machine() || !point.asked.strategy.of_framework();
  });
  FrameworkRows found;
  if (measured.empty()) return found;
  const Point& last = *std::ranges::max_element(measured, {}, [](const Point& point) { return point.producer.run; });
  for (const Point& point : measured) {
    const bool is_row = !point.failed && point.efficiency && point.asked.gpus > 1 &&
                        point.asked.machine == last.asked.machine && !point.asked.strategy.uses_servers();
    if (is_row)
      found.rows.push_back(row_of_point(point, profile));
    else
      ++found.others;
  }
  return found;
}

std::map<std::string, StatedCoding, std::less<>> coding_rates(const std::vector<CaseResult>& results,
                                                              const Case& like) {
  std::map<std::string, Timed> by_compressor;
  for (const CaseResult& result : results) {
    if (!is_timed_there(result, like)) continue;
    Timed& timed = by_compressor[result.asked.strategy.compressor];
    add_times(timed.encode, result, metric::kEncode);
    add_times(timed.decode, result, metric::kDecode);
    timed.newest = std::max(timed.newest, result.producer.started_at);
  }
  std::map<std::string, StatedCoding, std::less<>> rates;
  for (const auto& [compressor, timed] : by_compressor) {
    if (timed.encode.empty() || timed.decode.empty()) continue;
    const CodingLine encode = line_through(timed.encode), decode = line_through(timed.decode);
    constexpr std::size_t kDay = 10;  // characters of 2026-11-26
    rates[compressor] = {
        {.encode = encode.per_byte, .decode = decode.per_byte, .call = (encode.call + decode.call) / 2},
        fmt::format("coding rates measured here on {} by hbench collective, {}", timed.newest.substr(0, kDay),
                    counted(std::ssize(timed.encode), "size"))};
  }
  return rates;
}

}  // namespace hbench

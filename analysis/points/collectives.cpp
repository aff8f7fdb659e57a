#include "analysis/points/collectives.hpp"

#include <algorithm>

#include "analysis/points/timed_steps.hpp"
#include "collectives/arithmetic/arithmetic.hpp"

namespace hbench {
namespace {

std::optional<double> median_of(const CaseResult& result, std::string_view metric) {
  const TimedSteps steps = timed_steps(result, metric);
  if (steps.launches.empty()) return std::nullopt;
  return median_of_launches(steps.launches);
}

/// The fastest of all iterations: a bound is what memory can do, not what it does on average.
std::optional<double> fastest_of(const CaseResult& result, std::string_view metric) {
  std::optional<double> fastest;
  for (const Launch& launch : timed_steps(result, metric).launches)
    for (const double seconds : launch) fastest = std::min(fastest.value_or(seconds), seconds);
  return fastest;
}

/// Older databases know only how long reading with writing back takes, which is the bound of an all-reduce alone.
std::optional<double> bound_of(const CaseResult& result) {
  const std::optional<double> rewritten = fastest_of(result, metric::kBound);
  const std::optional<double> read = fastest_of(result, metric::kBoundRead);
  const std::string& collective = result.asked.collective.name;
  if (!rewritten || (!read && collective != "all-reduce")) return std::nullopt;
  return memory_bound(collective, result.asked.gpus, std::min(read.value_or(*rewritten), *rewritten), *rewritten);
}

CollectiveTiming timing(const CaseResult& result, std::string_view seconds, std::string_view wrong) {
  CollectiveTiming timing;
  // Every launch checks; one that failed voids the rest.
  for (const Sample& sample : result.samples)
    if (sample.metric == wrong) timing.wrong = timing.wrong.value_or(0) + static_cast<std::int64_t>(sample.value);
  if (timing.wrong.value_or(0) == 0) timing.seconds = median_of(result, seconds);
  timing.throttled = throttled_share(result, seconds);
  return timing;
}

void add_coding(const CaseResult& result, CollectiveFigures& figures) {
  const CollectiveTask& task = result.asked.collective;
  const double elements =
      static_cast<double>(task.bytes) / static_cast<double>(size_of(parse_data_type(task.data_type)));
  if (!figures.wire_bytes || !figures.plain_wire_bytes || elements <= 0 || *figures.plain_wire_bytes <= 0) return;
  const double plain_bits = 8.0 * static_cast<double>(task.bytes) / elements;
  figures.bits_per_element = plain_bits * *figures.wire_bytes / *figures.plain_wire_bytes;
  if (!figures.encode_seconds || !figures.decode_seconds) return;
  const double coding = *figures.encode_seconds + *figures.decode_seconds;
  const double saved = *figures.plain_wire_bytes - *figures.wire_bytes;
  if (coding > 0 && saved > 0) figures.break_even = saved / coding;
}

std::map<std::string, int> transports_of(const CaseResult& result) {
  std::map<std::string, int> transports;
  for (const Sample& sample : result.samples) {
    if (!sample.metric.starts_with(metric::kTransport)) continue;
    int& most = transports[sample.metric.substr(metric::kTransport.size())];
    most = std::max(most, static_cast<int>(sample.value));
  }
  return transports;
}

std::string basis_of(const CaseResult& result) {
  for (const Sample& sample : result.samples)
    if (sample.metric.starts_with(metric::kBasis)) return sample.metric.substr(metric::kBasis.size());
  return {};
}

}  // namespace

CollectiveFigures collective_figures(const CaseResult& result) {
  CollectiveFigures figures;
  figures.in_place = timing(result, metric::kInPlace, metric::kInPlaceWrong);
  figures.out_of_place = timing(result, metric::kOutOfPlace, metric::kOutOfPlaceWrong);
  figures.wire_bytes = value_of(result, metric::kWireBytes);
  figures.plain_wire_bytes = value_of(result, metric::kPlainWireBytes);
  figures.encode_seconds = median_of(result, metric::kEncode);
  figures.decode_seconds = median_of(result, metric::kDecode);
  figures.relative_error = value_of(result, metric::kRelativeError);
  figures.cosine = value_of(result, metric::kCosine);
  figures.low = value_of(result, metric::kInPlaceLow);
  figures.high = value_of(result, metric::kInPlaceHigh);
  figures.basis = basis_of(result);
  figures.bound_seconds = bound_of(result);
  figures.transports = transports_of(result);
  add_coding(result, figures);
  return figures;
}

double memory_bound(std::string_view collective, int ranks, double read, double rewritten) {
  // Of all buffers together: the shares that are read and written.
  const double one = 1.0 / ranks;
  double reads = 1, writes = 1;
  if (collective == "reduce-scatter") writes = one;
  if (collective == "all-gather" || collective == "broadcast") {
    reads = one;
    writes = 1 - one;
  }
  return reads * read + writes * (rewritten - read);
}

double bus_factor(std::string_view collective, int ranks) {
  const double share = static_cast<double>(ranks - 1) / ranks;
  if (collective == "all-reduce") return 2 * share;
  return collective == "broadcast" ? 1 : share;
}

}  // namespace hbench

#include "analysis/trace/ledger_samples.hpp"

#include <algorithm>
#include <tuple>

#include "analysis/statistics/statistics.hpp"

namespace hbench {
namespace {

using Parts = std::map<std::string, double>;

/// Named parts' values, to be joined part by part.
using Collected = std::map<std::string, std::vector<double>>;

void collect(Collected& into, const Parts& parts) {
  for (const auto& [name, value] : parts) into[name].push_back(value);
}

template <class Join>
Parts joined(const Collected& collected, Join join) {
  Parts parts;
  for (const auto& [name, values] : collected) parts[name] = join(values);
  return parts;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::vector<Sample> ledger_samples(const TracedStep& step) {
  std::vector<Sample> samples;
  for (const auto& [rank, ledger] : step_ledgers(step.spans)) {
    const auto add = [&](std::string name, Seconds value) {
      samples.push_back({.launch = step.launch,
                         .rank = rank,
                         .iteration = step.iteration,
                         .metric = std::move(name),
                         .value = value.value,
                         .unit = "s"});
    };
    for (const LedgerPart& each : kLedgerParts)
      if (each.part != &Ledger::slowdown)
        add(std::string(metric::kLedgerPrefix) + std::string(each.name), ledger.*each.part);
    Seconds backward;
    for (const Span& span : step.spans)
      if (span.rank == rank && span.kind == SpanKind::backward) backward += span.duration();
    add(std::string(metric::kBackward), backward);
  }
  return samples;
}

std::vector<StoredLedger> stored_ledgers(const std::vector<Sample>& samples) {
  std::map<std::tuple<int, int, int>, Parts> found;
  for (const Sample& sample : samples) {
    const std::tuple key{sample.launch, sample.iteration, sample.rank};
    if (sample.metric.starts_with(metric::kLedgerPrefix))
      found[key][sample.metric.substr(metric::kLedgerPrefix.size())] = sample.value;
    else if (sample.metric == metric::kBackward)
      found[key]["backward"] = sample.value;
  }
  std::vector<StoredLedger> ledgers;
  for (auto& [key, parts] : found) {
    if (!parts.contains("compute")) continue;
    const auto [launch, iteration, rank] = key;
    ledgers.push_back({.launch = launch, .rank = rank, .iteration = iteration, .parts = std::move(parts)});
  }
  return ledgers;
}

std::map<std::string, double> typical_ledger(const CaseResult& result) {
  std::map<std::pair<int, int>, Collected> steps;
  for (const StoredLedger& each : stored_ledgers(result.samples))
    collect(steps[{each.launch, each.iteration}], each.parts);
  std::map<int, Collected> launches;
  for (const auto& [key, ranks] : steps) collect(launches[key.first], joined(ranks, mean));
  Collected all;
  for (const auto& [launch, of_steps] : launches) collect(all, joined(of_steps, median));
  Parts typical = joined(all, median);
  typical.erase("backward");
  return typical;
}

std::map<std::string, double> beside_baseline(std::map<std::string, double> ledger, const CaseResult& baseline) {
  if (ledger.empty()) return ledger;
  const Parts alone = typical_ledger(baseline);
  const auto passes = alone.find("compute");
  if (passes == alone.end()) return ledger;
  const Ledger split = beside({.compute = Seconds(ledger["compute"])}, Seconds(passes->second));
  ledger["compute"] = split.compute.value;
  ledger["slowdown"] = split.slowdown.value;
  return ledger;
}

}  // namespace hbench

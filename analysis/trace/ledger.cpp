#include "analysis/trace/ledger.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "analysis/statistics/statistics.hpp"

namespace hbench {
namespace {

struct Stretch {
  double begin = 0, end = 0;
};

Stretch stretch_of(const Span& span) { return {span.begin.value, span.end.value}; }

/// How long at least one of `parts` covers `whole`.
double covered(std::vector<Stretch> parts, const Stretch& whole) {
  std::ranges::sort(parts, {}, &Stretch::begin);
  double total = 0, reached = whole.begin;
  for (const Stretch& part : parts) {
    const double begin = std::max(part.begin, reached), end = std::min(part.end, whole.end);
    if (end <= begin) continue;
    total += end - begin;
    reached = end;
  }
  return total;
}

/// The spans of one rank.
class RankSpans {
 public:
  RankSpans(std::span<const Span> spans, Rank rank) {
    for (const Span& span : spans)
      if (span.rank == rank) own_.push_back(span);
  }

  std::vector<Stretch> of(SpanKind kind) const {
    std::vector<Stretch> found;
    for (const Span& span : own_)
      if (span.kind == kind) found.push_back(stretch_of(span));
    return found;
  }
  /// What the compute stream did, in order: as many stretches on all ranks, which have the same plan.
  std::vector<Stretch> computed() const {
    std::vector<Stretch> all;
    for (const SpanKind kind : {SpanKind::forward, SpanKind::backward, SpanKind::optimizer})
      std::ranges::copy(of(kind), std::back_inserter(all));
    std::ranges::sort(all, {}, &Stretch::begin);
    return all;
  }
  /// Forward passes that begin the step or come after an update: a pass may be cut into units of the model.
  int iterations() const {
    const std::vector<Stretch> updates = of(SpanKind::optimizer);
    std::set<std::ptrdiff_t> updates_before;
    for (const Stretch& pass : of(SpanKind::forward))
      updates_before.insert(
          std::ranges::count_if(updates, [&](const Stretch& update) { return update.begin < pass.begin; }));
    return static_cast<int>(updates_before.size());
  }
  double total(SpanKind kind) const {
    double sum = 0;
    for (const Stretch& each : of(kind)) sum += each.end - each.begin;
    return sum;
  }

 private:
  std::vector<Span> own_;
};

/// Returns when the slowest of `ranks` has done what `own` had done when it began to wait.
double slowest_end(const std::map<Rank, RankSpans>& ranks, const RankSpans& own, const Stretch& wait) {
  constexpr double kRounding = 1e-9;
  const std::vector<Stretch> done = own.computed();
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(done, [&](const Stretch& each) { return each.end <= wait.begin + kRounding; }));
  double slowest = wait.begin;
  for (const auto& [rank, spans] : ranks)
    if (const std::vector<Stretch> all = spans.computed(); count > 0 && all.size() >= count)
      slowest = std::max(slowest, all[count - 1].end);
  return slowest;
}

/// Adds a time in which a rank waits for collectives, of which the slowest rank computes until `slowest`.
void add_wait(Ledger& ledger, const RankSpans& spans, const Stretch& wait, double slowest) {
  const double computed = std::clamp(slowest, wait.begin, wait.end);
  const Stretch rest{computed, wait.end};
  const std::vector<Stretch> coding = spans.of(SpanKind::coding);
  std::vector<Stretch> busy = spans.of(SpanKind::communication);
  busy.insert(busy.end(), coding.begin(), coding.end());
  const double coded = covered(coding, rest), busied = covered(busy, rest);
  ledger.straggler += Seconds(computed - wait.begin);
  ledger.coding += Seconds(coded);
  ledger.exposed += Seconds(std::max(0.0, busied - coded));
  ledger.negotiation += Seconds(std::max(0.0, rest.end - rest.begin - busied));
}

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

Seconds Ledger::step() const {
  Seconds sum;
  for (const LedgerPart& each : kLedgerParts) sum += this->*each.part;
  return sum;
}

std::vector<RankLedger> step_ledgers(std::span<const Span> spans) {
  std::map<Rank, RankSpans> ranks;
  for (const Span& span : spans)
    if (span.kind == SpanKind::step) ranks.try_emplace(span.rank, spans, span.rank);
  std::vector<RankLedger> ledgers;
  for (const auto& [rank, own] : ranks) {
    const Stretch step = own.of(SpanKind::step).front();
    Ledger ledger;
    ledger.compute = Seconds(own.total(SpanKind::forward) + own.total(SpanKind::backward));
    ledger.input = Seconds(own.total(SpanKind::input));
    ledger.optimizer = Seconds(own.total(SpanKind::optimizer));
    for (const Stretch& wait : own.of(SpanKind::wait)) add_wait(ledger, own, wait, slowest_end(ranks, own, wait));
    ledger.unexplained = Seconds(std::max(0.0, step.end - step.begin - ledger.step().value));
    const int iterations = own.iterations();
    for (const LedgerPart& part : kLedgerParts)
      if (iterations > 1) ledger.*part.part = ledger.*part.part / iterations;
    ledgers.push_back({rank, ledger});
  }
  return ledgers;
}

Ledger beside(Ledger ledger, Seconds alone) {
  const Seconds passes = ledger.compute + ledger.slowdown;
  ledger.compute = std::min(passes, alone);
  ledger.slowdown = passes - ledger.compute;
  return ledger;
}

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
      if (each.part != &Ledger::slowdown && (each.part != &Ledger::input || ledger.input > Seconds(0)))
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

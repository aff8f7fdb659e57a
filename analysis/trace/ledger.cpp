#include "analysis/trace/ledger.hpp"

#include <algorithm>
#include <optional>
#include <set>

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
  std::optional<Stretch> only(SpanKind kind) const {
    const std::vector<Stretch> found = of(kind);
    return found.empty() ? std::nullopt : std::optional(found.front());
  }
  double total(SpanKind kind) const {
    double sum = 0;
    for (const Stretch& each : of(kind)) sum += each.end - each.begin;
    return sum;
  }

 private:
  std::vector<Span> own_;
};

/// Cuts the time in which a rank waits for sums, of which the slowest rank computes until `slowest`.
void cut_wait(Ledger& ledger, const RankSpans& spans, const Stretch& wait, double slowest) {
  const double computed = std::clamp(slowest, wait.begin, wait.end);
  const Stretch rest{computed, wait.end};
  const std::vector<Stretch> coding = spans.of(SpanKind::coding);
  std::vector<Stretch> busy = spans.of(SpanKind::communication);
  busy.insert(busy.end(), coding.begin(), coding.end());
  const double coded = covered(coding, rest), busied = covered(busy, rest);
  ledger.straggler = Seconds(computed - wait.begin);
  ledger.coding = Seconds(coded);
  ledger.exposed = Seconds(std::max(0.0, busied - coded));
  ledger.negotiation = Seconds(std::max(0.0, rest.end - rest.begin - busied));
}

}  // namespace

Seconds Ledger::step() const {
  Seconds sum;
  for (const LedgerPart& each : kLedgerParts) sum += this->*each.part;
  return sum;
}

std::vector<RankLedger> step_ledgers(std::span<const Span> spans) {
  std::set<Rank> ranks;
  double slowest = 0;
  for (const Span& span : spans) {
    if (span.kind == SpanKind::step) ranks.insert(span.rank);
    if (span.kind == SpanKind::backward) slowest = std::max(slowest, span.end.value);
  }
  std::vector<RankLedger> ledgers;
  for (const Rank rank : ranks) {
    const RankSpans own(spans, rank);
    const Stretch step = *own.only(SpanKind::step);
    Ledger ledger;
    ledger.compute = Seconds(own.total(SpanKind::forward) + own.total(SpanKind::backward));
    ledger.optimizer = Seconds(own.total(SpanKind::optimizer));
    if (const auto wait = own.only(SpanKind::wait)) cut_wait(ledger, own, *wait, slowest);
    ledger.unexplained = Seconds(std::max(0.0, step.end - step.begin - ledger.step().value));
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

}  // namespace hbench

#include "reports/trace/traced.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/records/machine_facts.hpp"
#include "analysis/trace/summary.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// Of a terminal; more are of no use side by side.
constexpr std::size_t kRanksShown = 16;

struct Column {
  const char* title;
  Seconds Ledger::*part;
  int priority;  ///< `Table::priority`
};
constexpr std::array kColumns{Column{"compute", &Ledger::compute, 0},  Column{"input", &Ledger::input, 0},
                              Column{"slowed", &Ledger::slowdown, 1},  Column{"straggler", &Ledger::straggler, 0},
                              Column{"exposed", &Ledger::exposed, 0},  Column{"negotiation", &Ledger::negotiation, 0},
                              Column{"coding", &Ledger::coding, 0},    Column{"optimizer", &Ledger::optimizer, 0},
                              Column{"other", &Ledger::unexplained, 2}};

/// Those of a case: where samples are drawn none are read.
std::vector<Column> columns_of(const TraceSummary& summary) {
  std::vector<Column> columns(kColumns.begin(), kColumns.end());
  const bool reads =
      std::ranges::any_of(summary.ranks, [](const RankLedger& each) { return each.ledger.input > Seconds(0); });
  if (!reads) std::erase_if(columns, [](const Column& column) { return column.part == &Ledger::input; });
  return columns;
}

std::string milliseconds(Seconds time) { return fmt::format("{:.1f}", time.value * 1e3); }

/// The first rank stands for all but the slowest of a simulated step; buckets are known of it alone.
bool is_simulated(const TracedCase& traced) { return !traced.asked.is_timed(); }

Table rank_table(const TracedCase& traced, const TraceSummary& summary) {
  Table table{.caption = "Milliseconds of a step, the medians over steps",
              .columns = {numbers("rank"), numbers("step")},
              .first_rows = kRanksShown};
  const std::vector<Column> columns = columns_of(summary);
  for (const Column& column : columns) table.columns.push_back(numbers(column.title, column.priority));
  for (const auto& [rank, ledger] : summary.ranks) {
    if (is_simulated(traced) && rank > 0) continue;
    const bool known = traced.alone > Seconds(0);
    const Ledger shown = known ? beside(ledger, traced.alone) : ledger;
    std::vector<std::string> row{is_simulated(traced) ? "any" : std::to_string(rank), milliseconds(shown.step())};
    for (const Column& column : columns)
      row.push_back(column.part == &Ledger::slowdown && !known ? "-" : milliseconds(shown.*column.part));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string late_rank(const TracedCase& traced, const TraceSummary& summary) {
  if (summary.straggler) return with_hosts(summary.straggler->in_words(), traced.host_of_rank) + ".";
  if (is_simulated(traced) || summary.ranks.size() < 2) return "";
  if (summary.steps < kFewestStragglerSteps) {
    const std::size_t steps = kFewestStragglerSteps * static_cast<std::size_t>(traced.period);
    return fmt::format("{} traced {} too few to tell a late rank from chance: sweep with --trace {}{}.", summary.steps,
                       summary.steps == 1 ? "step is" : "steps are", steps,
                       traced.period == 1
                           ? ""
                           : fmt::format(", {} periods of {}", kFewestStragglerSteps, traced.asked.strategy.method));
  }
  return "No rank is late more often than chance has it.";
}

std::string buckets(const TracedCase& traced, const TraceSummary& summary) {
  if (!summary.slowest_bucket) return "";
  const SlowBucket& slowest = *summary.slowest_bucket;
  const double exposed = is_simulated(traced)
                             ? summary.ranks.front().ledger.exposed / summary.ranks.front().ledger.step()
                             : summary.exposed;
  return fmt::format(
      "Exposed communication is {:.1f} % of the step. The slowest of {} bucket{}, number {}, is in flight "
      "for {}; any is for {} of a step.",
      100 * exposed, slowest.buckets, slowest.buckets == 1 ? "" : "s", slowest.bucket + 1, format(slowest.flight),
      format(slowest.communication));
}

Table ledger_table(const TracedCase& traced) {
  Table table{.caption = "Milliseconds of a step, of the mean rank", .columns = {"part", numbers("ms")}};
  for (const LedgerPart& part : kLedgerParts)
    if (const auto known = traced.ledger.find(std::string(part.name)); known != traced.ledger.end())
      table.rows.push_back({std::string(part.words), milliseconds(Seconds(known->second))});
  return table;
}

/// Of a case whose spans are not stored.
void add_ledger(std::vector<Block>& blocks, const TracedCase& traced) {
  blocks.push_back(Heading{2, traced.name});
  blocks.push_back(Paragraph{
      fmt::format("The spans of its steps in run {} are not stored; the parts of a typical step are.", traced.run)});
  blocks.push_back(ledger_table(traced));
}

void add_case(std::vector<Block>& blocks, const TracedCase& traced) {
  if (traced.steps.empty()) return add_ledger(blocks, traced);
  const TraceSummary summary = summarize_trace(traced.steps);
  blocks.push_back(Heading{2, traced.name});
  if (!traced.note.empty()) blocks.push_back(Warnings{{traced.note}});
  const std::string late = late_rank(traced, summary);
  if (!late.empty()) blocks.push_back(Paragraph{late});
  blocks.push_back(Paragraph{
      is_simulated(traced)
          ? fmt::format("One simulated step of {}.", format(summary.step))
          : fmt::format("{} traced step{} of {} launch{} of run {}, after the timed ones; the slowest rank's takes {}.",
                        summary.steps, summary.steps == 1 ? "" : "s", summary.launches,
                        summary.launches == 1 ? "" : "es", traced.run, format(summary.step))});
  blocks.push_back(rank_table(traced, summary));
  if (std::string text = buckets(traced, summary); !text.empty()) blocks.push_back(Paragraph{std::move(text)});
}

}  // namespace

Document trace_document(const std::vector<TracedCase>& cases) {
  Document document{.title = "Where the time of steps goes"};
  for (const TracedCase& each : cases) add_case(document.blocks, each);
  return document;
}

}  // namespace hbench

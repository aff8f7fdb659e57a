#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collectives/base/text.hpp"
#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

std::string apart(double difference) { return fmt::format("{:+.1f} %", 100 * difference); }

using Pairs = std::vector<const EmulatedPair*>;

/// The largest difference first.
Pairs sorted(const std::vector<EmulatedPair>& all) {
  Pairs pairs;
  for (const EmulatedPair& pair : all) pairs.push_back(&pair);
  std::ranges::stable_sort(pairs, std::ranges::greater{},
                           [](const EmulatedPair* pair) { return std::fabs(pair->difference); });
  return pairs;
}

/// What case a row is of.
std::vector<std::string> cells_of(const Scaling& scaling, const Case& asked) {
  return {scaling.words.workload(asked), scaling.words.network(asked), std::to_string(asked.gpus),
          scaling.words.strategy(asked)};
}

std::string efficiency_of(const std::optional<Point>& point) { return point ? percent_cell(point->efficiency) : ""; }

Table efficiencies(const Scaling& scaling, const Pairs& pairs) {
  Table table{
      .caption = "Efficiency, simulated against emulated, the largest difference of throughputs first",
      .columns = {"workload", "network", numbers("GPUs"), "strategy", numbers("published"), numbers("measured here"),
                  numbers("emulated"), numbers("95 % interval"), numbers("simulated"), numbers("apart")}};
  for (const EmulatedPair* pair : pairs) {
    std::vector<std::string> row = cells_of(scaling, pair->emulated.asked);
    row.insert(row.end(),
               {efficiency_of(pair->published), efficiency_of(pair->measured), percent_cell(pair->emulated.efficiency),
                interval_cell(pair->emulated), percent_cell(pair->simulated.efficiency), apart(pair->difference)});
    table.rows.push_back(std::move(row));
  }
  for (const char* column : {"published", "measured here"}) erase_if_empty(table, column);
  return table;
}

Table how(const Scaling& scaling, const Pairs& pairs) {
  Table table{.caption = "How each was emulated",
              .columns = {"workload", "network", numbers("GPUs"), "strategy", "how"},
              .folded = true};
  for (const EmulatedPair* pair : pairs) {
    table.rows.push_back(cells_of(scaling, pair->emulated.asked));
    table.rows.back().push_back(pair->emulated.emulation);
  }
  return table;
}

}  // namespace

Blocks emulated_comparison(const Scaling& scaling) {
  constexpr std::size_t kUnfolded = 12;
  if (scaling.input.emulations.empty()) return {};
  const ComparisonSummary error = summarize_emulated(scaling.input.emulations);
  const Pairs pairs = sorted(scaling.input.emulations);
  Table compared = efficiencies(scaling, pairs);
  compared.folded = compared.rows.size() > kUnfolded;
  return {
      Heading{1, "How far from what was emulated"},
      Paragraph{fmt::format(
          "Real processes replay a GPU's timeline and exchange real gradients over links that are slowed to the "
          "network's, in stretched time. {} with a simulation of the same: throughputs are {:.1f} % apart on average "
          "and {:.1f} % at most.",
          counted(static_cast<std::int64_t>(error.count), "emulated point"), 100 * error.mean, 100 * error.maximum)},
      std::move(compared), how(scaling, pairs)};
}

}  // namespace hbench

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collectives/base/text.hpp"
#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

std::string apart(double difference) { return fmt::format("{:+.1f} %", 100 * difference); }

Table pairs(const Scaling& scaling) {
  std::vector<const EmulatedPair*> sorted;
  for (const EmulatedPair& pair : scaling.input.emulations) sorted.push_back(&pair);
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const EmulatedPair* pair) { return std::fabs(pair->difference); });
  Table table{
      .caption = "Simulated against emulated throughput, the largest difference first",
      .columns = {"workload", "network", "GPUs", "strategy", "published efficiency", "measured here",
                  "emulated efficiency", "95 % interval", "simulated efficiency", "apart", "how it was emulated"},
      .numeric = {false, false, true, false, true, true, true, true, true, true, false}};
  for (const EmulatedPair* pair : sorted) {
    const Case& asked = pair->emulated.asked;
    table.rows.push_back({scaling.words.workload(asked), scaling.words.network(asked.profile),
                          std::to_string(asked.gpus), scaling.words.strategy(asked),
                          pair->published ? percent_cell(pair->published->efficiency) : "",
                          pair->measured ? percent_cell(pair->measured->efficiency) : "",
                          percent_cell(pair->emulated.efficiency), interval_cell(pair->emulated),
                          percent_cell(pair->simulated.efficiency), apart(pair->difference), pair->emulated.emulation});
  }
  for (const char* column : {"published efficiency", "measured here"}) erase_if_empty(table, column);
  return table;
}

}  // namespace

Blocks emulated_comparison(const Scaling& scaling) {
  constexpr std::size_t kUnfolded = 12;
  if (scaling.input.emulations.empty()) return {};
  const ComparisonSummary error = summarize_emulated(scaling.input.emulations);
  Table compared = pairs(scaling);
  compared.folded = compared.rows.size() > kUnfolded;
  return {
      Heading{1, "How far from what was emulated"},
      Paragraph{fmt::format(
          "Real processes replay a GPU's timeline and exchange real gradients over links that are slowed to the "
          "network's, in stretched time. {} with a simulation of the same: throughputs are {:.1f} % apart on average "
          "and {:.1f} % at most.",
          counted(static_cast<std::int64_t>(error.count), "emulated point"), 100 * error.mean, 100 * error.maximum)},
      std::move(compared)};
}

}  // namespace hbench

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collectives/base/text.hpp"
#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

Table pairs(const Scaling& scaling) {
  std::vector<const Prediction*> sorted;
  for (const Prediction& prediction : scaling.input.predictions) sorted.push_back(&prediction);
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const Prediction* pair) { return std::fabs(pair->difference); });
  Table table{.caption = "Simulated against measured efficiency on this machine, the largest difference first",
              .columns = {"workload", numbers("ranks"), "strategy", numbers("measured"), numbers("95 % interval"),
                          numbers("simulated"), numbers("difference")}};
  for (const Prediction* pair : sorted) {
    const Case& asked = pair->measured.asked;
    table.rows.push_back({scaling.words.workload(asked), std::to_string(asked.gpus), scaling.words.strategy(asked),
                          percent_cell(pair->measured.efficiency), interval_cell(pair->measured),
                          percent_cell(pair->simulated.efficiency), signed_points(pair->difference)});
  }
  return table;
}

}  // namespace

std::string predicted_sentence(const Scaling& scaling) {
  const ComparisonSummary error = summarize_predictions(scaling.input.predictions);
  if (error.count == 0) return "";
  return fmt::format(
      " On {} measured on this machine, none of which calibrated anything, the prediction is off by {} percentage "
      "points on average and {} at most.",
      counted(error.count, "point"), unsigned_points(error.mean), unsigned_points(error.maximum));
}

Blocks measured_comparison(const Scaling& scaling) {
  constexpr std::size_t kUnfolded = 12;
  Table compared = pairs(scaling);
  if (compared.rows.empty()) return {};
  compared.folded = compared.rows.size() > kUnfolded;
  return {
      Heading{1, "How far from what was measured here"},
      Paragraph{fmt::format("Nodes like this machine are simulated from a timeline of one rank, its rate alone, and "
                            "all-reduces timed by themselves.{}",
                            predicted_sentence(scaling))},
      std::move(compared)};
}

}  // namespace hbench

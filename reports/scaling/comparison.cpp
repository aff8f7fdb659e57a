#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "collectives/base/text.hpp"
#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

/// Says beside the errors how many figures have no part in them.
std::string summary(const std::vector<Comparison>& comparisons, std::size_t not_compared) {
  const ComparisonSummary error = summarize(comparisons);
  if (error.count == 0) return "No simulated point has a published counterpart.";
  std::string text = fmt::format(
      "{} with a simulated point of the same workload, network, GPUs, batch and strategy: the mean "
      "difference is {} percentage points, the largest {}.",
      counted(error.count, "published figure"), unsigned_points(error.mean), unsigned_points(error.maximum));
  if (not_compared > 0) text += fmt::format(" {} not compared; the last table says why.", not_compared);
  return text;
}

Table error_table(const std::vector<Comparison>& comparisons) {
  Table table{
      .caption = "Difference of simulated from published efficiency, in percentage points",
      .columns = {"strategy", "something chosen with them", numbers("figures"), numbers("mean"), numbers("largest")}};
  for (const bool chosen : {false, true})
    for (const auto& [algorithm, error] : errors_by_algorithm(comparisons, chosen))
      table.rows.push_back({ScalingWords::family(algorithm), chosen ? "yes" : "no", std::to_string(error.count),
                            unsigned_points(error.mean), unsigned_points(error.maximum)});
  return table;
}

Table pairs(const Scaling& scaling) {
  std::vector<const Comparison*> sorted;
  for (const Comparison& comparison : scaling.input.comparisons) sorted.push_back(&comparison);
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [](const Comparison* pair) { return std::fabs(pair->difference); });
  Table table{.caption =
                  "Simulated against published efficiency, the largest difference first (*: of the simulated "
                  "rate of one GPU, as the source states none)",
              .columns = {"workload", "network", numbers("GPUs"), "strategy", numbers("published"),
                          numbers("simulated"), numbers("difference"), "chosen with it", "source"}};
  for (const Comparison* pair : sorted) {
    const Case& asked = pair->published.asked;
    table.rows.push_back({scaling.words.workload(asked), scaling.words.network(asked), std::to_string(asked.gpus),
                          scaling.words.strategy(asked),
                          percent_cell(pair->published.efficiency) + (pair->at_simulated_rate ? " *" : ""),
                          percent_cell(pair->simulated.efficiency), signed_points(pair->difference),
                          pair->chosen.empty() ? "nothing" : pair->chosen, asked.source});
  }
  return table;
}

/// What the simulated points that are most like a published one lack.
std::string why_not_compared(const Scaling& scaling, const Case& published) {
  constexpr std::array<std::string_view, 4> kWhy{"not simulated on this network", "not simulated on as many GPUs",
                                                 "not simulated with its batch", "not simulated with its strategy"};
  std::size_t alike = 0;
  for (const Point& point : scaling.input.points) {
    const Case& asked = point.asked;
    if (!asked.is_predicted() || point.failed || asked.workload != published.workload ||
        asked.profile != published.profile)
      continue;
    alike = std::max<std::size_t>(alike, asked.gpus != published.gpus                     ? 1
                                         : asked.batch_per_gpu != published.batch_per_gpu ? 2
                                                                                          : 3);
  }
  return std::string(kWhy.at(alike));
}

/// Published figures that no simulated point was compared with, and why.
Table unpaired(const Scaling& scaling) {
  std::set<std::string> paired;
  for (const Comparison& comparison : scaling.input.comparisons) paired.insert(comparison.published.asked.key());
  Table table{.caption = "Published figures without a simulated counterpart",
              .columns = {"workload", "network", numbers("GPUs"), "strategy", numbers("samples/s"),
                          numbers("efficiency"), "why", "source"}};
  for (const Point& point : scaling.input.points) {
    const Case& asked = point.asked;
    if (!asked.is_of_others() || point.failed || paired.contains(asked.key())) continue;
    table.rows.push_back({scaling.words.workload(asked), scaling.words.network(asked), std::to_string(asked.gpus),
                          scaling.words.strategy(asked), rate_cell(point.throughput), percent_cell(point.efficiency),
                          why_not_compared(scaling, asked), asked.source});
  }
  return table;
}

}  // namespace

std::vector<AlgorithmError> errors_by_algorithm(const std::vector<Comparison>& all, bool chosen) {
  std::vector<Comparison> comparisons;
  std::ranges::copy_if(all, std::back_inserter(comparisons),
                       [&](const Comparison& pair) { return pair.chosen.empty() != chosen; });
  std::vector<std::string> algorithms;
  for (const Comparison& pair : comparisons)
    if (const std::string& name = pair.published.asked.strategy.algorithm;
        std::ranges::find(algorithms, name) == algorithms.end())
      algorithms.push_back(name);
  std::vector<AlgorithmError> errors;
  for (const std::string& name : algorithms) {
    std::vector<Comparison> same;
    std::ranges::copy_if(comparisons, std::back_inserter(same),
                         [&](const Comparison& pair) { return pair.published.asked.strategy.algorithm == name; });
    errors.push_back({name, summarize(same)});
  }
  std::ranges::stable_sort(errors, std::ranges::greater{},
                           [](const AlgorithmError& entry) { return entry.error.count; });
  return errors;
}

Blocks published_comparison(const Scaling& scaling) {
  constexpr std::size_t kUnfolded = 12;
  Table compared = pairs(scaling), rest = unpaired(scaling);
  if (compared.rows.empty() && rest.rows.empty()) return {};
  Blocks blocks{Heading{1, "How far from what was reported"},
                Paragraph{summary(scaling.input.comparisons, rest.rows.size())}};
  if (Table errors = error_table(scaling.input.comparisons); !errors.rows.empty()) blocks.push_back(std::move(errors));
  for (Table* table : {&compared, &rest}) {
    if (table->rows.empty()) continue;
    table->folded = table->rows.size() > kUnfolded;
    blocks.push_back(std::move(*table));
  }
  return blocks;
}

}  // namespace hbench

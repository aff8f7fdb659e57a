// Simulated figures beside published, timed and emulated ones: how the figures of the verdict are known, and how far
// such figures were off.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "analysis/records/words.hpp"
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

Table published_pairs(const Scaling& scaling) {
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

/// `3.4 percentage points for ring all-reduce (46 figures, largest 16.4), 20.1 for ...`
std::string errors_in_words(const Scaling& scaling, bool chosen) {
  std::string errors;
  for (const auto& [algorithm, error] : errors_by_algorithm(scaling.input.comparisons, chosen)) {
    errors += fmt::format("{}{}{} for {} ({}, largest {})", errors.empty() ? "" : ", ", unsigned_points(error.mean),
                          errors.empty() ? " percentage points" : "", ScalingWords::family(algorithm),
                          counted(error.count, "figure"), unsigned_points(error.maximum));
  }
  return errors;
}

/// What chose nothing in the model comes first: only that is a test of it.
std::string how_simulated(const Scaling& scaling) {
  const std::string unused = errors_in_words(scaling, false), used = errors_in_words(scaling, true);
  if (unused.empty() && used.empty()) return "Simulated; no published figure was found to compare it with.";
  if (unused.empty())
    return fmt::format(
        "Simulated; something of the model was chosen with all published figures of these workloads (hbench validate "
        "has others): its mean error on them is {}.",
        used);
  const std::string rest = used.empty() ? "" : fmt::format("; on those with which something was chosen, {}", used);
  return fmt::format("Simulated; the mean error against published figures of these workloads is {}{}.", unused, rest);
}

/// The frameworks of the figures of the verdict.
std::string whose_steps(const Headline& headline) {
  std::set<std::string> presets;
  for (const Match& match : headline.contest.matches)
    for (const Point* point : {match.first, match.second})
      if (point != nullptr) presets.insert(point->asked.strategy.preset);
  return presets_in_words(presets);
}

std::string why_this_workload(const Scaling& scaling) {
  const Subject shown = subject_of(scaling.headline->best().asked);
  const auto& points = scaling.input.points;
  const bool one = std::ranges::all_of(
      points, [&](const Point& point) { return !point.asked.is_predicted() || subject_of(point.asked) == shown; });
  return one ? ""
             : fmt::format(" {} comes first because networks change it most.",
                           scaling.words.workload(scaling.headline->best().asked));
}

std::string how_timed(const Point& point, const ScalingWords& words) {
  return fmt::format("{} on {}: {}, {}.", capitalized(to_string(point.asked.evidence)), words.network(point.asked),
                     counted(point.launches, "launch"), counted(point.iterations, "iteration"));
}

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

std::string efficiency_cell(const std::optional<Point>& point) { return point ? percent_cell(point->efficiency) : ""; }

Table efficiencies(const Scaling& scaling, const Pairs& pairs) {
  Table table{
      .caption = "Efficiency, simulated against emulated, the largest difference of throughputs first",
      .columns = {"workload", "network", numbers("GPUs"), "strategy", numbers("published"), numbers("measured here"),
                  numbers("emulated"), numbers("95 % interval"), numbers("simulated"), numbers("apart")}};
  for (const EmulatedPair* pair : pairs) {
    std::vector<std::string> row = cells_of(scaling, pair->emulated.asked);
    row.insert(row.end(), {efficiency_cell(pair->published), efficiency_cell(pair->measured),
                           percent_cell(pair->emulated.efficiency), interval_cell(pair->emulated),
                           percent_cell(pair->simulated.efficiency), apart(pair->difference)});
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

Table timed_pairs(const Scaling& scaling) {
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
  Table compared = published_pairs(scaling), rest = unpaired(scaling);
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

std::string how_it_is_known(const Scaling& scaling) {
  if (!scaling.headline || scaling.headline->gpus() == 1) return "";
  const Point& best = scaling.headline->best();
  if (best.asked.is_of_others()) return "As published elsewhere; nothing was simulated or measured.";
  if (best.asked.is_timed()) return how_timed(best, scaling.words);
  return how_simulated(scaling) + predicted_sentence(scaling) + whose_steps(*scaling.headline) +
         why_this_workload(scaling);
}

Blocks emulated_comparison(const Scaling& scaling) {
  constexpr std::size_t kUnfolded = 12;
  if (scaling.input.emulations.empty()) return {};
  const ComparisonSummary error = summarize(scaling.input.emulations);
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

std::string predicted_sentence(const Scaling& scaling) {
  const ComparisonSummary error = summarize(scaling.input.predictions);
  if (error.count == 0) return "";
  return fmt::format(
      " On {} measured on this machine, none of which calibrated anything, the prediction is off by {} percentage "
      "points on average and {} at most.",
      counted(error.count, "point"), unsigned_points(error.mean), unsigned_points(error.maximum));
}

Blocks measured_comparison(const Scaling& scaling) {
  constexpr std::size_t kUnfolded = 12;
  Table compared = timed_pairs(scaling);
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

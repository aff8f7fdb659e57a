#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/scaling.hpp"

namespace hbench {
namespace {

bool on_this_machine(const Case& asked) { return asked.profile == "local"; }

std::string gpus_in_words(const Case& asked) {
  return counted(static_cast<std::size_t>(asked.gpus), on_this_machine(asked) ? "rank" : "GPU");
}

/// `78 %`, and for what was timed its interval: `78 % (74 to 81)`.
std::string efficiency_in_words(const Point& point) {
  std::string text = whole_percent(*point.efficiency);
  const bool timed = point.asked.evidence == Evidence::measured || point.asked.evidence == Evidence::emulated;
  if (timed && point.efficiency_low && point.efficiency_high)
    text += fmt::format(" ({:.0f} to {:.0f})", *point.efficiency_low * 100, *point.efficiency_high * 100);
  return text;
}

bool reads_the_same(const Point& a, const Point& b) {
  return whole_percent(*a.efficiency) == whole_percent(*b.efficiency);
}

std::string headline_sentence(const Headline& headline, const ScalingWords& words) {
  const Case& best = headline.best->asked;
  std::string text = fmt::format("At {} {} keeps {} of ideal speed with {} on {}", gpus_in_words(best),
                                 words.workload(best), efficiency_in_words(*headline.best),
                                 ScalingWords::in_a_sentence(best.strategy), words.network_in_a_sentence(best.profile));
  const bool two_networks = headline.elsewhere && !reads_the_same(*headline.best, *headline.elsewhere);
  if (two_networks)
    text += fmt::format(", but {} on {}", efficiency_in_words(*headline.elsewhere),
                        words.network_in_a_sentence(headline.elsewhere->asked.profile));
  if (headline.worst)
    text += fmt::format("; with {}, {}{}", ScalingWords::in_a_sentence(headline.worst->asked.strategy),
                        efficiency_in_words(*headline.worst), headline.elsewhere ? " there" : "");
  return text + ".";
}

/// Points without an efficiency still have a speed.
std::string fastest_sentence(const Scaling& scaling) {
  const auto speed = [](const Point& point) { return point.failed ? 0 : point.throughput; };
  const auto& points = scaling.input.points;
  const auto fastest = std::ranges::max_element(points, {}, speed);
  if (fastest == points.end()) return "There are no results yet.";
  if (!(speed(*fastest) > 0)) return "No point of this sweep has a figure.";
  const Case& asked = fastest->asked;
  return fmt::format(
      "No point has a baseline, so no efficiency is known; the fastest is {} with {} on {}, {}: {} samples/s.",
      scaling.words.workload(asked), ScalingWords::in_a_sentence(asked.strategy),
      scaling.words.network_in_a_sentence(asked.profile), gpus_in_words(asked), rate_cell(fastest->throughput));
}

std::size_t failures_of(const Scaling& scaling) {
  return static_cast<std::size_t>(std::ranges::count_if(scaling.input.points, &Point::failed));
}

std::string answer(const Scaling& scaling) {
  const std::size_t all = scaling.input.points.size();
  if (all > 0 && failures_of(scaling) == all)
    return all == 1 ? "The only case failed: there is nothing to show."
                    : fmt::format("All {} cases failed: there is nothing to show.", all);
  if (!scaling.headline) return fastest_sentence(scaling);
  if (scaling.headline->gpus() == 1)
    return fmt::format(
        "With {} nothing is exchanged, so there is nothing to scale yet; ask for more, such as --gpus 1..8.",
        gpus_in_words(scaling.headline->best->asked));
  return headline_sentence(*scaling.headline, scaling.words);
}

std::string failures_sentence(const Scaling& scaling) {
  const std::size_t failed = failures_of(scaling), all = scaling.input.points.size();
  if (failed == 0 || failed == all) return "";
  return fmt::format(" {} of {} cases failed; the reasons are below.", failed, all);
}

/// `3.4 percentage points for ring all-reduce (46 figures, largest 16.4), 20.1 for ...`
std::string errors_in_words(const Scaling& scaling, bool calibrated) {
  std::string errors;
  for (const auto& [algorithm, error] : errors_by_algorithm(scaling.input.comparisons, calibrated)) {
    errors += fmt::format("{}{}{} for {} ({}, largest {})", errors.empty() ? "" : ", ", unsigned_points(error.mean),
                          errors.empty() ? " percentage points" : "", ScalingWords::family(algorithm),
                          counted(error.count, "figure"), unsigned_points(error.maximum));
  }
  return errors;
}

/// What the model has never used comes first: only that is a test of it.
std::string how_simulated(const Scaling& scaling) {
  const std::string unused = errors_in_words(scaling, false), used = errors_in_words(scaling, true);
  if (unused.empty() && used.empty()) return "Simulated; no published figure was found to compare it with.";
  if (unused.empty())
    return fmt::format(
        "Simulated; the model was calibrated with all published figures of these workloads: its mean "
        "error on them is {}.",
        used);
  const std::string rest = used.empty() ? "" : fmt::format("; on those that it was calibrated with, {}", used);
  return fmt::format("Simulated; the mean error against published figures of these workloads is {}{}.", unused, rest);
}

std::string how_timed(const Point& point, const ScalingWords& words) {
  return fmt::format("{} on {}: {}, {}.", point.asked.evidence == Evidence::measured ? "Measured" : "Emulated",
                     words.network_in_a_sentence(point.asked.profile), counted(point.launches, "launch"),
                     counted(point.iterations, "iteration"));
}

std::string how_it_is_known(const Scaling& scaling) {
  if (!scaling.headline || scaling.headline->gpus() == 1) return "";
  switch (scaling.headline->evidence()) {
    case Evidence::simulated:
      return how_simulated(scaling) + predicted_sentence(scaling);
    case Evidence::published:
      return "As published elsewhere; nothing was simulated or measured.";
    case Evidence::measured:
    case Evidence::emulated:
      return how_timed(*scaling.headline->best, scaling.words);
  }
  return "";
}

}  // namespace

Blocks scaling_verdict(const Scaling& scaling) {
  Blocks blocks{Verdict{answer(scaling) + failures_sentence(scaling) + throttled_sentence(scaling)}};
  if (const std::string how = how_it_is_known(scaling); !how.empty()) blocks.push_back(Paragraph{how});
  return blocks;
}

Blocks failed_cases(const Scaling& scaling) {
  constexpr std::size_t kUnfolded = 10;
  Table table{.caption = "Failed cases",
              .columns = {"workload", "evidence", "network", "GPUs", "strategy", "reason"},
              .numeric = {false, false, false, true, false, false}};
  for (const Point& point : scaling.input.points) {
    if (!point.failed) continue;
    const Case& asked = point.asked;
    table.rows.push_back({scaling.words.workload(asked), std::string(to_string(asked.evidence)),
                          scaling.words.network(asked.profile), std::to_string(asked.gpus),
                          scaling.words.strategy(asked), point.failure.empty() ? "no reason given" : point.failure});
  }
  if (table.rows.empty()) return {};
  table.folded = table.rows.size() > kUnfolded;
  return {table};
}

}  // namespace hbench

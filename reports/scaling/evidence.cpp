#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/text.hpp"
#include "reports/scaling/scaling.hpp"

/// How the figures of the verdict are known, and how far such figures were off.

namespace hbench {
namespace {

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

std::string why_this_workload(const Scaling& scaling) {
  const Subject shown = subject_of(scaling.headline->best().asked);
  const auto& points = scaling.input.points;
  const bool one = std::ranges::all_of(points, [&](const Point& point) {
    return point.asked.evidence != Evidence::simulated || subject_of(point.asked) == shown;
  });
  return one ? ""
             : fmt::format(" {} comes first because networks change it most.",
                           scaling.words.workload(scaling.headline->best().asked));
}

std::string how_timed(const Point& point, const ScalingWords& words) {
  return fmt::format("{} on {}: {}, {}.", point.asked.evidence == Evidence::measured ? "Measured" : "Emulated",
                     words.network(point.asked), counted(point.launches, "launch"),
                     counted(point.iterations, "iteration"));
}

}  // namespace

std::string how_it_is_known(const Scaling& scaling) {
  if (!scaling.headline || scaling.headline->gpus() == 1) return "";
  switch (scaling.headline->evidence()) {
    case Evidence::simulated:
      return how_simulated(scaling) + predicted_sentence(scaling) + why_this_workload(scaling);
    case Evidence::published:
      return "As published elsewhere; nothing was simulated or measured.";
    case Evidence::measured:
    case Evidence::emulated:
      return how_timed(scaling.headline->best(), scaling.words);
  }
  return "";
}

}  // namespace hbench

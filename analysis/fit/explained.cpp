#include "analysis/fit/explained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// A figure that is further off than this, in deviations of its prior, is of another cluster, or the measurements are
/// in another unit.
constexpr double kMostDeviations = 4;
constexpr const char* kCure = "check their unit, and that they were measured on this cluster; nothing is written";

}  // namespace

double mean_size(const std::vector<double>& errors) {
  double sum = 0;
  for (const double error : errors) sum += std::fabs(error);
  return sum / static_cast<double>(errors.size());
}

double most_factor(const Profile& profile, std::string_view key) {
  const auto figure = std::ranges::find(profile.figures, key, &Figure::key);
  const double assumed = figure == profile.figures.end() ? 1 : figure->assumed;
  if (key == "network.line_rate") return std::log(assumed);
  const double links = profile.gpu_link_rate.value;
  if (key != "local.rate" || links <= 0) return HUGE_VAL;
  return std::max(std::log(assumed), std::log(links / profile.local_rate.value));
}

std::string how_determined(const FittedParameter& parameter, std::string_view by) {
  if (parameter.limited) return "limited to what is possible";
  return fmt::format("{}determined by {}", parameter.determined ? "" : "roughly ", by);
}

std::string determined_text(const FittedParameter& parameter) {
  if (parameter.limited) return "at its limit";
  if (parameter.determined) return "yes";
  return parameter.log_factor == 0 ? "hardly" : "roughly";
}

void check_explained(const ParameterFit& fit, double most, std::string_view profile, std::string_view what) {
  for (std::size_t i = 0; i < fit.priors.size(); ++i)
    if (const double factor = fit.parameters[i].log_factor;
        std::fabs(factor) > kMostDeviations * fit.priors[i].deviation)
      throw Error(ExitCode::usage,
                  fmt::format("only a {} of {:.3g} times that of {} would explain these {}", fit.priors[i].name,
                              std::exp(factor), profile, what),
                  kCure);
  const double after = mean_size(fit.after);
  if (after <= most) return;
  throw Error(
      ExitCode::usage,
      fmt::format("{} cannot explain these {}: they are off by a factor of {:.3g} on average after the fit, {:.3g} "
                  "before",
                  profile, what, std::exp(after), std::exp(mean_size(fit.before))),
      "check their unit, and that they were measured on this cluster; nothing is written");
}

}  // namespace hbench

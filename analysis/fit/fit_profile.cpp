#include "analysis/fit/fit_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/fit/explained.hpp"
#include "analysis/fit/profile_text.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// Beyond what the model explains, published steps of one configuration differ by about this much.
constexpr double kNoise = 0.05;
/// A figure of a data sheet, of another machine, or of nothing in particular may be off by a factor of 2.
const double kUnknown = std::log(2);
/// What a transport reaches of a line whose rate is known.
constexpr double kLine = 0.3;
constexpr double kLeastUncertainty = 0.02, kMostUncertainty = 0.9;
/// Steps that are half as long again on average are of another cluster, or in another unit.
constexpr double kMostError = 0.4;
constexpr std::size_t kFewestRows = 3;

/// A figure of a profile that can be fitted.
struct FittedFigure {
  std::string_view key;
  double deviation;                ///< of its prior
  bool is_rate;                    ///< counts for the profile's uncertainty
  std::string_view determined_by;  ///< which steps would determine it
  bool (*applies)(const Profile& profile, const std::vector<CaseResult>& rows);
  void (*scale)(Profile& profile, double factor);
  std::string (*text)(const Profile& profile);
  /// By which factor the profile says that the rate may be off, and the key of it; null where it has none.
  double Profile::*factor = nullptr;
  std::string_view factor_key = {};
};

bool uses_servers(const std::vector<CaseResult>& rows) {
  return std::ranges::any_of(rows, [](const CaseResult& row) { return row.asked.strategy.uses_servers(); });
}

std::string rate_text(BytesPerSecond rate) { return fmt::format("{:.6g} MB/s", rate.value / 1e6); }
std::string share_text(double share) { return fmt::format("{:.4g}", share); }

const std::array kFigures{
    FittedFigure{"local.rate", kUnknown, true, "a large model on the GPUs of one node, without overlap",
                 [](const Profile& p, const auto&) { return p.gpus_per_node > 1; },
                 [](Profile& p, double factor) { p.local_rate = p.local_rate * factor; },
                 [](const Profile& p) { return rate_text(p.local_rate); }},
    FittedFigure{"network.stream_cap", kUnknown, true, "a large model on several nodes",
                 [](const Profile& p, const auto&) { return p.path_rate() < p.node_rate(); },
                 [](Profile& p, double factor) { p.stream_cap = p.stream_cap * factor; },
                 [](const Profile& p) { return rate_text(p.stream_cap); }, &Profile::stream_factor,
                 "network.stream_factor"},
    FittedFigure{"network.line_rate", kLine, true, "a large model on several nodes",
                 [](const Profile&, const auto&) { return true; },
                 [](Profile& p, double factor) { p.line_rate = p.line_rate * factor; },
                 [](const Profile& p) { return fmt::format("{:.6g} Mbit/s", p.line_rate.value * 8 / 1e6); }},
    FittedFigure{"network.latency", kUnknown, false, "unfused gradients on many nodes",
                 [](const Profile&, const auto&) { return true; },
                 [](Profile& p, double factor) { p.network_latency = p.network_latency * factor; },
                 [](const Profile& p) { return fmt::format("{:.6g} us", p.network_latency.value * 1e6); }},
    FittedFigure{"parameter_server.rate", kUnknown, true, "parameter servers on several nodes",
                 [](const Profile& p, const auto& rows) { return p.server_rate.value > 0 && uses_servers(rows); },
                 [](Profile& p, double factor) { p.server_rate = p.server_rate * factor; },
                 [](const Profile& p) { return rate_text(p.server_rate); }, &Profile::server_factor,
                 "parameter_server.factor"},
    FittedFigure{"compute.straggler", kUnknown, false, "a small model on one GPU and on many",
                 [](const Profile& p, const auto&) { return p.straggler > 0; },
                 [](Profile& p, double factor) { p.straggler = std::min(1.0, p.straggler * factor); },
                 [](const Profile& p) { return share_text(p.straggler); }},
    FittedFigure{"compute.overlap_slowdown", kUnknown, false, "one model with and without overlap",
                 [](const Profile& p, const auto&) { return p.overlap_slowdown > 0; },
                 [](Profile& p, double factor) { p.overlap_slowdown = std::min(10.0, p.overlap_slowdown * factor); },
                 [](const Profile& p) { return share_text(p.overlap_slowdown); }},
};

std::vector<const FittedFigure*> figures_for(const Profile& base, const std::vector<CaseResult>& rows) {
  std::vector<const FittedFigure*> figures;
  for (const FittedFigure& figure : kFigures)
    if (figure.applies(base, rows)) figures.push_back(&figure);
  return figures;
}

const FittedFigure& figure_of(const Prior& prior) {
  return *std::ranges::find(kFigures, prior.name, [](const FittedFigure& figure) { return figure.key; });
}

/// A rate that the steps determine is known within less than the factor that the profile had for it.
void write_factor(FittedProfile& fitted, const FittedFigure& figure, const FittedParameter& parameter) {
  if (figure.factor == nullptr || fitted.profile.*figure.factor == 1 || !parameter.determined) return;
  const double factor = fitted.profile.*figure.factor = parameter.factor();
  set_figure(fitted.profile, figure.factor_key, fmt::format("{:.3g}", factor),
             fmt::format("90 % range of the rate that {} measured steps determine", fitted.rows.size()));
}

/// The figures as text with their source: what the file of the profile will say.
void write_figures(FittedProfile& fitted) {
  double half_width = 0;
  bool all = true;
  for (std::size_t i = 0; i < fitted.fit.priors.size(); ++i) {
    const FittedFigure& figure = figure_of(fitted.fit.priors[i]);
    const FittedParameter& parameter = fitted.fit.parameters[i];
    write_factor(fitted, figure, parameter);
    if (figure.is_rate) {
      all = all && parameter.determined;
      if (parameter.determined) half_width = std::max(half_width, parameter.half_width());
    }
    if (!parameter.determined && parameter.log_factor == 0) continue;
    set_figure(fitted.profile, figure.key, figure.text(fitted.profile),
               fmt::format("fitted to {} measured steps, {} before; {}", fitted.rows.size(), figure.text(fitted.base),
                           how_determined(parameter, "them")));
    if (parameter.determined) std::ranges::find(fitted.profile.figures, figure.key, &Figure::key)->assumed = 1;
  }
  fitted.profile.title = fmt::format("{}, fitted to {} steps", fitted.base.title, fitted.rows.size());
  // One uncertainty counts for all rates: what is learnt of some does not make the others better known.
  const double fitted_range = std::clamp(half_width, kLeastUncertainty, kMostUncertainty);
  if (!all && fitted_range <= fitted.base.uncertainty) return;
  fitted.profile.uncertainty = fitted_range;
  set_figure(fitted.profile, "prediction.uncertainty", fmt::format("{:.3g}", fitted.profile.uncertainty),
             fmt::format("90 % range of the least certain rate that {} measured steps determine", fitted.rows.size()));
}

}  // namespace

std::string figure_text(const Profile& profile, const Prior& prior) { return figure_of(prior).text(profile); }

std::string_view determined_by(const Prior& prior) { return figure_of(prior).determined_by; }

FittedProfile fit_profile(const Profile& base, std::vector<CaseResult> rows, const Data& data,
                          const SimulationMeans& means) {
  if (rows.size() < kFewestRows)
    throw Error(ExitCode::usage, fmt::format("{} of {} are too few to fit a profile to", rows.size(), base.name),
                fmt::format("give at least {}: several models, GPU counts and strategies", kFewestRows));
  FittedProfile fitted{.base = base, .profile = base, .rows = std::move(rows), .fit = {}};
  Catalog catalog = catalog_of(fitted.rows, data, {.profiles = {{base.name, base}}, .traces = {}});
  std::vector<Prior> priors;
  for (const FittedFigure* figure : figures_for(base, fitted.rows))
    priors.push_back({std::string(figure->key), figure->deviation, most_factor(base, figure->key)});
  const auto scaled = [&](std::span<const double> log_factors) {
    Profile profile = base;
    for (std::size_t i = 0; i < priors.size(); ++i) figure_of(priors[i]).scale(profile, std::exp(log_factors[i]));
    return profile;
  };
  int simulations = 0;
  fitted.fit = fit_determined(priors, kNoise, [&](std::span<const double> log_factors) {
    catalog.profiles.at(base.name) = scaled(log_factors);
    std::vector<double> errors;
    for (const Validation& each : validate(fitted.rows, catalog, means))
      errors.push_back(std::log(each.predicted / each.published));
    means.begun(fmt::format("fitting {} to {}: simulated {}", base.name, counted(std::ssize(fitted.rows), "step"),
                            counted(++simulations, "time")));
    return errors;
  });
  check_explained(fitted.fit, kMostError, base.name, "steps");
  std::vector<double> log_factors;
  for (const FittedParameter& parameter : fitted.fit.parameters) log_factors.push_back(parameter.log_factor);
  fitted.profile = scaled(log_factors);
  write_figures(fitted);
  return fitted;
}

}  // namespace hbench

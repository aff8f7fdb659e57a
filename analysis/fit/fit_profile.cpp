#include "analysis/fit/fit_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analysis/fit/fit_curve.hpp"
#include "analysis/fit/profile_text.hpp"
#include "analysis/points/unknowns.hpp"
#include "analysis/prediction/simulate.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// Beyond what the model explains, published steps of one configuration differ by about this much.
constexpr double kNoise = 0.05;
/// What a transport reaches of a line whose rate is known.
constexpr double kLine = 0.3;
constexpr double kLeastUncertainty = 0.02;
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
                 [](const Profile& p, const auto&) { return p.gpus_per_domain() > 1; },
                 [](Profile& p, double factor) { p.scale_full_local(factor); },
                 [](const Profile& p) { return rate_text(p.local_link_rate()); }},
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

Profile moved_by(Profile profile, const std::vector<Prior>& priors, std::span<const double> log_factors) {
  for (std::size_t i = 0; i < priors.size(); ++i) profile = moved(std::move(profile), priors[i], log_factors[i]);
  return profile;
}

/// How far rows are off with figures that are factors of those of a profile.
class RowErrors {
 public:
  RowErrors(const Profile& base, const std::vector<Prior>& priors, Catalog catalog, const SimulationMeans& means)
      : base_(base), priors_(priors), catalog_(std::move(catalog)), means_(means) {}

  Profile scaled(std::span<const double> log_factors) const { return moved_by(base_, priors_, log_factors); }

  /// Logarithms of predicted over measured seconds.
  std::vector<double> operator()(std::span<const double> log_factors, const std::vector<CaseResult>& rows) {
    catalog_.profiles.at(base_.name) = scaled(log_factors);
    std::vector<double> errors = prediction_errors(rows, catalog_, means_);
    means_.begun(fmt::format("fitting {} to {}: simulated {}", base_.name, counted(std::ssize(rows), "step"),
                             counted(++simulations_, "time")));
    return errors;
  }

 private:
  const Profile& base_;
  const std::vector<Prior>& priors_;
  Catalog catalog_;
  const SimulationMeans& means_;
  int simulations_ = 0;
};

/// The errors of rows that the fit does not know, each left out by itself.
std::vector<double> left_out(const FittedProfile& fitted, RowErrors& errors) {
  constexpr std::size_t kFew = 8;
  std::vector<double> all;
  std::vector<std::string> alone;
  for (std::size_t i = 0; i < fitted.rows.size(); ++i) alone.push_back(std::to_string(i));
  if (fitted.rows.size() > kFew) return fitted.fit.left_out(alone);
  for (std::size_t i = 0; i < fitted.rows.size(); ++i) {
    std::vector<CaseResult> others = fitted.rows;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const ParameterFit fit =
        fit_determined(fitted.fit.priors, kNoise, [&](std::span<const double> x) { return errors(x, others); });
    std::vector<double> factors;
    for (const FittedParameter& parameter : fit.parameters) factors.push_back(parameter.log_factor);
    all.push_back(errors(factors, fitted.rows).at(i));
  }
  return all;
}

/// The relative error that nine of ten of the next rows do not exceed (as in `analysis/points/coverage.hpp`).
double range_of_next_row(const FittedProfile& fitted) {
  std::vector<double> sizes;
  for (const double error : fitted.left_out) sizes.push_back(std::fabs(error));
  std::ranges::sort(sizes);
  const auto rank = static_cast<std::size_t>(std::ceil(kBandLevel * static_cast<double>(sizes.size() + 1)));
  return std::expm1(sizes[std::min(rank, sizes.size()) - 1]);
}

/// What one full node was seen to make, and one GPU of it, beside its [rates].
void write_nodes(FittedProfile& fitted) {
  for (const CaseResult& row : fitted.rows) {
    const double throughput = value_of(row, "throughput").value_or(0);
    const double alone = value_of(row, "baseline_throughput").value_or(0);
    const bool full = row.asked.gpus == fitted.base.gpus_per_node && row.asked.gpus > 1;
    GpuRate& rate = fitted.profile.rates[row.asked.workload];
    if (!full || throughput == 0 || alone == 0 || row.asked.strategy.uses_servers() || rate.node > 0) continue;
    rate = {.samples_per_second = alone,
            .batch = row.asked.batch_per_gpu,
            .source = "measured on one GPU and on one full node, in the table that was fitted",
            .node = throughput};
  }
  std::erase_if(fitted.profile.rates, [](const auto& each) { return each.second.samples_per_second == 0; });
}

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
  const double factor = fitted.profile.*figure.factor = std::min(
                            fitted.base.*figure.factor, std::max(parameter.factor(), 1 + range_of_next_row(fitted)));
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
  const double next = std::min(fitted.base.uncertainty, range_of_next_row(fitted));
  const double fitted_range = std::clamp(std::max(half_width, next), kLeastUncertainty, kMostUncertainty);
  if (!all && fitted_range <= fitted.base.uncertainty) return;
  fitted.profile.uncertainty = fitted_range;
  set_figure(fitted.profile, "prediction.uncertainty", fmt::format("{:.3g}", fitted.profile.uncertainty),
             fmt::format("90 % range of the least certain rate that {} measured steps determine", fitted.rows.size()));
}

/// A figure is moved by this logarithm to see what depends on it.
constexpr double kMoved = 0.2;
/// Less is not worth a measurement.
constexpr double kLeastGain = 1.1;

/// Steps that could be measured: of each workload the first row's way to exchange, servers apart.
std::vector<PlannedCase> candidates(const FittedProfile& fitted) {
  const int full = fitted.base.gpus_per_node;
  int most = 2 * full;
  for (const CaseResult& row : fitted.rows) most = std::max(most, row.asked.gpus);
  std::map<std::string, Case> by_workload;
  for (const CaseResult& row : fitted.rows)
    if (!row.asked.strategy.uses_servers()) by_workload.try_emplace(row.asked.workload, row.asked);
  std::vector<PlannedCase> all;
  for (auto& [workload, asked] : by_workload)
    for (const int gpus : {full, most}) {
      if (gpus == 1) continue;
      asked.gpus = gpus;
      all.push_back(planned(asked));
    }
  return all;
}

}  // namespace

std::string figure_text(const Profile& profile, const Prior& prior) { return figure_of(prior).text(profile); }

Profile moved(Profile profile, const Prior& prior, double log_factor) {
  figure_of(prior).scale(profile, std::exp(log_factor));
  return profile;
}

std::string_view determined_by(const Prior& prior) { return figure_of(prior).determined_by; }

FittedProfile fit_profile(const Profile& base, std::vector<CaseResult> rows, const Data& data,
                          const SimulationMeans& means) {
  if (rows.size() < kFewestRows)
    throw Error(ExitCode::usage, fmt::format("{} of {} are too few to fit a profile to", rows.size(), base.name),
                fmt::format("give at least {}: several models, GPU counts and strategies", kFewestRows));
  FittedProfile fitted{.base = base, .profile = base, .rows = std::move(rows)};
  Catalog catalog = catalog_of(fitted.rows, data, {.profiles = {{base.name, base}}});
  std::vector<Prior> priors;
  for (const FittedFigure* figure : figures_for(base, fitted.rows))
    priors.push_back({std::string(figure->key), figure->deviation, most_factor(base, figure->key)});
  RowErrors errors(base, priors, std::move(catalog), means);
  fitted.fit = fit_determined(priors, kNoise, [&](std::span<const double> x) { return errors(x, fitted.rows); });
  check_explained(fitted.fit, kMostError, base.name, "steps");
  fitted.left_out = left_out(fitted, errors);
  std::vector<double> log_factors;
  for (const FittedParameter& parameter : fitted.fit.parameters) log_factors.push_back(parameter.log_factor);
  fitted.profile = errors.scaled(log_factors);
  write_figures(fitted);
  write_nodes(fitted);
  return fitted;
}

std::optional<NextRow> next_row(const FittedProfile& fitted, const Data& data) {
  Catalog catalog;
  for (const CaseResult& row : fitted.rows)
    if (!catalog.traces.contains(row.asked.workload))
      catalog.traces.emplace(row.asked.workload, data.traces.load(row.asked.workload));
  const auto simulated = [&](const PlannedCase& step, const Profile& profile) {
    catalog.profiles.insert_or_assign(step.asked.profile, profile);
    return std::log(SimulatedRunner(catalog).step(step).step().value);
  };
  std::optional<NextRow> best;
  double most = kLeastGain;
  for (const PlannedCase& step : candidates(fitted)) {
    const double here = simulated(step, fitted.profile);
    for (std::size_t p = 0; p < fitted.fit.priors.size(); ++p) {
      const FittedParameter& known = fitted.fit.parameters[p];
      if (known.determined) continue;
      const double gradient = (simulated(step, moved(fitted.profile, fitted.fit.priors[p], kMoved)) - here) / kMoved;
      FittedParameter then = known;
      then.deviation = 1 / std::hypot(1 / known.deviation, gradient / fitted.fit.noise);
      if (known.deviation / then.deviation <= most) continue;
      most = known.deviation / then.deviation;
      best = {step.asked.workload, step.asked.gpus, fitted.fit.priors[p].name, known.factor(), then.factor()};
    }
  }
  return best;
}

void require_better(const FittedProfile& fitted, const Data& data) {
  // A difference of logarithms: less is a matter of rounding.
  constexpr double kNothing = 0.002;
  const double before = mean_size(fitted.fit.before), without = mean_size(fitted.left_out);
  if (without <= before + kNothing) return;
  const std::optional<NextRow> next = next_row(fitted, data);
  const std::string best =
      next ? fmt::format("the next best step is {} on {} GPUs: {} would be known within a factor of {:.2f}, not {:.2f}",
                         next->workload, next->gpus, next->figure, next->after, next->before)
           : std::string("no single step would tell much more");
  throw Error(ExitCode::usage,
              fmt::format("{} say too little of {}: steps that a fit does not know would be {:.1f} % off on average, "
                          "and are {:.1f} % off without it",
                          counted(std::ssize(fitted.rows), "step"), fitted.base.name, 100 * std::expm1(without),
                          100 * std::expm1(before)),
              fmt::format("nothing is written; {}. Steps on the most, on a middling number of and on the fewest GPUs, "
                          "and of the model with the most parameters, tell most together",
                          best));
}

}  // namespace hbench

#include "analysis/fit/fit_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/fit/profile_text.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// A figure that is further off than this, in deviations of its prior, is of another cluster, or the measurements are
/// in another unit.
constexpr double kMostDeviations = 4;
constexpr const char* kCure = "check their unit, and that they were measured on this cluster; nothing is written";

/// The model of a library is so far from measured times where its figures are right (`hbench validate collectives`).
constexpr double kCurveNoise = 0.2;
/// Twice the time or half of it on average is of another cluster.
const double kMostCurveError = std::log(2);
/// As far apart are two runs of the same machines.
constexpr double kLeastCurveUncertainty = 0.1;

/// The part of a cluster whose times a figure governs.
enum class Governs : std::uint8_t { local, network, line, streams };

/// A figure of a profile that a curve can determine.
struct CurveFigure {
  std::string_view key;
  Governs governs;
  bool is_rate;
  void (*scale)(Profile& profile, double factor);
  std::string (*text)(const Profile& profile);
};

const std::array kCurveFigures{
    CurveFigure{"local.latency", Governs::local, false,
                [](Profile& p, double f) { p.local_latency = p.local_latency * f; },
                [](const Profile& p) { return fmt::format("{:.4g} us", p.local_latency.value * 1e6); }},
    CurveFigure{"local.rate", Governs::local, true, [](Profile& p, double f) { p.scale_full_local(f); },
                [](const Profile& p) { return fmt::format("{:.4g} GB/s", p.local_link_rate().value / 1e9); }},
    CurveFigure{"network.latency", Governs::network, false,
                [](Profile& p, double f) { p.network_latency = p.network_latency * f; },
                [](const Profile& p) { return fmt::format("{:.4g} us", p.network_latency.value * 1e6); }},
    CurveFigure{"network.line_rate", Governs::line, true, [](Profile& p, double f) { p.line_rate = p.line_rate * f; },
                [](const Profile& p) { return fmt::format("{:.4g} Gbit/s", p.line_rate.value * 8 / 1e9); }},
    CurveFigure{"network.stream_cap", Governs::streams, true,
                [](Profile& p, double f) { p.stream_cap = p.stream_cap * f; },
                [](const Profile& p) { return fmt::format("{:.4g} Gbit/s", p.stream_cap.value * 8 / 1e9); }},
};

/// Returns the figures that `curve` can determine: on one node, or one domain of nodes, those of its links; on several
/// those of the network, and of what bounds a path there.
std::vector<const CurveFigure*> curve_figures_for(const Profile& base, const MeasuredCurve& curve) {
  const Governs bound = base.bound_by_streams() ? Governs::streams : Governs::line;
  std::vector<const CurveFigure*> figures;
  for (const CurveFigure& figure : kCurveFigures)
    if (curve.nodes <= base.nodes_per_domain ? figure.governs == Governs::local
                                             : figure.governs == Governs::network || figure.governs == bound)
      figures.push_back(&figure);
  return figures;
}

/// What streams carry was measured, or that they carry as much as the line did: they cannot be worse than that.
void narrow_streams(CurveFit& fitted, const CurveFigure& figure, double range) {
  Profile& profile = fitted.profile;
  if (profile.stream_factor <= 1) return;
  const double slack = profile.stream_cap * profile.streams / profile.line_rate;
  const double factor = figure.governs == Governs::streams ? 1 + range : std::max(1.0, slack);
  if (factor >= profile.stream_factor) return;
  profile.stream_factor = factor;
  set_figure(profile, "network.stream_factor", fmt::format("{:.4g}", factor),
             fmt::format("a curve tells what a path carries ({}); {:g} before", fitted.curve.source,
                         fitted.base.stream_factor));
}

/// Whether only the network was between the GPUs.
bool one_per_node(const MeasuredCurve& curve) { return curve.nodes > 1 && curve.ranks == curve.nodes; }

/// The cluster as it was measured: of a node's GPUs one may have been used, with its share of the NICs.
Profile as_measured(Profile profile, const MeasuredCurve& curve) {
  if (!one_per_node(curve)) return profile;
  profile.nics = std::max(1, profile.nics / profile.gpus_per_node);
  profile.gpus_per_node = 1;
  return profile;
}

void check_world(const Profile& base, const MeasuredCurve& curve) {
  if (base.most_gpus() > 0 && curve.ranks > base.most_gpus())
    throw Error(ExitCode::usage,
                fmt::format("at most {} GPUs of {} work together, and {} were measured", base.most_gpus(), base.name,
                            curve.ranks),
                "give the profile of the cluster that was measured");
  if (base.nodes_of(curve.ranks) != curve.nodes && !one_per_node(curve))
    throw Error(ExitCode::usage,
                fmt::format("{} GPUs were measured on {} node{}, and {} has {} per node", curve.ranks, curve.nodes,
                            curve.nodes == 1 ? "" : "s", base.name, base.gpus_per_node),
                "give the profile of the cluster that was measured, or --ranks and --nodes");
}

/// Predictions use a curve where they are of as many GPUs of each node.
bool is_kept(const Profile& profile, const MeasuredCurve& curve) {
  return profile.nodes_of(curve.ranks) == curve.nodes;
}

void keep_curve(Profile& profile, const MeasuredCurve& curve) {
  if (!is_kept(profile, curve)) return;
  std::erase_if(profile.curves, [&](const MeasuredCurve& known) {
    return known.collective == curve.collective && known.algorithm == curve.algorithm && known.ranks == curve.ranks &&
           known.nodes == curve.nodes;
  });
  profile.curves.push_back(curve);
}

void write_curve_figures(CurveFit& fitted) {
  const std::vector<const CurveFigure*> figures = curve_figures_for(fitted.base, fitted.curve);
  Profile& profile = fitted.profile;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const CurveFigure& figure = *figures[i];
    const FittedParameter& parameter = fitted.fit.parameters[i];
    if (!parameter.determined && parameter.log_factor == 0) continue;
    set_figure(profile, figure.key, figure.text(profile),
               fmt::format("fitted to a curve ({}), {} before; {}", fitted.curve.source, figure.text(fitted.base),
                           how_determined(parameter, "it")));
    if (!parameter.determined) continue;
    std::ranges::find(profile.figures, figure.key, &Figure::key)->assumed = 1;
    const double range = std::max(kLeastCurveUncertainty, std::expm1(parameter.half_width()));
    if (figure.governs == Governs::local || !figure.is_rate) continue;
    narrow_streams(fitted, figure, range);
    if (range >= profile.uncertainty) continue;
    profile.uncertainty = range;
    set_figure(profile, "prediction.uncertainty", fmt::format("{:.3g}", range),
               fmt::format("90 % range of the network's rate by a curve, at least {} ({})", kLeastCurveUncertainty,
                           fitted.curve.source));
  }
  profile.title = fmt::format("{}, with a measured {}", fitted.base.title, to_string(fitted.curve.collective));
}

/// What the curve does not say of the network, with the cure; empty where it determines it.
std::string unknown_network(const CurveFit& fitted) {
  std::string unknown;
  for (std::size_t i = 0; i < fitted.fit.priors.size(); ++i)
    if (!fitted.fit.parameters[i].determined && fitted.fit.parameters[i].log_factor == 0)
      unknown += fmt::format("{}{}", unknown.empty() ? "" : " and ", fitted.fit.priors[i].name);
  if (unknown.empty()) return "";
  return fmt::format(
      "These sizes hardly determine {} (kept as before): small messages (-b 1K) would determine a latency, and large "
      "ones (-e 4G) a rate.",
      unknown);
}

void add_notes(CurveFit& fitted) {
  if (std::string unknown = unknown_network(fitted); !unknown.empty()) fitted.notes.push_back(std::move(unknown));
  if (!fitted.kept)
    fitted.notes.push_back(
        fmt::format("One GPU of each node was measured: the network is fitted alone, and the curve is not "
                    "kept, since {} has {} per node.",
                    fitted.base.name, fitted.base.gpus_per_node));
}

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
  return parameter.limited ? "at its limit" : parameter.determined ? "yes" : "no";
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

CurveFit fit_curve(const Profile& base, MeasuredCurve curve) {
  check_world(base, curve);
  const std::vector<const CurveFigure*> figures = curve_figures_for(base, curve);
  std::vector<Prior> priors;
  for (const CurveFigure* figure : figures)
    priors.push_back({std::string(figure->key), kUnknown, most_factor(base, figure->key)});
  const auto scaled = [&](std::span<const double> log_factors) {
    Profile profile = base;
    for (std::size_t i = 0; i < figures.size(); ++i) figures[i]->scale(profile, std::exp(log_factors[i]));
    return profile;
  };
  CurveFit fitted{.base = base, .profile = base, .curve = std::move(curve)};
  fitted.fit = fit_determined(priors, kCurveNoise, [&](std::span<const double> log_factors) {
    return model_errors(as_measured(scaled(log_factors), fitted.curve), fitted.curve).logarithms;
  });
  check_explained(fitted.fit, kMostCurveError, base.name, "times");
  std::vector<double> log_factors;
  for (const FittedParameter& parameter : fitted.fit.parameters) log_factors.push_back(parameter.log_factor);
  fitted.profile = scaled(log_factors);
  write_curve_figures(fitted);
  keep_curve(fitted.profile, fitted.curve);
  fitted.kept = is_kept(base, fitted.curve);
  for (const CurveFigure* figure : figures)
    fitted.figures.push_back({std::string(figure->key), figure->text(base), figure->text(fitted.profile)});
  add_notes(fitted);
  return fitted;
}

}  // namespace hbench

#include "analysis/prediction/validate_curves.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/points/collectives.hpp"
#include "analysis/points/coverage.hpp"
#include "analysis/prediction/simulated_collective.hpp"
#include "analysis/published/published.hpp"
#include "analysis/records/fingerprint.hpp"

namespace hbench {
namespace {

std::set<std::string> software_of(const std::vector<GpuRate>& rates) {
  std::set<std::string> names;
  for (const GpuRate& rate : rates) names.insert(rate.software);
  return names;
}

void validate_workload(const RateModel& model, const Profile& gpu, const Trace& trace,
                       std::vector<RateValidation>& all) {
  for (const std::string& software : software_of(gpu.stated_rates.at(trace.name)))
    for (const GpuRate* measured : telling_rates(gpu, trace.name, software)) {
      Trace asked = trace;
      if (measured->batch > 0) asked.timeline.batch = measured->batch;
      if (const auto modelled = model.modelled(gpu, asked, measured->precision, software, family_of(gpu)))
        all.push_back({gpu.gpu, trace.name, trace.cost->kind, *measured, *modelled});
    }
}

Case case_of(const Profile& profile, const MeasuredCurve& curve, std::int64_t bytes) {
  Case asked;
  asked.profile = profile.name;
  asked.gpus = curve.ranks;
  asked.nodes = curve.nodes;
  asked.implementation = kSimulatorRevision;
  asked.strategy.algorithm = curve.algorithm;
  asked.strategy.compressor = kUncompressed;
  asked.collective = {.name = std::string(to_string(curve.collective)),
                      .bytes = bytes,
                      .data_type = "float32",
                      .operation = "sum",
                      .executor = "simulate"};
  if (parse_algorithm(curve.algorithm, curve.collective).algorithm->uses_groups)
    asked.collective.ranks_per_node = std::min(profile.gpus_per_domain(), curve.ranks);
  return asked;
}

CurveValidation validate_curve(const Profile& stated, const MeasuredCurve& curve) {
  // The profile as it would be without what was measured.
  Profile profile = stated;
  profile.curves.clear();
  CurveValidation validation{.profile = stated.name,
                             .curve = curve,
                             .model = model_errors(profile, curve),
                             .interpolation = interpolation_errors(curve)};
  std::vector<Case> cases;
  for (const auto& [bytes, time] : curve.points) cases.push_back(case_of(profile, curve, bytes));
  for (const CaseResult& result : simulate_collectives(cases, {&profile, 1}, {}, [](const CaseResult&) {})) {
    const CollectiveFigures figures = collective_figures(result);
    const std::int64_t bytes = result.asked.collective.bytes;
    validation.sizes.push_back({.bytes = bytes,
                                .measured = curve.at(bytes).value,
                                .simulated = *figures.in_place.seconds,
                                .low = *figures.low,
                                .high = *figures.high});
  }
  return validation;
}

/// One size of a curve, as others are asked how wide its band has to be.
Residual residual_of(const CurveValidation& curve, const CurveValidation::Size& size) {
  return {.source = publisher_of(curve.curve.source),
          .cluster = curve.profile,
          .unknowns = {{.kind = UnknownKind::library,
                        .slower = std::log(size.high / size.simulated),
                        .faster = std::log(size.simulated / size.low)}},
          .off = std::log(size.measured / size.simulated)};
}

/// One class of them.
struct ClassMembers {
  std::vector<Residual> residuals;
  std::vector<double> errors, held, held_elsewhere, widths;
  std::set<std::string> sources;
  std::set<const CurveValidation*> curves;

  ClassErrors errors_as(std::string_view name) const {
    return {.name = name,
            .sizes = residuals.size(),
            .curves = curves.size(),
            .sources = sources.size(),
            .mean = mean_over(residuals, &Residual::source, errors),
            .held = mean_over(residuals, &Residual::source, held),
            .held_elsewhere = held_elsewhere.empty()
                                  ? std::nullopt
                                  : std::optional(mean_over(residuals, &Residual::source, held_elsewhere)),
            .width = quantile_over(residuals, &Residual::source, widths, 0.5)};
  }
};

}  // namespace

bool RateValidation::is_held() const {
  return std::abs(std::log(modelled.samples_per_second / measured.samples_per_second)) <= std::log(modelled.factor);
}

std::vector<RateValidation> validate_rates(const RateModel& model, const TraceLibrary& traces) {
  std::map<std::string, Trace> known;
  std::vector<RateValidation> all;
  for (const Profile& gpu : model.gpus())
    for (const auto& [workload, rates] : gpu.stated_rates) {
      if (!known.contains(workload)) known.emplace(workload, traces.load(workload));
      if (const Trace& trace = known.at(workload); trace.cost) validate_workload(model, gpu, trace, all);
    }
  return all;
}

std::vector<CurveValidation> validate_curves(const std::vector<Profile>& profiles) {
  std::vector<CurveValidation> all;
  for (const Profile& profile : profiles)
    for (const MeasuredCurve& curve : profile.curves) all.push_back(validate_curve(profile, curve));
  return all;
}

std::vector<ClassErrors> class_errors(const std::vector<CurveValidation>& all) {
  std::vector<Residual> residuals;
  for (const CurveValidation& curve : all)
    for (const CurveValidation::Size& size : curve.sizes) residuals.push_back(residual_of(curve, size));
  const bool others = std::ranges::any_of(
      residuals, [&](const Residual& residual) { return residual.source != residuals.front().source; });
  const std::vector<bool> elsewhere = others ? held_elsewhere(residuals, &Residual::source) : std::vector<bool>();
  std::array<ClassMembers, kSizeClasses.size()> members;
  std::size_t next = 0;
  for (const CurveValidation& curve : all)
    for (const CurveValidation::Size& size : curve.sizes) {
      const auto place = std::ranges::find_if(
          kSizeClasses, [&](const SizeClass& sizes) { return size.bytes >= sizes.least && size.bytes <= sizes.most; });
      ClassMembers& some = members.at(static_cast<std::size_t>(place - kSizeClasses.begin()));
      const Residual& residual = residuals[next++];
      some.residuals.push_back(residual);
      some.errors.push_back(std::fabs(residual.off));
      some.held.push_back(holds(residual) ? 1 : 0);
      if (others) some.held_elsewhere.push_back(elsewhere[next - 1] ? 1 : 0);
      some.widths.push_back(size.high / size.low);
      some.sources.insert(residual.source);
      some.curves.insert(&curve);
    }
  std::vector<ClassErrors> classes;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (!members.at(i).residuals.empty()) classes.push_back(members.at(i).errors_as(kSizeClasses.at(i).name));
  return classes;
}

}  // namespace hbench

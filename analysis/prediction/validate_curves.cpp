#include "analysis/prediction/validate_curves.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/points/collectives.hpp"
#include "analysis/points/model_error.hpp"
#include "analysis/prediction/simulated_collective.hpp"
#include "analysis/records/revision.hpp"
#include "analysis/statistics/statistics.hpp"

namespace hbench {
namespace {

Case case_of(const Profile& profile, const MeasuredCurve& curve, std::int64_t bytes) {
  Case asked;
  asked.evidence = Evidence::simulated;
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
                             .sizes = {},
                             .model = model_errors(profile, curve, kLeastGradient, kMostGradient),
                             .interpolation = interpolation_errors(curve, kLeastGradient, kMostGradient)};
  std::vector<Case> cases;
  for (const auto& [bytes, time] : curve.points)
    if (bytes >= kLeastGradient && bytes <= kMostGradient) cases.push_back(case_of(profile, curve, bytes));
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

}  // namespace

std::vector<CurveValidation> validate_curves(const std::vector<Profile>& profiles) {
  std::vector<CurveValidation> all;
  for (const Profile& profile : profiles)
    for (const MeasuredCurve& curve : profile.curves)
      if (CurveValidation validation = validate_curve(profile, curve); !validation.sizes.empty())
        all.push_back(std::move(validation));
  return all;
}

}  // namespace hbench

#pragma once

/// Calibrates a profile with steps that somebody has measured on the cluster: which figures explain them, and which of
/// these the steps determine.

#include <functional>
#include <string>
#include <vector>

#include "analysis/fit/parameter_fit.hpp"
#include "analysis/prediction/validate.hpp"

namespace hbench {

/// A profile fitted to rows.
struct FittedProfile {
  Profile base, profile;  ///< before and after
  std::vector<CaseResult> rows;
  ParameterFit fit;
};

/// Fits the figures of `base` that are seldom known beforehand (rates of links, streams and servers, latencies, the
/// scatter of ranks, the slowdown of compute beside communication) to `rows`, which are of this cluster. Figures that
/// the rows hardly determine stay where they were. The uncertainty of the profile becomes that of the fitted
/// rates. `means` hears of every simulation of all rows. \throws Error as `validate`, (usage) where
/// there are too few rows, and where no figures explain them.
FittedProfile fit_profile(const Profile& base, std::vector<CaseResult> rows, const Data& data,
                          const SimulationMeans& means = {});

/// A fitted figure of a profile as its file has it.
std::string figure_text(const Profile& profile, const Prior& prior);
/// Which steps would determine it.
std::string_view determined_by(const Prior& prior);

}  // namespace hbench

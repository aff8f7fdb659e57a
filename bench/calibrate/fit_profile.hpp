#pragma once

/// Calibrates a profile with steps that somebody has measured on the cluster: which figures explain them, and which of
/// these the steps determine.

#include <functional>
#include <string>
#include <vector>

#include "analysis/parameter_fit.hpp"
#include "bench/validate/validate.hpp"
#include "reports/document.hpp"

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
/// rates. Tells `simulated` how often it has simulated all rows, each time. \throws Error as `validate`, (usage) where
/// there are too few rows, and where no figures explain them.
FittedProfile fit_profile(const Profile& base, std::vector<CaseResult> rows, const Data& data,
                          const StopRequested& stop = {}, const std::function<void(int)>& simulated = {});

/// A fitted figure of a profile as its file has it.
std::string figure_text(const Profile& profile, const Prior& prior);
/// Which steps would determine it.
std::string_view determined_by(const Prior& prior);

/// The figures with what is known of them, and how far predictions are off: before, after, and of rows left out.
Document fit_document(const FittedProfile& fitted, const std::string& file, bool each);
/// The same for machines, with the file that the profile was written to.
std::string fit_json(const FittedProfile& fitted, const std::string& written_to);

}  // namespace hbench

#pragma once

/// Calibrates a profile with steps that somebody has measured on the cluster: which figures explain them, and which of
/// these the steps determine.
///
/// The step that would tell most of a profile, if somebody measured it.

#include <optional>
#include <string>
#include <vector>

#include "analysis/fit/parameter_fit.hpp"
#include "analysis/prediction/validate.hpp"

namespace hbench {

/// A step that nobody has measured yet, and the figure of which it would tell most.
struct NextRow {
  std::string workload;
  int gpus = 0;
  std::string figure;            ///< `network.line_rate`
  double before = 1, after = 1;  ///< the factor within which it is known with 90 %
};

/// A profile fitted to rows.
struct FittedProfile {
  Profile base, profile;  ///< before and after
  std::vector<CaseResult> rows;
  ParameterFit fit;
  /// The error of each row with figures fitted to all others, on logarithms as in `fit`: of few rows by fitting anew,
  /// of many by `ParameterFit::left_out`.
  std::vector<double> left_out = {};
  std::optional<NextRow> next = {};  ///< `next_row` of it
};

/// Fits the figures of `base` that are seldom known beforehand (rates of links, streams and servers, latencies, the
/// scatter of ranks, the slowdown of compute beside communication) to `rows`, which are of this cluster. Figures that
/// the rows hardly determine stay where they were. The uncertainty of the profile becomes that of the fitted
/// rates. `means` hears of every simulation of all rows. \throws Error as `validate`, (usage) where
/// there are too few rows, where no figures explain them, and where a row that is left out would be predicted worse
/// than without the fit: rows that say too little leave the profile as it was. No uncertainty narrows below what rows
/// that are left out ask for. A row of one full node is a start for those of several.
FittedProfile fit_profile(const Profile& base, std::vector<CaseResult> rows, const Data& data,
                          const SimulationMeans& means = {});

/// A fitted figure of a profile as its file has it.
std::string figure_text(const Profile& profile, const Prior& prior);
/// `profile` with a fitted figure at `exp(log_factor)` times its value.
Profile moved(Profile profile, const Prior& prior, double log_factor);
/// Which steps would determine it.
std::string_view determined_by(const Prior& prior);

/// Among the workloads of the rows on one full node, and on the most GPUs of the rows, two nodes at least; none where
/// no step would tell a tenth more of anything. Simulates each a few times.
std::optional<NextRow> next_row(const FittedProfile& fitted, const Data& data);

/// \throws Error (usage) where steps that the fit does not know would be predicted worse by it than without it, naming
/// `next_row`: nothing must be written.
void require_better(const FittedProfile& fitted, const Data& data);

}  // namespace hbench

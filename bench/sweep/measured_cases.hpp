#pragma once

/// Measured cases of a plan, each beside its baseline. Knows no database.

#include <functional>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/sweep/measure.hpp"

namespace hbench {

/// What the caller hears while cases are measured.
struct MeasuredHooks {
  std::function<void(const std::string& what)> doing;
  /// A launch is over; `extra` ones are beyond those that were asked for.
  std::function<void(bool extra)> launched;
  /// What a case got: samples of new launches, or its failure.
  std::function<void(const Case& asked, const CaseResult& addition)> keep;
  std::function<void(const std::string& what)> finished;
  std::function<void(const std::string& line)> note;
};

/// `resnet18 ring on 2 ranks`: a case on a line of progress.
std::string case_name(const Case& asked);

/// Measures `cases`, which are of `planned`, in turn with their baselines, also those that are known from before: the
/// machine was another one then. Baselines that are not among `cases` are launched only beside them. Launches are
/// numbered from `first_launch`. Ends early on Ctrl-C. The worst code of a launch; `good` where none has failed.
ExitCode measure_cases(const std::vector<Case>& planned, const std::vector<const Case*>& cases,
                       const MeasureOptions& options, int first_launch, const MeasuredHooks& hooks);

}  // namespace hbench

#pragma once

/// `hbench compare NAME --measured`: a comparison of frameworks, answered by measuring those that are installed here.

#include <string>

#include "analysis/prediction/comparisons.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/verbosity.hpp"
#include "bench/output/document_output.hpp"

namespace hbench {

/// How it is measured: the arguments of the sweep.
struct MeasuredComparison {
  bool wanted = false;
  std::string workload = "resnet18";
  int gpus = 2;  ///< ranks, on CPU cores
  int launches = 5;
  std::string database = "hbench.db";
  Verbosity verbosity = Verbosity::usual;

  /// Adds `--measured` and the flags that go with it.
  void add_options(Arguments& app);
  /// \throws Error (usage) where one of these was given without `--measured`; after `app.parse`.
  void check(const Arguments& app) const;
};

/// Measures all frameworks of both sides and hbench's ring in turn, simulates their presets on nodes like this machine,
/// and delivers the answer. Results are stored as those of a sweep. \throws Error (usage) for a comparison that cannot
/// be measured, (environment) where nothing of a side is installed.
ExitCode compare_measured(const ReadyComparison& asked, const MeasuredComparison& how, const DocumentOutput& output,
                          const std::string& command);

}  // namespace hbench

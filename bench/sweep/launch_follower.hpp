#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analysis/store/store.hpp"
#include "bench/output/console.hpp"

namespace hbench {

/// Both who follow launches: a person by lines of progress, and the database. What it names outlives it.
struct LaunchFollower {
  Progress& progress;
  Store& store;
  Run& run;               ///< begins in the database with its first result
  std::string part = {};  ///< of the work, named before what is done; its cases get no lines of their own. Empty: all

  void doing(const std::string& what) const { progress.doing(part.empty() ? what : fmt::format("{}: {}", part, what)); }
  /// One that is `further` than those asked for is more work than was estimated; the estimate of a part stays.
  void launched(double seconds, bool further) const {
    if (further && part.empty()) progress.more(seconds);
    progress.done(seconds);
  }
  void finished(const std::string& what) const { progress.done(0, part.empty() ? what : ""); }
  /// Stores what cases got: samples of new launches, or their failure. May be called more than once for a case.
  void keep(const std::vector<CaseResult>& additions) const {
    if (run.id == 0) run.id = store.begin_run(run);
    store.extend(run.id, additions);
  }
};

}  // namespace hbench

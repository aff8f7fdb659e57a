#pragma once

/// `hbench track bisect`: which commit between two runs has made a case slower.

#include <functional>
#include <string>

#include "analysis/track/history.hpp"
#include "bench/track/measured_command.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

struct BisectRequest {
  BisectRange range;
  MeasuredCommand build{.name = "--build"}, measure{.name = "--measure"};  ///< in this folder at each commit
  PatternOptions pattern;                                                  ///< as `measure` has it
  std::string metric;    ///< only cases with this in their names; empty: all that `measure` prints
  int launches = 0;      ///< as in `PairRequest`
  Seconds timeout{600};  ///< of a launch, and of a build without output
  /// That a commit must show to be bad. Half of the change is as far from the good commits as from the bad ones.
  double least_effect() const;
};

/// What to type: `tree` is where the good commit is checked out and built, beside which others are measured.
std::string bisect_commands(const BisectRequest& request, const std::string& tree);

/// Drives `git bisect` in the repository of the current folder: the good commit is built in a tree of its own, and
/// every other one that git chooses is held to it by pairs of launches (`measure_pairs`). A commit that cannot be built
/// or measured, or of which nothing can be said, is skipped. Whatever happens, also on Ctrl-C, the repository is on the
/// branch that it was on when this returns, and the tree is removed. `note` gets a line for each step.
/// \throws Error (usage) where there is no repository, it has changes, does not know the commits, or is bisected
/// already, and where the good commit cannot be built.
BisectReport bisect(const BisectRequest& request, const std::function<void(const std::string&)>& note);

}  // namespace hbench

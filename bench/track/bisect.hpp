#pragma once

/// `hbench track bisect`: which commit between two runs has made a case slower.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/track/paired.hpp"
#include "bench/track/history.hpp"
#include "bench/track/measured_command.hpp"
#include "bench/track/pattern_options.hpp"
#include "collectives/base/units.hpp"
#include "reports/document.hpp"

namespace hbench {

/// Two commits between which a case has become slower.
struct BisectRange {
  std::string name;       ///< of the case
  std::string good, bad;  ///< commits, as the labels of the runs have them
  double shift = 0;       ///< by which fraction the new level is above the old one
};

/// Adds to `cases` what `hbench track check` has called regressed and what is too young for a level of its own: the
/// newest runs of a case of which the last check of each says so.
void add_regressions(std::vector<CaseHistory>& cases, const Store& store);

/// The newest change for the worse. \throws Error (usage) where there is none, where a run tells no commit, and where
/// both runs are of the same one.
BisectRange bisect_range(const std::vector<CaseHistory>& cases);

struct BisectRequest {
  BisectRange range;
  MeasuredCommand build{.name = "--build"}, measure{.name = "--measure"};  ///< in this folder at each commit
  PatternOptions pattern;                                                  ///< as `measure` has it
  std::string metric;    ///< only cases with this in their names; empty: all that `measure` prints
  int launches = 0;      ///< as in `PairRequest`
  Seconds timeout{600};  ///< without output of a command
  /// That a commit must show to be bad. Half of the change is as far from the good commits as from the bad ones.
  double least_effect() const;
};

/// What to type: `tree` is where the good commit is checked out and built, beside which others are measured.
std::string bisect_commands(const BisectRequest& request, const std::string& tree);

/// What git is told of a commit.
enum class BisectAnswer { good, bad, skip };

/// A commit that was measured.
struct BisectStep {
  std::string commit, subject;
  BisectAnswer answer = BisectAnswer::skip;
  std::string reason;        ///< of the verdict
  TrackJudgement judgement;  ///< of the case that decided, against the good commit
};

struct BisectReport {
  BisectRange range;
  std::vector<BisectStep> steps;       ///< the first is the bad commit itself
  std::vector<std::string> first_bad;  ///< one commit where it was found; several where some could not be measured
  std::vector<std::string> subjects;   ///< of these
  std::string obstacle;                ///< why nothing was found, in a sentence
};

/// Drives `git bisect` in the repository of the current folder: the good commit is built in a tree of its own, and
/// every other one that git chooses is held to it by pairs of launches (`measure_pairs`). A commit that cannot be built
/// or measured, or of which nothing can be said, is skipped. Whatever happens, also on Ctrl-C, the repository is on the
/// branch that it was on when this returns, and the tree is removed. `note` gets a line for each step.
/// \throws Error (usage) where there is no repository, it has changes, does not know the commits, or is bisected
/// already, and where the good commit cannot be built.
BisectReport bisect(const BisectRequest& request, const std::function<void(const std::string&)>& note);

Document bisect_document(const BisectReport& report);
std::string bisect_json(const BisectReport& report);

/// `good`, `bad`, `skip`: as `git bisect` calls them.
std::string_view to_string(BisectAnswer answer);

}  // namespace hbench

#pragma once

/// Runs of a database as the cases of a gate: which answers of a head and of its baseline are compared. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "analysis/track/judge.hpp"

namespace hbench {

/// What a head is held to.
struct BaselineRuns {
  std::vector<Run> runs;     ///< since the newest accepted change of level, oldest first
  std::vector<Run> earlier;  ///< those before it, oldest first
};

/// The newest of `runs` (oldest first) before `head` that have all `labels`, at most `most` of them. Neither a head
/// nor a trial is part of a baseline. An `accepted` run begins a new level, by its number.
BaselineRuns baseline_runs(const std::vector<Run>& runs, std::int64_t head,
                           const std::map<std::string, std::string>& labels, int most,
                           const std::set<std::int64_t>& accepted = {});

/// One question, as the head and the runs of the baseline have answered it.
struct TrackedSides {
  std::string name;      ///< for people: `ResNet-50`s name, its GPUs and strategy, or a collective with its size
  std::string question;  ///< `Case::question`: the same in every run
  std::string unit;      ///< of the values: `s`, or of rates their own
  TrackedCase values;
  std::string failure;       ///< why the head has no answer, where it tried; empty elsewhere
  int failure_code = 0;      ///< its `ExitCode`
  std::string incomparable;  ///< in which facts the places differ, where the baseline has answers from others only
};

/// The answers of runs, oldest first.
struct TrackedAnswers {
  std::vector<std::vector<CaseResult>> baseline;
  std::vector<CaseResult> head;
  std::vector<std::vector<CaseResult>> earlier{};  ///< of runs before a change that was accepted
  /// The run of the baseline (an index) that has measured what the head should have; none: no case is missing.
  std::optional<std::size_t> complete{};
};

/// Every timed question of the head, in its order, and those that only the complete run of the baseline has. The value
/// of a launch is that of `launch_values`. Answers compare where their places are equal; those without timed samples
/// count for nothing. \throws Error (wrong_data) as `check_plausible`: a database that was edited makes no verdicts.
std::vector<TrackedSides> pair_sides(const TrackedAnswers& answers);

}  // namespace hbench

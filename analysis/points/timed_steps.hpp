#pragma once

/// What a measured or emulated case says about its step, or another time that every rank reports per iteration.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/metrics.hpp"
#include "analysis/records/records.hpp"
#include "analysis/statistics/statistics.hpp"

namespace hbench {

/// The samples of one metric of a case, warm-up left out.
///
/// Training steps follow each other without a barrier: a rank that has got all sums begins the next step, whose sums it
/// gets no sooner than the last rank has contributed. So the job's step, from when all ranks have ended one to when all
/// have ended the next, is the **mean over ranks** in the long run, also where one rank holds up all: all wait for it.
/// The slowest rank's of each step is more: with parameter servers, which serve one worker after the other, it counts
/// a worker that was served early at the step's begin and late at its end. Where ranks do not wait for each other
/// (`async-ps`) the job's step is what it would be if all were equally fast and did as many steps together: the
/// harmonic mean over ranks, in which a slow one holds up nobody, of all iterations of a launch. What begins for all
/// ranks together (a collective, after a barrier) takes as long as its slowest rank: nobody is done before the last is.
struct TimedSteps {
  /// Per launch and iteration; per launch alone where ranks do not wait for each other.
  Launches launches;
  std::size_t iterations = 0;    ///< of all launches
  std::size_t observations = 0;  ///< raw samples, all ranks
};
TimedSteps timed_steps(const CaseResult& result, std::string_view metric = metric::kStep);

/// The launches of a measured case for which steps of the baseline launch beside them are stored
/// (`metric::kPairedBaseline`), in order. Empty for cases that were measured before launches took turns.
std::vector<PairedLaunch> paired_launches(const CaseResult& result);

/// The baseline, to which the efficiency of a timed case is relative: an answer to its baseline question of the same
/// run, at the same place and from the same code; or in one sentence why there is none.
struct BaselineChoice {
  const CaseResult* result = nullptr;  ///< one of the candidates
  std::string why_none;                ///< empty where there is one
};

/// Among several, the newest. `candidates` are oldest first; those that are not done,
/// or not one process without communication, are passed by.
BaselineChoice choose_baseline(const CaseResult& result, const std::vector<CaseResult>& candidates);

}  // namespace hbench

#pragma once

/// A database of runs with made-up times, for the tests of `hbench track`.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analysis/track/check.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench {

inline Case step_of(const std::string& workload, const std::string& machine = "quiet") {
  Case asked;
  asked.evidence = Evidence::measured;
  asked.workload = workload;
  asked.gpus = 2;
  asked.strategy = {.algorithm = "ring", .compressor = "none"};
  asked.profile = kLocalProfile;
  asked.batch_per_gpu = 16;
  asked.implementation = "engine/1";
  asked.machine = machine;
  return asked;
}

/// Ten launches of three iterations on two ranks, of which rank 1 is the slower one and takes about `seconds`.
inline CaseResult answer(const Case& asked, double seconds) {
  CaseResult result{.asked = asked};
  for (int launch = 0; launch < 10; ++launch)
    for (int iteration = 0; iteration < 4; ++iteration)
      for (int rank = 0; rank < 2; ++rank) {
        const double scatter = 1 + 0.002 * (launch % 5 - 2) + 0.0001 * iteration;
        result.samples.push_back({.launch = launch,
                                  .rank = rank,
                                  .iteration = iteration,
                                  .warmup = iteration == 0,
                                  .metric = "step_seconds",
                                  .value = iteration == 0 ? 9.0 : seconds * scatter * (rank == 1 ? 1.25 : 0.75),
                                  .unit = "s"});
      }
  return result;
}

inline CaseResult failed(const Case& asked, ExitCode code) {
  CaseResult result{.asked = asked};
  result.status = CaseStatus::failed;
  result.failure = "rank 1 was lost";
  result.exit_code = static_cast<int>(code);
  return result;
}

/// A database of runs.
class TrackedDatabase : public testing::Test {
 protected:
  void add_run(const std::string& branch, const std::vector<CaseResult>& results) {
    add_run(std::map<std::string, std::string>{{"branch", branch}}, results);
  }
  void add_run(const std::map<std::string, std::string>& labels, const std::vector<CaseResult>& results,
               const std::string& date = "2026-11-23") {
    Store store(file_);
    const std::int64_t run = store.begin_run({.command = "hbench sweep",
                                              .version = "0.1.0",
                                              .started_at = date + "T00:00:00Z",
                                              .environment = {},
                                              .labels = labels});
    store.append(run, results);
  }
  void add_history(int runs, const std::vector<Case>& cases) {
    for (int run = 0; run < runs; ++run) {
      std::vector<CaseResult> results;
      for (const Case& asked : cases) results.push_back(answer(asked, 0.1 * (1 + 0.001 * (run % 3 - 1))));
      add_run("main", results);
    }
  }
  TrackReport checked(TrackRequest request = {}) {
    if (request.baseline.empty()) request.baseline = {{"branch", "main"}};
    return check(Store(file_, Store::Mode::read_only), request);
  }
  /// The verb's exit code; what it prints is in `printed_`.
  ExitCode run(std::vector<std::string> arguments, const char* action = "check") {
    arguments.insert(arguments.begin(), action);
    arguments.insert(arguments.end(), {"--db", file_.string()});
    Ran ran = run_verb("track", std::move(arguments));
    printed_ = std::move(ran.out);
    return ran.code;
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "t.db";
  std::string printed_;
};

}  // namespace hbench

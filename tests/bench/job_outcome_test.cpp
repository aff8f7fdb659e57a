#include <fmt/format.h>

#include "analysis/records/machine_facts.hpp"
#include "bench/launch/job_outcome.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::job_outcome_test {
namespace {

JobOutcome of(const Exit& exit, const RankReports& reports = {}) { return job_outcome(reports, exit, 2, Seconds(30)); }

TEST(JobOutcome, IsGoodWhenAllIsSaid) {
  RankReports reports;
  reports.complete = true;
  EXPECT_EQ(of({.code = 0}, reports).code, ExitCode::good);
  EXPECT_EQ(of({.code = 0}, reports).reason, "");
}

TEST(JobOutcome, QuotesTheLastWordsOfAJob) {
  const JobOutcome ending = of({.code = 1, .error_tail = "one\nno room for more ranks\n----\n"});
  EXPECT_EQ(ending.code, ExitCode::lost_rank);
  EXPECT_EQ(ending.reason, "the job ended with exit code 1: no room for more ranks");
}

TEST(JobOutcome, SaysThatAJobSaidNothing) {
  for (const char* nothing : {"", "\n", " \n---\n"})
    EXPECT_EQ(of({.code = 1, .error_tail = nothing}).reason, "the job ended with exit code 1 and no message");
  EXPECT_EQ(of({.code = 0}).reason, "the job ended with exit code 0 and no message");
}

TEST(JobOutcome, PrefersWhatRanksSay) {
  RankReports reports;
  reports.failures = {{.rank = 1, .exit_code = 4, .message = "wrong data"}};
  const JobOutcome ending = of({.code = 1, .error_tail = "mpirun: something"}, reports);
  EXPECT_EQ(ending.code, ExitCode::wrong_data);
  EXPECT_EQ(ending.reason, "rank 1: wrong data");
}

TEST(JobOutcome, NamesARankThatWasKilledBeforeThoseThatMissIt) {
  RankReports reports;
  reports.failures = {{.rank = 0, .exit_code = 5, .message = "connection reset by peer"}};
  const auto exit_of = [](int rank, bool timed_out) {
    return Exit{
        .code = 137,
        .timed_out = timed_out,
        .error_tail = fmt::format("mpirun noticed that process rank {} with PID 7 on node n2 exited on signal 9 "
                                  "(Killed).\n",
                                  rank)};
  };
  EXPECT_EQ(of(exit_of(1, false), reports).reason, "rank 1 was ended by signal 9; rank 0: connection reset by peer");
  EXPECT_EQ(of(exit_of(0, false), reports).reason, "rank 0: connection reset by peer") << "it says why itself";
  EXPECT_EQ(of(exit_of(1, true), reports).reason, "rank 0: connection reset by peer") << "it was stopped with the job";
}

TEST(JobOutcome, NamesWhoWasBehindWhenAllFellSilent) {
  RankReports reports;
  reports.processes = {{0, {.pid = 100}}, {1, {.pid = 101}}};
  reports.last_step = {{0, 7}, {1, 5}};
  EXPECT_THAT(of({.code = 1, .timed_out = true}, reports).reason,
              HasSubstr("for 30 s; last known state: rank 1 after step 5"));
}

TEST(JobOutcome, NamesTheHostOfEachRankWhereThereAreSeveral) {
  const std::vector<std::string> hosts{"n1", "n1", "n2"};
  EXPECT_EQ(with_hosts("rank 0: waited 5 s for rank 2 (rank 10, arank 1)", hosts),
            "rank 0 on n1: waited 5 s for rank 2 on n2 (rank 10, arank 1)");
  EXPECT_EQ(with_hosts("rank 2", hosts), "rank 2 on n2");
  EXPECT_EQ(with_hosts("waited 5 s for rank 1, 2, says rank 0", hosts),
            "waited 5 s for rank 1 on n1, 2 on n2, says rank 0 on n1");
  EXPECT_EQ(with_hosts("2 of 3 ranks had started", hosts), "2 of 3 ranks had started");
  EXPECT_EQ(with_hosts("rank 2", {}), "rank 2");
}

}  // namespace
}  // namespace hbench::job_outcome_test

#include "bench/verdict.hpp"

#include <gmock/gmock.h>

namespace hbench {
namespace {

using testing::HasSubstr;

Ending of(const Exit& exit, const Heard& heard = {}) { return judge(heard, exit, 2, Seconds(30)); }

TEST(Verdict, IsGoodWhenAllIsSaid) {
  Heard heard;
  heard.complete = true;
  EXPECT_EQ(of({.code = 0}, heard).code, ExitCode::good);
  EXPECT_EQ(of({.code = 0}, heard).reason, "");
}

TEST(Verdict, QuotesTheLastWordsOfAJob) {
  const Ending ending = of({.code = 1, .error_tail = "one\nno room for more ranks\n----\n"});
  EXPECT_EQ(ending.code, ExitCode::lost_rank);
  EXPECT_EQ(ending.reason, "the job ended with exit code 1: no room for more ranks");
}

TEST(Verdict, SaysThatAJobSaidNothing) {
  for (const char* nothing : {"", "\n", " \n---\n"})
    EXPECT_EQ(of({.code = 1, .error_tail = nothing}).reason, "the job ended with exit code 1 and without a word");
  EXPECT_EQ(of({.code = 0}).reason, "the job ended with exit code 0 and without a word");
}

TEST(Verdict, PrefersWhatRanksSay) {
  Heard heard;
  heard.failures = {{.rank = 1, .exit_code = 4, .message = "wrong data"}};
  const Ending ending = of({.code = 1, .error_tail = "mpirun: something"}, heard);
  EXPECT_EQ(ending.code, ExitCode::wrong_data);
  EXPECT_EQ(ending.reason, "rank 1: wrong data");
}

TEST(Verdict, NamesWhoWasBehindWhenAllFellSilent) {
  Heard heard;
  heard.pids = {{0, 100}, {1, 101}};
  heard.last_step = {{0, 7}, {1, 5}};
  EXPECT_THAT(of({.code = 1, .silent = true}, heard).reason, HasSubstr("for 30 s; last heard of rank 1 after step 5"));
}

}  // namespace
}  // namespace hbench

#include "bench/calibrate/record_step.hpp"

#include <sched.h>

#include "bench/collective/machine.hpp"
#include "bench/launch/host.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::own_verb_test {
namespace {

Exit failed(int code, std::string error_tail) {
  Exit exit;
  exit.code = code;
  exit.error_tail = std::move(error_tail);
  return exit;
}

TEST(OwnVerb, IsCalledWithItsArgumentsAndWhatItPrintsIsKept) {
  const VerbOutcome outcome = run_own_verb("/bin/echo", {"list", "two words"});
  EXPECT_EQ(outcome.out, "list two words\n");
  EXPECT_EQ(outcome.exit.code, 0);
}

TEST(AFailedVerb, IsPassedOnWithItsCodeItsMessageAndItsHint) {
  expect_error([] { throw_as_said(failed(3, "noise\nhbench: the disk is full\n  make room\n"), "timing the link"); },
               ExitCode::environment, StrEq("timing the link: the disk is full"), StrEq("make room"));
  expect_error([] { throw_as_said(failed(5, "hbench: rank 1 is lost\n"), "timing the link"); }, ExitCode::lost_rank,
               StrEq("timing the link: rank 1 is lost"), StrEq(""));
}

TEST(AFailedVerb, ThatRefusedFlagsOfOursLacksSomethingHere) {
  expect_error([] { throw_as_said(failed(2, "hbench: no executor 'x'\n  known: y\n"), "timing the link"); },
               ExitCode::environment, StrEq("timing the link: no executor 'x'"),
               StrEq("hbench doctor says what this machine lacks"));
}

TEST(AFailedVerb, ThatRefusedFlagsOfTheUsersIsPassedOnAsItIs) {
  expect_error([] { throw_as_said(failed(2, "hbench: a.pt is empty\n  save it\n"), "recording", ArgumentsOf::user); },
               ExitCode::usage, StrEq("a.pt is empty"), StrEq("save it"));
}

TEST(AFailedVerb, ThatSaidNothingIsKnownByItsCode) {
  expect_error([] { throw_as_said(failed(139, ""), "recording"); }, ExitCode::lost_rank,
               StrEq("recording: exit code 139"), StrEq(""));
}

TEST(AvailableCores, AreThoseThatThisThreadMayUse) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(available_cores(), CPU_COUNT(&all));
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
    if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(available_cores(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

TEST(ProgramsOfPeers, AreThoseThatCanBeRun) {
  CollectiveOptions options;
  options.request.peers = true;
  options.mpich = "/bin/sh";
  EXPECT_NO_THROW(look_for_programs(options));
}

}  // namespace
}  // namespace hbench::own_verb_test

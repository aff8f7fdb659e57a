#include <fmt/format.h>

#include "bench/submit/engine.hpp"
#include "collectives/base/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::submit_follow_test {
namespace {

constexpr Patience kShort = {.longest_pause = Seconds(0.01), .no_answer = Seconds(0.3)};

/// An engine whose commands are scripts in the folder of the results: `submit`, and `ask`, which prints words.
Engine scripted() {
  Engine engine{};
  engine.name = "scripted";
  engine.submit = [](const Submission& submission, const std::filesystem::path& file) {
    return std::vector<std::string>{(submission.folder / "submit").string(), file.string()};
  };
  engine.job_of = [](const Submission&, std::string_view printed) {
    return std::string(printed.substr(0, printed.find('\n')));
  };
  engine.ask = [](const Submission& submission, const std::string& job) {
    return std::vector<std::string>{(submission.folder / "ask").string(), job};
  };
  engine.state = [](std::string_view printed) {
    const std::string words(printed.substr(0, printed.find('\n')));
    if (words == "end") return JobState{JobState::Phase::failed, words, 5};
    return JobState{words == "wait" ? JobState::Phase::waiting : JobState::Phase::running, words};
  };
  engine.log = [](const Submission& submission, const std::string& job) { return submission.folder / (job + ".log"); };
  return engine;
}

class Follow : public testing::Test {
 protected:
  Follow() { submission_.folder = folder_.path(); }
  /// `ask` in the folder: each call prints the next of these lines and runs what stands before its colon.
  void ask_is(std::string_view script) const {
    write_program(folder_ / "ask", fmt::format("#!/bin/sh\ncd '{}'\necho \"$1\" >> asked\n"
                                               "n=$(wc -l < asked)\n{}\n",
                                               folder_.path().string(), script));
  }
  JobState follow() {
    return follow_job(engine_, submission_, "7",
                      {.state = [&](const std::string& words) { states_.push_back(words); },
                       .wrote = [&](std::string_view line) { lines_.emplace_back(line); }},
                      kShort);
  }

  const TemporaryFolder folder_;
  Submission submission_;
  Engine engine_ = scripted();
  std::vector<std::string> states_, lines_;
};

TEST_F(Follow, SaysEachStateOnceAndEveryLineOfTheLog) {
  ask_is(R"(case $n in
    1 | 2) echo wait ;;
    3) printf 'first\nsec' > 7.log; echo run ;;
    4) printf 'ond\nlast' >> 7.log; echo run ;;
    *) echo end ;;
  esac)");
  const JobState state = follow();
  EXPECT_EQ(state.phase, JobState::Phase::failed);
  EXPECT_EQ(state.exit_code, 5);
  EXPECT_THAT(states_, ElementsAre("wait", "run", "end"));
  EXPECT_THAT(lines_, ElementsAre("first", "second", "last"));
  EXPECT_EQ(bytes_of(folder_ / "asked"), "7\n7\n7\n7\n7\n");
}

TEST_F(Follow, BearsThatAnEngineGivesNoAnswerForAWhile) {
  ask_is("case $n in 1) echo run ;; 2) echo 'controller is away' >&2; exit 1 ;; 3) ;; *) echo end ;; esac");
  EXPECT_EQ(follow().exit_code, 5);
  EXPECT_THAT(states_, ElementsAre("run", "end"));
}

TEST_F(Follow, EndsWithTheEnginesWordsWhereItStaysSilent) {
  ask_is("echo 'controller is away' >&2; exit 1");
  expect_error([&] { follow(); }, ExitCode::environment,
               StrEq("scripted does not say how job 7 is: controller is away"),
               HasSubstr("the job may go on; its results will be in " + folder_.path().string()));
}

TEST_F(Follow, NeedsNoLog) {
  engine_.log = nullptr;
  ask_is("echo end");
  EXPECT_EQ(follow().exit_code, 5);
  EXPECT_TRUE(lines_.empty());
}

TEST_F(Follow, FindsTheJobThatItHasSubmitted) {
  write_program(folder_ / "submit", "#!/bin/sh\necho \"job-of $1\"\n");
  EXPECT_EQ(submit_job(engine_, submission_, "/a b"), "job-of /a b");
}

TEST_F(Follow, RepeatsWhyNothingCouldBeSubmitted) {
  write_program(folder_ / "submit", "#!/bin/sh\nprintf 'error: no partition\\n\\nerror: failed\\n' >&2\nexit 1\n");
  expect_error([&] { submit_job(engine_, submission_, "/a"); }, ExitCode::environment,
               StrEq("error: no partition; error: failed"), StrEq(""));
  write_program(folder_ / "submit", "#!/bin/sh\nexit 4\n");
  expect_error([&] { submit_job(engine_, submission_, "/a"); }, ExitCode::environment,
               StrEq("it said nothing and ended with exit code 4"), StrEq(""));
  write_program(folder_ / "submit", "#!/bin/sh\n");
  expect_error([&] { submit_job(engine_, submission_, "/a"); }, ExitCode::environment,
               HasSubstr("does not say which job it made"), StrEq("what was submitted is /a"));
}

}  // namespace
}  // namespace hbench::submit_follow_test

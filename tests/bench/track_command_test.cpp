// A program of the user's own, tracked by hbench.toml: built, launched, stored, judged, bisected.

#include <fmt/format.h>

#include <csignal>

#include "analysis/store/store.hpp"
#include "collectives/base/file.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::track_command_test {
namespace {

/// A repository whose program prints the time that the file `time` has, and a little more each launch.
class TrackCommand : public testing::Test {
 protected:
  TrackCommand() {
    write_bytes(place_ / "source",
                "n=$(cat launches 2> /dev/null || echo 0); echo $((n + 1)) > launches\n"
                "echo \"$(cat time).$n ms a step\"\n");
    set_time(10);
    place_.shell("printf '%s\\n' launches program '*.db*' > .gitignore; git init -q -b main .");
    commit("begin");
  }
  void set_time(int milliseconds) { write_bytes(place_ / "time", fmt::format("{}\n", milliseconds)); }
  void commit(const std::string& what) {
    const Outcome outcome = place_.shell(
        "git add . && git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m '" + what + "'");
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  }
  void track(const std::string& entry) {
    write_bytes(place_ / "hbench.toml",
                "[track]\nlaunches = 10\nmax_launches = 20\n[[command]]\nname = \"train\"\n" + entry);
    commit("track");
  }
  Outcome launch() { return place_.run({"track", "run", "--quiet"}); }
  std::vector<CaseResult> newest() const {
    const Store store(place_ / "hbench.db", Store::Mode::read_only);
    return store.of_run(store.runs().back().id);
  }

  Workplace place_;
};

constexpr const char* kPattern =
    "run = \"sh program\"\nbuild = \"cp source program\"\n"
    "pattern = '([0-9.]+) ms a step'\nunit = \"ms\"\n";

TEST_F(TrackCommand, IsBuiltAndLaunchedIntoOneCase) {
  track(kPattern);
  const Outcome outcome = launch();
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Run 1: 1 case, 10 launches each"));
  const std::vector<CaseResult> cases = newest();
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].asked.benchmark, "train");
  ASSERT_EQ(cases[0].samples.size(), 10u);
  EXPECT_DOUBLE_EQ(cases[0].samples[3].value, 0.0103);
  EXPECT_EQ(cases[0].samples[3].launch, 3);
  EXPECT_NE(cases[0].asked.machine, "");
}

TEST_F(TrackCommand, ThatPrintsJsonHasACaseForEachOfItsFigures) {
  track("run = '''echo '{\"step_ms\": 12, \"tokens_per_s\": 9e3}' '''\n");
  ASSERT_EQ(launch().code, 0);
  const std::vector<CaseResult> cases = newest();
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].asked.benchmark, "train step_ms");
  EXPECT_EQ(cases[1].asked.benchmark, "train tokens_per_s");
}

// The slower commit is measured again before it is called slower, and bisect needs no flags: the file has them.
TEST_F(TrackCommand, IsCheckedConfirmedAndBisected) {
  track(kPattern);
  for (int run = 0; run < 6; ++run) {
    commit(fmt::format("good {}", run));
    place_.shell("rm -f launches");
    ASSERT_EQ(launch().code, 0);
  }
  set_time(13);
  commit("slow");
  const std::string slow = place_.shell("git rev-parse HEAD").out.substr(0, 12);
  for (int run = 0; run < 3; ++run) {
    commit(fmt::format("later {}", run));
    place_.shell("rm -f launches");
    ASSERT_EQ(launch().code, 0);
    if (run > 0) continue;
    const Outcome check = place_.run({"track", "check", "--quiet", "--wide"});
    EXPECT_EQ(check.code, 10) << check.out << check.err;
    EXPECT_THAT(check.out, AllOf(HasSubstr("train"), HasSubstr("confirmed by 10 launches")));
  }
  const Outcome bisect = place_.run({"track", "bisect", "--run", "--quiet"});
  EXPECT_EQ(bisect.code, 0) << bisect.out << bisect.err;
  EXPECT_THAT(bisect.out, HasSubstr(slow + " is the first bad commit: slow"));
}

TEST_F(TrackCommand, ThatIsNotUnderstoodStoresNothing) {
  struct Mistake {
    std::string entry;
    const char* what;
  };
  for (const Mistake& mistake : {
           Mistake{"run = \"true\"\n", "the output of hbench.toml:4: run: it is empty"},
           Mistake{"run = \"echo hello\"\n", "nothing known has this format"},
           Mistake{"run = \"./nothing-here\"\n", "run './nothing-here': no such command"},
           Mistake{"run = \"echo 1 ms; echo 2 ms\"\npattern = '([0-9]+) ms'\nunit = \"ms\"\n",
                   "the pattern finds 2 numbers: 1 in line 1, 2 in line 2"},
           Mistake{"run = \"echo nan ms\"\npattern = '(\\w+) ms'\nunit = \"ms\"\n",
                   "'nan' is no finite number above 0"},
           Mistake{"run = \"echo 1 ms\"\npattern = '([0-9]+) ms'\nunit = \"parsecs\"\n", "unit 'parsecs' is neither"},
           Mistake{"run = \"echo 1\"\nunit = \"ms\"\n", "--unit requires --pattern"},
           Mistake{"run = [\"echo\", \"1\"]\n", "'run' is one text"},
           Mistake{"run = \"echo 1\"\npattern = '" + std::string(5000, '(') + "'\nunit = \"ms\"\n",
                   "a pattern of 5000 characters"},
           Mistake{"build = \"true\"\n", "a command without 'run'"},
           Mistake{"run = \"echo\"\nlaunches = 3\n", "--launches"},
       }) {
    track(mistake.entry);
    const Outcome outcome = launch();
    EXPECT_EQ(outcome.code, 2) << mistake.entry << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("hbench.toml:"), HasSubstr(mistake.what)));
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_TRUE(Store(place_ / "hbench.db", Store::Mode::read_only).runs().empty());
}

TEST_F(TrackCommand, ThatPrintsWithoutEndIsStopped) {
  track("run = \"yes 'step 1 of 2: loss 3.14'\"\n");
  const Outcome outcome = launch();
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("printed more than 16 MiB and was stopped"));
}

TEST_F(TrackCommand, OfAProgramThatIsKilledIsEndedWithAllItHasStarted) {
  track("run = \"sleep 1000 & echo $! > sleeper; echo $$ > shell; sleep 1000; true\"\n");
  Sweeping run(place_, {"track", "run", "--quiet"});
  place_.shell("for i in $(seq 1000); do [ -s shell ] && break; sleep 0.02; done");
  const std::vector<pid_t> started{std::stoi(bytes_of(place_ / "sleeper")), std::stoi(bytes_of(place_ / "shell"))};
  ASSERT_TRUE(lives(started[0]) && lives(started[1]));
  kill(run.pid(), SIGKILL);
  EXPECT_TRUE(all_die(started));
}

TEST_F(TrackCommand, WhoseBuildFailsSaysSo) {
  track("run = \"echo 1\"\nbuild = \"echo no compiler >&2; exit 3\"\n");
  const Outcome outcome = launch();
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("build 'echo no compiler >&2; exit 3' ended with exit code 3"),
                                 HasSubstr("no compiler")));
}

TEST_F(TrackCommand, ThatFailsLaterIsAFailedCase) {
  track("run = \"sh source; [ $(cat launches) -lt 3 ]\"\npattern = '([0-9.]+) ms a step'\nunit = \"ms\"\n");
  const Outcome outcome = launch();
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  const std::vector<CaseResult> cases = newest();
  ASSERT_FALSE(cases.empty());
  EXPECT_EQ(cases.back().status, CaseStatus::failed) << "beside the launches that went well";
  EXPECT_THAT(cases.back().failure, HasSubstr("ended with exit code 1"));
  EXPECT_EQ(place_.run({"track", "check", "--quiet"}).code, 5);
}

TEST_F(TrackCommand, ThatChangesItsUnitIsRefused) {
  track(
      "run = '''sh source > /dev/null; [ $(cat launches) -lt 3 ] && u=ms || u=images/s; "
      "echo \"{\\\"step\\\": 3, \\\"unit\\\": \\\"$u\\\"}\"'''\n");
  const Outcome outcome = launch();
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("launch 3 prints train step in images/s, and one before it in s"));
}

TEST_F(TrackCommand, IsWrittenIntoANewFileByInit) {
  const Outcome outcome = place_.run({"track", "init", "--build", "cp source program", "--pattern",
                                      "([0-9.]+) ms a step", "--unit", "ms", "--", "sh", "./program"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Wrote hbench.toml: 'sh ./program', which prints\n  program: 10 ms"),
                                 HasSubstr("Next: hbench track run")));
  EXPECT_EQ(launch().code, 0);
  const Outcome unknown = place_.run({"track", "init", "--force", "--", "echo", "hello"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("nothing known has this format"));
}

}  // namespace
}  // namespace hbench::track_command_test

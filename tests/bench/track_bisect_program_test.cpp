// hbench track bisect in a repository of its own, whose program is a shell's script that prints its time.

#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "analysis/points/tracked_metric.hpp"
#include "analysis/store/store.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::track_bisect_program_test {
namespace {

/// Twelve commits `c0` to `c11`; the program is copied to `program` by the build, and takes 10 ms up to `c6` and 11 ms
/// from `c7` on.
class TrackBisect : public testing::Test {
 protected:
  void SetUp() override {
    shell(
        "git init -q -b main . && git config user.name tester && git config user.email tester@example.org && "
        "mkdir folder && touch folder/file && printf 'program\\n.out\\n.err\\nt.db*\\n' > .gitignore && "
        "for i in 0 1 2 3 4 5 6 7 8 9 10 11; do "
        "  if [ $i -lt 7 ]; then ms=10; else ms=11; fi; "
        "  echo \"echo '{\\\"step_ms\\\": $ms}' # $i\" > source; git add -A; git commit -q -m \"change c$i\"; "
        "done");
    std::istringstream names(shell("git rev-list --reverse HEAD").out);
    for (std::string name; std::getline(names, name);) commits_.push_back(name);
    ASSERT_EQ(commits_.size(), 12U);
  }

  Outcome shell(const std::string& script) const {
    Outcome outcome = workplace_.shell(script);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome;
  }

  /// Nights on which some of the commits were measured, three runs each.
  void add_nights(const std::vector<std::size_t>& measured) const { add_nights(measured, commits_); }
  void add_nights(const std::vector<std::size_t>& measured, const std::vector<std::string>& names) const {
    Store store(workplace_ / "t.db");
    for (const std::size_t commit : measured)
      for (int night = 0; night < 3; ++night) {
        CaseResult result;
        result.asked.evidence = Evidence::measured;
        result.asked.profile = kLocalProfile;
        result.asked.benchmark = "step_ms";
        for (int launch = 0; launch < 5; ++launch)
          result.samples.push_back({.launch = launch,
                                    .metric = std::string(metric::kBenchmarkSeconds),
                                    .value = (commit < 7 ? 0.010 : 0.011) * (1 + 0.001 * launch),
                                    .unit = "s"});
        store.append(store.begin_run({.command = "nightly",
                                      .version = "1",
                                      .started_at = fmt::format("2026-11-{:02}T0{}:00:00Z", commit + 1, night),
                                      .environment = {},
                                      .labels = {{"branch", "main"}, {"commit", names[commit]}}}),
                     result);
      }
  }

  Outcome bisect(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"track", "bisect", "--db", "t.db"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workplace_.run(arguments);
  }
  Outcome drive(const std::string& build, const std::string& measure, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"--run", "--build", build, "--measure", measure};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return bisect(arguments);
  }
  void expect_as_before() const {
    EXPECT_EQ(shell("git symbolic-ref --short HEAD").out, "main\n");
    EXPECT_EQ(shell("git status --porcelain").out, "");
    EXPECT_EQ(shell("git worktree list | wc -l").out, "1\n");
    EXPECT_EQ(shell("git for-each-ref refs/bisect").out, "");
    EXPECT_EQ(shell("git bisect log 2>&1 | grep -c start || true").out, "0\n");
  }

  Workplace workplace_;
  std::vector<std::string> commits_;
};

constexpr const char* kBuild = "cp source program";
constexpr const char* kMeasure = "sh ./program";

TEST_F(TrackBisect, NamesTheFirstBadCommit) {
  add_nights({0, 2, 10, 11});
  const Outcome outcome = drive(kBuild, kMeasure, {"--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json.at("good"), commits_[2]);
  EXPECT_EQ(json.at("bad"), commits_[10]);
  EXPECT_EQ(json.at("first_bad").at("commit"), commits_[7]);
  EXPECT_EQ(json.at("first_bad").at("subject"), "change c7");
  // The bad commit itself, and of the eight from c3 to c10 three.
  EXPECT_EQ(json.at("steps").size(), 4);
  EXPECT_NEAR(json.at("steps").at(0).at("shift"), 0.1, 1e-9);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("pass: step_ms: less than 5"), HasSubstr("regressed: step_ms: +10.0 %")));
  expect_as_before();
}

// The commit before the first bad one cannot be built: either may be it.
TEST_F(TrackBisect, SkipsWhatCannotBeBuilt) {
  add_nights({0, 2, 10, 11});
  const Outcome outcome = drive("grep -q '# 6' source && exit 1; cp source program", kMeasure);
  EXPECT_EQ(outcome.code, 11) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("One of 2 commits is the first bad one"),
                                 HasSubstr(commits_[6].substr(0, 12)), HasSubstr(commits_[7].substr(0, 12))));
  EXPECT_THAT(
      outcome.err,
      HasSubstr("inconclusive: --build 'grep -q '# 6' source && exit 1; cp source program' ended with exit code 1"));
  expect_as_before();
}

TEST_F(TrackBisect, SkipsWhatCannotBeMeasured) {
  add_nights({0, 2, 10, 11});
  const Outcome outcome = drive(kBuild, "grep -q '# 5' program && exit 3; sh ./program");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(commits_[7].substr(0, 12) + " is the first bad commit: change c7"));
  expect_as_before();
}

TEST_F(TrackBisect, SaysWhereTheEndsOfTheRangeDoNotDifferHere) {
  add_nights({0, 2, 10, 11});
  const Outcome outcome = drive(kBuild, R"(echo '{"step_ms": 10}')");
  EXPECT_EQ(outcome.code, 11) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("is not slower than " + commits_[2].substr(0, 12) + " here"));
  expect_as_before();
}

TEST_F(TrackBisect, NeedsNoSearchAmongOneCommit) {
  add_nights({5, 6, 7, 8});
  const Outcome outcome = drive(kBuild, kMeasure, {"--quiet"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("is the first bad commit: change c7"));
  EXPECT_EQ(outcome.err, "");
  expect_as_before();
}

// The commands do what --run does, with git's own git bisect run.
TEST_F(TrackBisect, PrintsCommandsThatFindTheCommit) {
  add_nights({0, 2, 10, 11});
  const Outcome printed = bisect({"--build", kBuild, "--measure", kMeasure});
  EXPECT_EQ(printed.code, 0) << printed.err;
  write_bytes(workplace_ / "t.db.sh", printed.out);
  const Outcome outcome = shell("PATH=$(dirname $HBENCH):$PATH; . ./t.db.sh");
  EXPECT_THAT(outcome.out, HasSubstr(commits_[7] + " is the first bad commit"));
  expect_as_before();
  EXPECT_THAT(bisect().out,
              AllOf(HasSubstr("your commands take the place of BUILD and MEASURE"), HasSubstr("(BUILD) || exit 125")));
}

TEST_F(TrackBisect, WorksInAFolderOfTheRepository) {
  add_nights({0, 2, 10, 11});
  const Outcome outcome = shell(
      "cd folder && $HBENCH track bisect --db ../t.db --run --build 'cp ../source program' --measure 'sh ./program'");
  EXPECT_THAT(outcome.out, HasSubstr("is the first bad commit: change c7"));
  expect_as_before();
}

TEST_F(TrackBisect, SaysWhatIsInItsWay) {
  add_nights({0, 2, 10, 11});
  expect_mistake(drive("exit 7", kMeasure, {"--quiet"}), 2,
                 "--build 'exit 7' ended with exit code 7 at the good commit", "");
  const Outcome words = drive(kBuild, "echo nothing", {"--quiet"});
  EXPECT_EQ(words.code, 2);
  EXPECT_THAT(words.err, HasSubstr("the output of --base: nothing known has this format"));
  shell("echo more >> source");
  expect_mistake(drive(kBuild, kMeasure), 2, "has changes that are not committed", "git stash");
  shell("git checkout -q source && git bisect start");
  expect_mistake(drive(kBuild, kMeasure), 2, "is being bisected already", "git bisect reset");
  shell("git bisect reset");
  expect_as_before();
  expect_mistake(bisect({"--run"}), 2, "--run needs --build", "[[command]]");
}

TEST_F(TrackBisect, WantsTheRepositoryOfWhatWasMeasured) {
  add_nights({0, 2, 10, 11}, std::vector<std::string>(12, "0123456789012345678901234567890123456789"));
  EXPECT_EQ(bisect().code, 2) << "all runs are of one commit";
  std::vector<std::string> unknown = commits_;
  unknown[2] = "0123456789012345678901234567890123456789";
  shell("rm -f t.db*");
  add_nights({0, 2, 10, 11}, unknown);
  expect_mistake(drive(kBuild, kMeasure), 2, "does not know the commit 0123456789", "git fetch --unshallow");
  shell("rm -rf .git");
  expect_mistake(drive(kBuild, kMeasure), 2, "this folder is in no git repository", "go to the repository");
}

TEST_F(TrackBisect, LeavesTheRepositoryAsItWasWhenItIsInterrupted) {
  add_nights({0, 2, 10, 11});
  Sweeping driving(workplace_, {"track", "bisect", "--db", "t.db", "--run", "--build", kBuild, "--measure",
                                "grep -q '# 10' program && echo $$ > t.db.pid && sleep 60; sh ./program"});
  while (!std::filesystem::exists(workplace_ / "t.db.pid") || bytes_of(workplace_ / "t.db.pid").empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const pid_t measured = std::stoi(bytes_of(workplace_ / "t.db.pid"));
  kill(driving.pid(), SIGINT);
  const Outcome outcome = driving.wait();
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("It was interrupted"));
  EXPECT_TRUE(all_die({measured}));
  expect_as_before();
}

}  // namespace
}  // namespace hbench::track_bisect_program_test

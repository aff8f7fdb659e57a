// hbench track bisect: the range that it takes from histories, and the commands that it prints.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "analysis/track/history.hpp"
#include "bench/track/bisect.hpp"
#include "bench/track/git.hpp"
#include "collectives/base/text.hpp"
#include "reports/formats/formats.hpp"
#include "reports/track/history.hpp"
#include "tests/bench/tracked_database.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::track_bisect_test {
namespace {

/// Runs 1, 2, 3 ... of these commits, with new levels at some of them.
CaseHistory history_of(const std::string& name, const std::vector<std::string>& commits,
                       const std::vector<LevelChange>& changes) {
  CaseHistory known{.name = name, .question = name, .place = "here"};
  for (const std::string& commit : commits) {
    HistoryPoint point{.producer = {}, .value = 1, .values = {1}};
    point.producer.run = std::ssize(known.points) + 1;
    if (!commit.empty()) point.producer.labels["commit"] = commit;
    known.points.push_back(point);
  }
  known.changes = changes;
  return known;
}

LevelChange change(std::size_t first, double shift) { return {.first = first, .shift = shift, .interval = {}}; }

TEST(BisectRange, IsOfTheNewestChangeForTheWorse) {
  const std::vector<std::string> commits{"a", "b", "c", "d", "e"};
  const BisectRange range = bisect_range({history_of("old", commits, {change(1, 0.1)}),
                                          history_of("new", commits, {change(1, 0.2), change(3, 0.05)}),
                                          history_of("faster", commits, {change(4, -0.1)})});
  EXPECT_EQ(range.name, "new");
  EXPECT_EQ(range.good, "c");
  EXPECT_EQ(range.bad, "d");
  EXPECT_EQ(range.shift, 0.05);
}

TEST(BisectRange, TurnsTheDirectionOfRates) {
  CaseHistory rate = history_of("tokens", {"a", "b", "c"}, {change(1, -0.1), change(2, 0.1)});
  rate.larger_is_worse = false;
  EXPECT_EQ(bisect_range({rate}).bad, "b");
}

TEST(BisectRange, SaysWhyThereIsNone) {
  expect_error(
      [] {
        bisect_range({history_of("vgg16", {"a", "b"}, {change(1, -0.1)})});
      },
      ExitCode::usage, "none of 1 case has become slower",
      "hbench track check judges the newest run; hbench track history shows levels, of three runs at least");
  expect_error(
      [] {
        bisect_range({history_of("vgg16", {"a", ""}, {change(1, 0.1)})});
      },
      ExitCode::usage, "run 2 does not tell its commit", "measure with --label commit=$(git rev-parse HEAD)");
  for (const char* commit : {"$(touch ./pwned)", "a;touch ./pwned2", "-x", "a b", "a`b`", "a'b", "a|b", "a\nb"})
    expect_error(
        [&] {
          bisect_range({history_of("vgg16", {"a", commit}, {change(1, 0.1)})});
        },
        ExitCode::usage, HasSubstr("the commit of run 2 is '"), "measure with --label commit=$(git rev-parse HEAD)");
  expect_error(
      [] {
        bisect_range({history_of("vgg16", {"a", "a"}, {change(1, 0.1)})});
      },
      ExitCode::usage, "vgg16 has become slower between runs 1 and 2, which are of the same commit",
      "it is not the code: look for what else has changed (hbench doctor)");
}

using BisectOfARun = TrackedDatabase;

TEST_F(BisectOfARun, TakesWhatACheckHasFoundBeforeItIsALevel) {
  const auto add = [&](const char* commit, double seconds) {
    add_run({{"branch", "main"}, {"commit", commit}}, {answer(step_of("vgg16"), seconds)});
  };
  for (const char* commit : {"a1", "a2", "a3", "a4", "a5", "a6"}) add(commit, 0.1);
  add("bad", 0.11);
  expect_error(
      [&] {
        run({"--measure", "true"}, "bisect");
      },
      ExitCode::usage, "none of 1 case has become slower",
      "hbench track check judges the newest run; hbench track history shows levels, of three runs at least");
  EXPECT_EQ(run({}), ExitCode::regressed);
  EXPECT_EQ(run({"--measure", "true"}, "bisect"), ExitCode::good);
  EXPECT_THAT(printed_, HasSubstr("+10.0 % between a6 and bad"));
  add("worse", 0.11);
  EXPECT_EQ(run({}), ExitCode::regressed);
  EXPECT_EQ(run({"--measure", "true"}, "bisect"), ExitCode::good);
  EXPECT_THAT(printed_, HasSubstr("between a6 and bad")) << "it began with the first of them";
}

TEST_F(BisectOfARun, DatesAChangeByItsLevelWhicheverOfItsRunsWereChecked) {
  const auto add = [&](const char* commit, double seconds) {
    add_run({{"branch", "main"}, {"commit", commit}}, {answer(step_of("vgg16"), seconds)});
  };
  for (const char* commit : {"a1", "a2", "a3", "a4", "a5", "a6"}) add(commit, 0.1);
  for (const char* commit : {"b1", "b2", "b3", "b4"}) add(commit, 0.2);
  EXPECT_EQ(run({"--measure", "true"}, "bisect"), ExitCode::good);
  EXPECT_THAT(printed_, HasSubstr("between a6 and b1"));
  EXPECT_EQ(run({}), ExitCode::regressed);
  EXPECT_EQ(run({"--measure", "true"}, "bisect"), ExitCode::good);
  EXPECT_THAT(printed_, HasSubstr("between a6 and b1"));
}

TEST_F(BisectOfARun, NeedsRunForItsJson) {
  add_run("main", {answer(step_of("vgg16"), 0.1)});
  expect_error([&] { run({"--json"}, "bisect"); }, ExitCode::usage, "--json needs --run",
               "without --run it prints commands, and measures nothing");
}

TEST_F(BisectOfARun, PrintsTheNameOfACaseOnOneLine) {
  const Case asked = step_of("x\ntouch pwned; echo \x1b[31m");
  for (const char* commit : {"a1", "a2", "a3", "a4", "a5", "a6", "b1", "b2", "b3", "b4"})
    add_run({{"branch", "main"}, {"commit", commit}}, {answer(asked, commit[0] == 'a' ? 0.1 : 0.2)});
  EXPECT_EQ(run({"--measure", "true"}, "bisect"), ExitCode::good);
  EXPECT_THAT(printed_, HasSubstr("\n# x touch pwned; echo  [31m"));
}

TEST(BisectCommands, HaveEachNameOfACommitAsOneWord) {
  const std::string commands = bisect_commands(
      {.range = {.name = "step", .good = "v1^{}", .bad = "main@{1}", .shift = 0.1}, .measure = "./b"}, "../good");
  EXPECT_THAT(commands, AllOf(HasSubstr("git worktree add --detach ../good \"v1^{}\"\n"),
                              HasSubstr("git bisect start \"main@{1}\" \"v1^{}\"\n")));
}

// Half of 10 % is as far from 0 as from 10.
TEST(BisectCommands, HoldCommitsToTheGoodOneByHalfOfTheChange) {
  BisectRequest request{.range = {.name = "step", .good = "c0ffee", .bad = "badbad", .shift = 0.1}};
  request.build.text = "make -j2";
  request.measure.text = "./bench 'two words'";
  request.metric = "step_ms";
  request.launches = 14;
  EXPECT_EQ(bisect_commands(request, "../app-good"),
            "git worktree add --detach ../app-good c0ffee\n"
            "(cd ../app-good && (make -j2))\n"
            "git bisect start badbad c0ffee\n"
            "git bisect run sh -c '(make -j2) || exit 125\n"
            "hbench track pair --fail-on inconclusive --least-effect 5% --base \"cd ../app-good || exit; ./bench "
            "'\\''two words'\\''\" --head \"./bench '\\''two words'\\''\" --metric step_ms --launches 14\n"
            "case $? in 0) exit 0 ;; 10) exit 1 ;; *) exit 125 ;; esac'\n"
            "git bisect reset\n"
            "git worktree remove --force ../app-good\n");
  request.range.shift = -0.06;
  EXPECT_EQ(request.least_effect(), 0.03);
}

TEST(ShellWord, IsQuotedOnlyWhereItMustBe) {
  EXPECT_EQ(shell_word("./build/bench-1"), "./build/bench-1");
  EXPECT_EQ(shell_word("a b; c"), "\"a b; c\"");
  EXPECT_EQ(shell_word("$(rm x)"), "'$(rm x)'");
  EXPECT_EQ(shell_word("it's $x"), "'it'\\''s $x'");
  EXPECT_EQ(shell_word(""), "\"\"");
  EXPECT_EQ(shell_word("*"), "\"*\"");
}

TEST(BisectDocument, NamesTheCommitOrThoseThatAreLeft) {
  BisectReport report{.range = {.name = "step", .good = "c0ffee", .bad = "badbad", .shift = 0.1}};
  report.steps = {
      {.commit = "badbad", .subject = "<b>slow|er</b>", .answer = TrackVerdict::regressed, .reason = "why"}};
  report.first_bad = {"badbad"};
  report.subjects = {"<b>slow|er</b>"};
  const std::string page = kMarkdownFormat.render(bisect_document(report));
  EXPECT_THAT(page, AllOf(HasSubstr("badbad is the first bad commit"), HasSubstr("+10.0 %"), Not(HasSubstr("<b>"))));
  const auto json = nlohmann::json::parse(bisect_json(report));
  EXPECT_EQ(json.at("first_bad").at("commit"), "badbad");
  EXPECT_EQ(json.at("steps").at(0).at("answer"), "regressed");
  EXPECT_TRUE(json.at("steps").at(0).at("shift").is_null());
  report.first_bad = {"badbad", "abcdef"};
  report.subjects = {"one", "two"};
  EXPECT_THAT(kMarkdownFormat.render(bisect_document(report)), HasSubstr("One of 2 commits is the first bad one"));
  EXPECT_TRUE(nlohmann::json::parse(bisect_json(report)).at("first_bad").is_null());
  EXPECT_EQ(nlohmann::json::parse(bisect_json(report)).at("suspects").size(), 2);
}

}  // namespace
}  // namespace hbench::track_bisect_test

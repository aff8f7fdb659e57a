// What a run can be held to beside a branch, and how verdicts are kept.

#include "analysis/track/report.hpp"
#include "tests/bench/tracked_database.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::track_baselines_test {
namespace {

using TrackBaselines = TrackedDatabase;

TEST_F(TrackBaselines, StayWhereTheyAreFrozen) {
  add_history(6, {step_of("vgg16")});
  EXPECT_EQ(run({}, "freeze"), ExitCode::good);
  EXPECT_EQ(printed_, "Nothing is frozen. hbench track freeze NAME freezes the newest runs of a branch.\n");
  EXPECT_EQ(run({"v2.1"}, "freeze"), ExitCode::good);
  EXPECT_EQ(printed_, "Froze 6 runs as v2.1.\n");
  // What creeps is not seen against the branch, and is against what was frozen.
  for (double seconds : {0.102, 0.102, 0.102, 0.102, 0.102, 0.102, 0.104, 0.104, 0.104, 0.104, 0.104, 0.104})
    add_run("main", {answer(step_of("vgg16"), seconds)});
  const std::string file = (folder_ / "hbench.toml").string();
  write_bytes(file, "[track]\nmax_runs = 6\n");
  EXPECT_EQ(run({"--file", file}), ExitCode::good);
  EXPECT_EQ(run({"--baseline", "v2.1"}), ExitCode::regressed);
  EXPECT_THAT(printed_, HasSubstr("against 6 runs of the frozen baseline v2.1"));
  EXPECT_EQ(run({"--baseline", "frozen:v2.1"}), ExitCode::regressed);
  EXPECT_EQ(run({}, "freeze"), ExitCode::good);
  EXPECT_THAT(printed_, HasSubstr("v2.1: 6 runs, 1 to 6, frozen 2"));
  EXPECT_EQ(run({"v2.1", "--run", "18", "--run", "17"}, "freeze"), ExitCode::good);
  write_bytes(file, "[track]\nmin_runs = 1\n");
  EXPECT_EQ(run({"--baseline", "v2.1", "--file", file}), ExitCode::good);
  EXPECT_EQ(run({"v2.1", "--remove"}, "freeze"), ExitCode::good);
  EXPECT_EQ(run({"--baseline", "v2.1"}), ExitCode::not_comparable) << "a branch that no run has";
}

TEST_F(TrackBaselines, SayWhichOneIsMeantWhereNamesAreEqual) {
  const auto refused = [&](std::vector<std::string> arguments, const char* action, const char* what, const char* hint) {
    expect_error([&] { run(std::move(arguments), action); }, ExitCode::usage, what, hint);
  };
  add_history(6, {step_of("vgg16")});
  refused({"--baseline", "frozen:main"}, "check", "--baseline frozen:main: nothing is frozen",
          "hbench track freeze NAME");
  run({"main"}, "freeze");
  refused({}, "check", "--baseline main: there are a frozen baseline and a branch main",
          "write frozen:main or branch=main");
  EXPECT_EQ(run({"--baseline", "branch=main"}), ExitCode::good);
  refused({"--baseline", "frozen:mian"}, "check", "no frozen baseline 'mian'; did you mean 'main'?", "known: main");
  refused({"x", "--run", "99"}, "freeze", "--run 99: there is no such run", "the newest is 6");
  refused({"--remove"}, "freeze", "no name to freeze or to forget", "give it, such as hbench track freeze v2.1");
  refused({"x", "--run", "6", "--baseline", "main"}, "freeze", "--run and --baseline both say which runs are frozen",
          "give one of the two");
  refused({"x", "--baseline", "nobody"}, "freeze", "no run has branch=nobody",
          "name another --baseline, or runs with --run");
  refused({"x", "--remove"}, "freeze", "no runs are frozen as 'x'", "hbench track freeze lists them");
}

TEST_F(TrackBaselines, MayBeInAnotherDatabase) {
  add_history(6, {step_of("vgg16")});
  std::filesystem::rename(file_, folder_ / "nightly.db");
  add_run("topic", {answer(step_of("vgg16"), 0.106)});
  EXPECT_EQ(run({}), ExitCode::not_comparable);
  const std::string nightly = (folder_ / "nightly.db").string();
  EXPECT_EQ(run({"--baseline-db", nightly}), ExitCode::regressed);
  EXPECT_THAT(printed_, HasSubstr("against 6 runs with branch=main"));
  EXPECT_EQ(Store(file_, Store::Mode::read_only).judgements(1).back().verdicts[0].verdict, "regressed");
}

// A run that measured a part of what is tracked lacks nothing that only whole runs have.
TEST_F(TrackBaselines, OfAGateMissNothingThatItDoesNotMeasure) {
  add_history(6, {step_of("vgg16"), step_of("resnet18")});
  const auto add_of_gate = [&](const std::string& branch) {
    Store store(file_);
    const std::int64_t run = store.begin_run({.command = "hbench track run",
                                              .version = "0.1.0",
                                              .started_at = "2026-11-23T00:00:00Z",
                                              .environment = {},
                                              .labels = {{"branch", branch}, {"gate", "quick"}}});
    store.append(run, answer(step_of("vgg16"), 0.1));
  };
  add_of_gate("topic");
  EXPECT_EQ(checked().results.size(), 1U);
  add_run("topic", {answer(step_of("vgg16"), 0.1)});
  EXPECT_EQ(checked().count(TrackVerdict::missing), 1U) << "a whole run that lacks one";
  add_of_gate("main");
  add_run("topic", {answer(step_of("vgg16"), 0.1)});
  EXPECT_EQ(checked().count(TrackVerdict::missing), 1U) << "of the newest whole run, not of the newest run";
}

TEST_F(TrackBaselines, CanBeValuesThatSomebodyWroteDown) {
  add_run("new-cluster", {answer(step_of("vgg16"), 0.1)});
  TrackRequest request;
  request.limits = {
      {.match = "VGG16, 2 ranks", .value = 0.09, .worse = 0.05, .place = "hbench.toml:3"},
      {.match = "vgg16", .metric = LimitMetric::samples_per_second, .value = 315, .place = "hbench.toml:6"},
      {.match = "vgg19", .value = 1, .place = "hbench.toml:9"}};
  const TrackReport report = checked(request);
  ASSERT_EQ(report.results.size(), 3U) << "the case itself, and two limits on it";
  EXPECT_EQ(report.results[0].judgement.verdict, TrackVerdict::fresh);
  EXPECT_EQ(report.results[1].judgement.verdict, TrackVerdict::regressed);
  EXPECT_EQ(report.results[1].sides.name, "vgg16, 2 ranks, ring, batch 16 (limit)");
  EXPECT_EQ(report.results[2].judgement.verdict, TrackVerdict::pass) << "2 x 16 samples in 0.1 s are 320/s";
  EXPECT_THAT(report.notes, ElementsAre("No case has 'vgg19' in its name, for which hbench.toml:9 has a limit."));
  EXPECT_EQ(report.exit_code(), ExitCode::regressed);
}

TEST_F(TrackBaselines, AreHeldToARuleThatTheCheckStates) {
  add_history(6, {step_of("vgg16"), step_of("resnet18")});
  add_run("topic", {answer(step_of("vgg16"), 0.106), answer(step_of("resnet18"), 0.1)});
  EXPECT_EQ(run({"--least-effect", "4%"}), ExitCode::regressed);
  EXPECT_THAT(printed_, AllOf(HasSubstr("How it was judged: the change is +6.0 %"), HasSubstr("4 % at least"),
                              HasSubstr("5 launches of the head decide, and 5 further ones")));
}

TEST_F(TrackBaselines, AreWrittenOnlyWhereTheVerdictsAreKept) {
  add_history(6, {step_of("vgg16")});
  Store(file_).runs();
  TrackReport report = checked();
  EXPECT_EQ(report.results[0].id, 0);
  Store store(file_);
  keep_verdicts(store, report, HBENCH_VERSION, "2026-11-23T00:00:00Z");
  EXPECT_GT(report.results[0].id, 0);
  EXPECT_EQ(store.judgements(6).size(), 1U);
}

TEST(RuleJson, NamesEveryPartOfTheRule) {
  const TrackRule rule{.least_effect = 0.07,
                       .level = 0.02,
                       .spread = 3,
                       .most_runs = 9,
                       .fewest_runs = 2,
                       .launches = 4,
                       .confirming = 0};
  EXPECT_EQ(rule_json(rule), R"({"least_effect":0.07,"level":0.02,"spread":3.0,"most_runs":9,"fewest_runs":2,)"
                             R"("launches":4,"confirming":0})");
}

}  // namespace
}  // namespace hbench::track_baselines_test

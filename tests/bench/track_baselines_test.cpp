// What a run can be held to beside a branch, and how verdicts are kept and explained.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "analysis/track/explain.hpp"
#include "analysis/track/rule_json.hpp"
#include "tests/bench/tracked_database.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using TrackBaselines = TrackedDatabase;
using TrackExplain = TrackedDatabase;

TEST_F(TrackBaselines, StayWhereTheyAreFrozen) {
  add_history(6, {step_of("vgg16")});
  EXPECT_EQ(run({}, "freeze"), ExitCode::good);
  EXPECT_THAT(printed_, HasSubstr("Nothing is frozen"));
  EXPECT_EQ(run({"v2.1"}, "freeze"), ExitCode::good);
  EXPECT_EQ(printed_, "Froze 6 runs as v2.1.\n");
  // What creeps is not seen against the branch, and is against what was frozen.
  for (double seconds : {0.102, 0.102, 0.102, 0.102, 0.102, 0.102, 0.104, 0.104, 0.104, 0.104, 0.104, 0.104})
    add_run("main", {answer(step_of("vgg16"), seconds)});
  EXPECT_EQ(run({"--max-runs", "6"}), ExitCode::good);
  EXPECT_EQ(run({"--baseline", "v2.1"}), ExitCode::regressed);
  EXPECT_THAT(printed_, HasSubstr("against 6 runs of the frozen baseline v2.1"));
  EXPECT_EQ(run({"--baseline", "frozen:v2.1"}), ExitCode::regressed);
  EXPECT_EQ(run({}, "freeze"), ExitCode::good);
  EXPECT_THAT(printed_, HasSubstr("v2.1: 6 runs, 1 to 6, frozen 2"));
  EXPECT_EQ(run({"v2.1", "--run", "18", "--run", "17"}, "freeze"), ExitCode::good);
  EXPECT_EQ(run({"--baseline", "v2.1", "--min-runs", "1"}), ExitCode::good);
  EXPECT_EQ(run({"v2.1", "--remove"}, "freeze"), ExitCode::good);
  EXPECT_EQ(run({"--baseline", "v2.1"}), ExitCode::not_comparable) << "a branch that no run has";
}

TEST_F(TrackBaselines, SayWhichOneIsMeantWhereNamesAreEqual) {
  const auto refused = [&](std::vector<std::string> arguments, const char* action, const char* what, const char* hint) {
    expect_error([&] { run(std::move(arguments), action); }, ExitCode::usage, HasSubstr(what), HasSubstr(hint));
    testing::internal::GetCapturedStdout();
  };
  add_history(6, {step_of("vgg16")});
  refused({"--baseline", "frozen:main"}, "check", "nothing is frozen", "freeze NAME");
  run({"main"}, "freeze");
  refused({}, "check", "there are a frozen baseline and a branch main", "frozen:main or branch=main");
  EXPECT_EQ(run({"--baseline", "branch=main"}), ExitCode::good);
  refused({"--baseline", "frozen:mian"}, "check", "no frozen baseline 'mian'; did you mean 'main'?", "main");
  refused({"x", "--run", "99"}, "freeze", "--run 99: there is no such run", "the newest is 6");
  refused({"x", "--baseline", "nobody"}, "freeze", "no run has branch=nobody", "--run");
  refused({"x", "--remove"}, "freeze", "no runs are frozen as 'x'", "lists them");
}

TEST_F(TrackBaselines, MayBeInAnotherDatabase) {
  add_history(6, {step_of("vgg16")});
  std::filesystem::rename(file_, folder_ / "nightly.db");
  add_run("topic", {answer(step_of("vgg16"), 0.106)});
  EXPECT_EQ(run({}), ExitCode::not_comparable);
  const std::string nightly = (folder_ / "nightly.db").string();
  EXPECT_EQ(run({"--baseline-db", nightly}), ExitCode::regressed);
  EXPECT_THAT(printed_, HasSubstr("against 6 runs with branch=main"));
  const Store store(file_, Store::Mode::read_only), others(nightly, Store::Mode::read_only);
  const std::int64_t verdict = store.judgements(1).back().verdicts[0].id;
  EXPECT_EQ(explain(store, verdict).lost, 6U);
  EXPECT_FALSE(explain(store, verdict).again);
  EXPECT_EQ(explain(store, verdict, &others).again->verdict, TrackVerdict::regressed);
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
  EXPECT_THAT(report.notes,
              testing::ElementsAre("No case has 'vgg19' in its name, for which hbench.toml:9 has a limit."));
  EXPECT_EQ(report.exit_code(), ExitCode::regressed);
}

// An index that was damaged is not the index of its table.
TEST_F(TrackExplain, RefusesAVerdictThatItsJudgementHasNot) {
  add_history(6, {step_of("vgg16")});
  add_run("topic", {answer(step_of("vgg16"), 0.106)});
  EXPECT_EQ(run({}), ExitCode::regressed);
  run_sql(file_,
          "PRAGMA writable_schema = ON;"
          "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'judgement_of_run') "
          "WHERE name = 'verdict_of_judgement'");
  expect_error([&] { explain(Store(file_, Store::Mode::read_only), 1); }, ExitCode::wrong_data, HasSubstr("verdict 1"),
               HasSubstr("db check"));
}

TEST_F(TrackExplain, GivesAVerdictAgainFromWhatIsStored) {
  add_history(6, {step_of("vgg16"), step_of("resnet18")});
  add_run("topic", {answer(step_of("vgg16"), 0.106), answer(step_of("resnet18"), 0.1)});
  EXPECT_EQ(run({"--least-effect", "4%"}), ExitCode::regressed);
  EXPECT_THAT(printed_, HasSubstr("hbench track explain 1 says"));
  // What comes later changes nothing of it.
  Store(file_).add(*Store(file_).find(7, step_of("vgg16")),
                   {{.launch = 10, .metric = "step_seconds", .value = 9, .unit = "s"}});
  add_history(3, {step_of("vgg16")});
  const Explanation known = explain(Store(file_), 1);
  EXPECT_EQ(known.rule.least_effect, 0.04);
  EXPECT_EQ(known.lost, 0U);
  EXPECT_EQ(known.name, "vgg16, 2 ranks, ring, batch 16");
  EXPECT_EQ(known.values.baseline.size(), 6U);
  EXPECT_EQ(known.values.head.size(), 10U);
  ASSERT_TRUE(known.again);
  EXPECT_EQ(known.again->verdict, TrackVerdict::regressed);
  EXPECT_EQ(known.again->shift, known.verdict.shift);
  EXPECT_EQ(known.again->corrected, known.verdict.corrected) << "with the other case of the gate";
  EXPECT_EQ(run({"1"}, "explain"), ExitCode::good);
  EXPECT_THAT(printed_, AllOf(HasSubstr("says so again"), HasSubstr("judged: confirm"), HasSubstr("4 % at least")));
  EXPECT_EQ(run({"1", "--json"}, "explain"), ExitCode::good);
  const auto json = nlohmann::json::parse(printed_);
  EXPECT_EQ(json.at("verdict"), "regressed");
  EXPECT_EQ(json.at("again"), "regressed");
  EXPECT_EQ(json.at("baseline_launches").size(), 6U);
}

TEST_F(TrackExplain, ListsTheVerdictsOfARun) {
  add_history(6, {step_of("vgg16")});
  run({});
  EXPECT_EQ(run({}, "explain"), ExitCode::good);
  EXPECT_THAT(printed_, AllOf(HasSubstr("Verdicts on run 6"), HasSubstr("1  vgg16, 2 ranks"), HasSubstr("pass")));
  const auto refused = [&](std::vector<std::string> arguments, const char* what, const char* hint) {
    expect_error([&] { run(std::move(arguments), "explain"); }, ExitCode::usage, HasSubstr(what), HasSubstr(hint));
    testing::internal::GetCapturedStdout();
  };
  refused({"9"}, "there is no verdict 9", "lists those");
  refused({"--run", "3"}, "run 3 was not checked yet", "track check");
  refused({"--json"}, "--json is of one verdict", "VERDICT --json");
}

TEST_F(TrackExplain, KeepsNothingWhereNothingCanBeWritten) {
  add_history(6, {step_of("vgg16")});
  Store(file_).runs();
  TrackReport report = checked();
  EXPECT_EQ(report.results[0].id, 0);
  Store store(file_);
  keep_verdicts(store, report, HBENCH_VERSION, "2026-11-23T00:00:00Z");
  EXPECT_GT(report.results[0].id, 0);
  EXPECT_EQ(store.judgements(6).size(), 1U);
}

TEST(RuleJson, IsReadAsItWasWritten) {
  const TrackRule rule{.least_effect = 0.07,
                       .level = 0.02,
                       .spread = 3,
                       .most_runs = 9,
                       .fewest_runs = 2,
                       .launches = 4,
                       .confirming = 0};
  EXPECT_EQ(parse_rule(rule_json(rule)), rule);
  EXPECT_EQ(parse_rule("{}"), TrackRule());
  EXPECT_EQ(parse_rule("{\"a later one\": 1}"), TrackRule());
  for (const char* text : {"", "[]", "{\"launches\": \"five\"}", "{", "{\"launches\": -1}", "{\"confirming\": -1}",
                           "{\"most_runs\": 1e300}", "{\"least_effect\": -1}", "-1"})
    expect_error([&] { parse_rule(text); }, ExitCode::wrong_data, HasSubstr("stored rule"));
}

}  // namespace
}  // namespace hbench

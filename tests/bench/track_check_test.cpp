// hbench track check: runs of a database, their verdicts, and the forms in which they are told.

#include "analysis/track/check.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>

#include <sys/wait.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/points/tracked_metric.hpp"
#include "analysis/records/judgements.hpp"
#include "collectives/base/file.hpp"
#include "reports/track/check.hpp"
#include "tests/bench/tracked_database.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/hostile_text.hpp"
#include "tests/support/terminal_columns.hpp"

namespace hbench::track_check_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using TrackCheck = TrackedDatabase;

TEST_F(TrackCheck, FindsTheCaseThatHasBecomeSlower) {
  add_history(6, {step_of("resnet18"), step_of("vgg16")});
  add_run("topic", {answer(step_of("resnet18"), 0.1), answer(step_of("vgg16"), 0.106)});
  const TrackReport report = checked();
  ASSERT_EQ(report.results.size(), 2U);
  EXPECT_EQ(report.head.id, 7);
  EXPECT_EQ(report.runs.size(), 6U);
  EXPECT_EQ(report.results[0].judgement.verdict, TrackVerdict::pass);
  EXPECT_EQ(report.results[1].judgement.verdict, TrackVerdict::regressed);
  EXPECT_EQ(report.results[1].sides.name, "vgg16, 2 ranks, ring, batch 16");
  EXPECT_NEAR(report.results[1].judgement.before, 0.1, 1e-4) << "the mean of both ranks, without warm-up";
  EXPECT_NEAR(report.results[1].judgement.shift, 0.06, 1e-3);
  EXPECT_EQ(report.exit_code(), ExitCode::regressed);
  EXPECT_EQ(run({}), ExitCode::regressed);
  EXPECT_THAT(printed_, AllOf(HasSubstr("1 regressed, 1 pass"), HasSubstr("+6.0 %"), HasSubstr("vgg16, 2 ranks")));
}

TEST_F(TrackCheck, HoldsARunToEarlierRunsWithTheLabelOnly) {
  add_history(6, {step_of("resnet18")});
  add_run("other", {answer(step_of("resnet18"), 0.2)});
  add_run("main", {answer(step_of("resnet18"), 0.1)});
  add_run("main", {answer(step_of("resnet18"), 0.3)});
  const TrackReport report = checked({.head = 8});
  EXPECT_EQ(report.runs.size(), 6U) << "neither the other branch nor what came later";
  EXPECT_EQ(report.exit_code(), ExitCode::good);
  EXPECT_EQ(checked().exit_code(), ExitCode::regressed) << "the newest, held to seven";
  EXPECT_EQ(checked({.rule = {.most_runs = 5}}).runs.front().id, 3) << "the newest five of the branch";
}

TEST_F(TrackCheck, TakesNoSideOfAPairForTheNewestRun) {
  add_history(6, {step_of("vgg16")});
  Store store(file_);
  const std::int64_t side = store.begin_run({.command = "hbench track pair",
                                             .version = "0.1.0",
                                             .started_at = "2026-11-24T00:00:00Z",
                                             .environment = {},
                                             .labels = {{"pair", "a"}, {"side", "head"}}});
  store.append(side, {answer(step_of("vgg16"), 0.2)});
  EXPECT_EQ(checked().head.id, 6);
  EXPECT_EQ(checked({.head = 7}).exit_code(), ExitCode::regressed) << "it can be asked for";
}

// A clock that jumped, and one that went back.
TEST_F(TrackCheck, JudgesTheRunThatWasStoredLastWhateverItsDate) {
  const std::map<std::string, std::string> main{{"branch", "main"}};
  add_run(main, {answer(step_of("vgg16"), 0.1)}, "2999-01-01");
  add_history(6, {step_of("vgg16")});
  EXPECT_EQ(run({}), ExitCode::good);
  add_run(main, {answer(step_of("vgg16"), 0.15)}, "1970-01-01");
  const TrackReport report = checked();
  EXPECT_EQ(report.head.id, 8);
  EXPECT_EQ(report.runs.size(), 7U);
  EXPECT_EQ(report.exit_code(), ExitCode::regressed);
}

TEST_F(TrackCheck, HoldsNothingToLaunchesOfTune) {
  add_history(6, {step_of("vgg16")});
  for (int run = 0; run < 9; ++run)
    add_run({{"branch", "main"}, {kTuningLabel, "horovod"}}, {answer(step_of("vgg16"), 0.2)});
  EXPECT_EQ(checked().head.id, 6);
  add_run("topic", {answer(step_of("vgg16"), 0.106)});
  EXPECT_EQ(checked().runs.size(), 6U);
  EXPECT_EQ(checked().exit_code(), ExitCode::regressed);
}

/// An answer with its first launches only.
CaseResult brief(CaseResult result, int launches) {
  std::erase_if(result.samples, [&](const Sample& sample) { return sample.launch >= launches; });
  return result;
}

TEST_F(TrackCheck, DoesNotPassWhatOnlyLacksLaunches) {
  add_history(6, {step_of("vgg16")});
  add_run("topic", {brief(answer(step_of("vgg16"), 0.1085), 5)});
  EXPECT_EQ(run({"--wide"}), ExitCode::inconclusive);
  EXPECT_THAT(printed_, AllOf(HasSubstr("1 inconclusive"), HasSubstr("measure 5 further launches, 10 in all")));
  EXPECT_EQ(run({"--no-confirm"}), ExitCode::regressed);
  add_run("topic", {brief(answer(step_of("vgg16"), 0.15), 2)});
  EXPECT_EQ(run({"--wide"}), ExitCode::inconclusive);
  EXPECT_THAT(printed_, AllOf(HasSubstr("2 of 5 launches"), HasSubstr("measure 10 launches")));
  add_run("topic", {brief(answer(step_of("vgg16"), 0.05), 2)});
  EXPECT_EQ(run({}), ExitCode::good) << "it is no slower";
  add_run("topic", {answer(step_of("vgg16"), 0.1085)});
  EXPECT_EQ(run({}), ExitCode::regressed);
}

TEST_F(TrackCheck, CallsEqualCodeNeitherSlowerNorFaster) {
  std::map<std::string, std::string> same{{"branch", "main"}, {"commit", "abc"}};
  for (int run = 0; run < 6; ++run) add_run(same, {answer(step_of("vgg16"), 0.1)});
  for (const double seconds : {0.2, 0.05}) {
    add_run(same, {answer(step_of("vgg16"), seconds)});
    EXPECT_EQ(run({"--no-confirm", "--wide"}), ExitCode::good);
    EXPECT_THAT(printed_, HasSubstr("1 inconclusive"));
    EXPECT_THAT(printed_, HasSubstr("measured the same commit: equal code has not changed, the machine has"));
  }
  same["dirty"] = "yes";
  add_run(same, {answer(step_of("vgg16"), 0.15)});
  EXPECT_EQ(run({}), ExitCode::regressed) << "files of it differ from the commit";
}

TEST_F(TrackCheck, SaysSinceWhichRunTheBaselineItselfIsSlower) {
  const auto add = [&](int commit, double seconds) {
    add_run({{"branch", "main"}, {"commit", fmt::format("c{}", commit)}},
            {brief(answer(step_of("vgg16"), seconds), 5)});
  };
  for (int commit = 1; commit <= 12; ++commit) add(commit, commit < 6 ? 0.1 : 0.1085);
  EXPECT_EQ(run({"--wide"}), ExitCode::regressed);
  EXPECT_THAT(printed_, AllOf(HasSubstr("+8.5 % since run 6"), HasSubstr("hbench track accept 6")));
  EXPECT_THAT(checked().results[0].changed.front(), "Between the commits c5 and c6.");
  EXPECT_EQ(run({"6", "--reason", "checks every gradient"}, "accept"), ExitCode::good);
  EXPECT_EQ(run({}), ExitCode::good);
}

// What was imported once without timed samples, of any run, is left out.
TEST_F(TrackCheck, LeavesOutCasesWithoutTimedSamples) {
  const auto untimed = [](const char* metric) {
    CaseResult result{.asked = step_of("vgg16")};
    if (*metric != 0) result.samples.push_back({.warmup = true, .metric = metric, .value = 1, .unit = "s"});
    return result;
  };
  add_history(3, {step_of("vgg16")});
  for (const char* metric : {"", "step_seconds", "wire_bytes"}) add_run("main", {untimed(metric)});
  add_history(4, {step_of("vgg16")});
  EXPECT_EQ(run({}), ExitCode::good);
  EXPECT_EQ(checked().results[0].judgement.runs, 6U);
  EXPECT_EQ(run({}, "history"), ExitCode::good);
  add_run("main", {untimed("step_seconds"), answer(step_of("resnet18"), 0.1)});
  EXPECT_EQ(checked().results[0].judgement.reason, "the head has no timed launch of it");
  EXPECT_EQ(run({}), ExitCode::not_comparable) << "the other case is new";
  EXPECT_EQ(run({}, "history"), ExitCode::good);
}

TEST_F(TrackCheck, SaysThatThereIsNoBaseline) {
  add_run("topic", {answer(step_of("resnet18"), 0.1)});
  EXPECT_EQ(run({}), ExitCode::not_comparable);
  EXPECT_THAT(printed_, AllOf(HasSubstr("There is no baseline: no earlier run has"), HasSubstr("branch=main")));
  add_history(4, {step_of("resnet18")});
  EXPECT_EQ(run({}), ExitCode::good) << "three runs are too few, which fails only where that is asked for";
  EXPECT_EQ(run({"--fail-on", "inconclusive"}), ExitCode::inconclusive);
  write_bytes(folder_ / "hbench.toml", "[track]\nmin_runs = 3\n");
  EXPECT_EQ(run({"--file", (folder_ / "hbench.toml").string(), "--fail-on", "inconclusive"}), ExitCode::good);
}

TEST_F(TrackCheck, ComparesNothingFromAnotherMachine) {
  add_history(6, {step_of("resnet18")});
  add_run("topic", {answer(step_of("resnet18", "loud"), 0.2)});
  const TrackReport report = checked();
  ASSERT_EQ(report.results.size(), 1U);
  EXPECT_EQ(report.results[0].judgement.verdict, TrackVerdict::incomparable);
  EXPECT_EQ(report.results[0].judgement.reason, "machine (loud) was quiet");
  EXPECT_EQ(report.exit_code(), ExitCode::not_comparable);
}

TEST_F(TrackCheck, NamesWhatIsMissingNewAndFailed) {
  add_history(6, {step_of("resnet18"), step_of("vgg16"), step_of("gone")});
  add_run("topic", {answer(step_of("resnet18"), 0.1), answer(step_of("fresh"), 0.1),
                    failed(step_of("vgg16"), ExitCode::lost_rank)});
  const TrackReport report = checked();
  std::vector<std::string> verdicts;
  for (const TrackedResult& each : report.results)
    verdicts.push_back(
        fmt::format("{} {}", each.sides.name.substr(0, each.sides.name.find(',')), to_string(each.judgement.verdict)));
  EXPECT_THAT(verdicts, ElementsAre("resnet18 pass", "fresh new", "vgg16 missing", "gone missing"));
  EXPECT_EQ(report.results[2].judgement.reason, "it failed: rank 1 was lost");
  EXPECT_EQ(report.exit_code(), ExitCode::lost_rank);
  EXPECT_THAT(track_junit(report), HasSubstr("errors=\"1\" skipped=\"2\""));
}

TEST_F(TrackCheck, SaysWhatElseHasChangedWhereACaseIsSlower) {
  const auto add = [&](const std::string& commit, const std::string& kernel, double seconds) {
    Store store(file_);
    const std::int64_t run = store.begin_run({.command = "hbench track run",
                                              .version = "0.1.0",
                                              .started_at = "2026-11-23T00:00:00Z",
                                              .environment = {{"kernel", kernel}},
                                              .labels = {{"branch", "main"}, {"commit", commit}}});
    store.append(run, {answer(step_of("vgg16"), seconds), answer(step_of("resnet18"), 0.1)});
  };
  for (int run = 0; run < 6; ++run) add(fmt::format("{:040}", run), "Linux 6.1", 0.1);
  add("0123456789abcdef", "Linux 6.9", 0.106);
  const TrackReport report = checked();
  ASSERT_EQ(report.results[0].judgement.verdict, TrackVerdict::regressed);
  EXPECT_THAT(report.results[0].changed,
              ElementsAre("Between the commits 000000000000 and 0123456789ab.",
                          "The baseline has no traced steps, so it is not known which part of the step grew.",
                          AllOf(HasSubstr("kernel"), HasSubstr("'Linux 6.1'"), HasSubstr("'Linux 6.9' now."))));
  EXPECT_THAT(report.results[1].changed, IsEmpty()) << "it is as fast as it was";
  EXPECT_EQ(run({"--wide"}), ExitCode::regressed);
  EXPECT_THAT(printed_, HasSubstr("vgg16, 2 ranks, ring, batch 16: Between the commits"));
  EXPECT_THAT(track_junit(report), HasSubstr("Between the commits 000000000000 and 0123456789ab. The baseline"));
  EXPECT_THAT(track_annotations(report), HasSubstr(". Between the commits"));
  EXPECT_EQ(run({"--json"}), ExitCode::regressed);
  EXPECT_EQ(nlohmann::json::parse(printed_).at("results").at(0).at("changed").size(), 3U);
}

TEST_F(TrackCheck, HoldsLaterRunsToAnAcceptedOne) {
  add_history(6, {step_of("vgg16")});
  add_run("main", {answer(step_of("vgg16"), 0.106)});
  EXPECT_EQ(run({}), ExitCode::regressed);
  EXPECT_EQ(run({"--reason", "checks every gradient"}, "accept"), ExitCode::good);
  EXPECT_EQ(printed_, "Accepted run 7: checks every gradient\n");
  EXPECT_EQ(run({}), ExitCode::good);
  EXPECT_THAT(checked().results[0].judgement.reason, "accepted: checks every gradient");
  add_run("main", {answer(step_of("vgg16"), 0.106)});
  const TrackReport next = checked();
  EXPECT_EQ(next.results[0].judgement.verdict, TrackVerdict::pass) << next.results[0].judgement.reason;
  EXPECT_EQ(next.runs.size(), 1U);
  add_run("main", {answer(step_of("vgg16"), 0.113)});
  EXPECT_EQ(checked().exit_code(), ExitCode::regressed) << "6 % above what was accepted";
  add_run("main", {answer(step_of("vgg16"), 0.1)});
  EXPECT_EQ(checked().results[0].judgement.verdict, TrackVerdict::improved) << "as fast as before that";
}

TEST_F(TrackCheck, AcceptsNothingWithoutAReason) {
  add_history(1, {step_of("vgg16")});
  const auto refused = [&](std::vector<std::string> arguments, const char* what, const char* hint) {
    expect_error([&] { run(std::move(arguments), "accept"); }, ExitCode::usage, what, hint);
  };
  refused({}, "a change is accepted for a reason", "add --reason \"what made it slower, and why\"");
  refused({"9", "--reason", "x"}, "RUN 9: there is no such run", "the newest is 1");
  EXPECT_TRUE(Store(file_).acceptances().empty());
}

TEST_F(TrackCheck, RefusesFiguresThatNoRunStores) {
  add_history(6, {step_of("vgg16")});
  for (const double value : {0.0, -0.1, std::numeric_limits<double>::infinity()}) {
    CaseResult edited = answer(step_of("vgg16"), 0.1);
    edited.samples.back().value = value;
    add_run("topic", {edited});
    expect_error([&] { checked(); }, ExitCode::wrong_data, HasSubstr("step_seconds of launch 9, rank 1, iteration 3"),
                 "hbench stores no such figure: the database was edited or damaged; go back to a copy of it");
  }
}

TEST_F(TrackCheck, PassesCasesWhoseTimesNeverDiffer) {
  const auto constant = [](double seconds) {
    CaseResult result = answer(step_of("vgg16"), seconds);
    for (Sample& sample : result.samples) sample.value = seconds;
    return result;
  };
  for (int run = 0; run < 6; ++run) add_run("main", {constant(0.1)});
  add_run("topic", {constant(0.1)});
  EXPECT_EQ(checked().results[0].judgement.verdict, TrackVerdict::pass);
  EXPECT_EQ(checked().results[0].judgement.p, 1);
  add_run("topic", {constant(0.11)});
  EXPECT_EQ(checked().results[0].judgement.verdict, TrackVerdict::regressed);
  EXPECT_NEAR(checked().results[0].judgement.shift, 0.1, 1e-12);
}

TEST_F(TrackCheck, EndsWithItsCodeHoweverManyCasesHaveRegressed) {
  const TerminalColumns columns;
  std::vector<Case> cases;
  std::vector<CaseResult> slower;
  for (int i = 0; i < 300; ++i) {
    cases.push_back(step_of(fmt::format("model{}", i)));
    slower.push_back(answer(cases.back(), 0.12));
  }
  add_history(5, cases);
  add_run("topic", slower);
  EXPECT_EQ(run({"--junit", (folder_ / "track.xml").string()}), ExitCode::regressed);
  EXPECT_THAT(printed_, AllOf(HasSubstr("300 regressed"), HasSubstr("(20 of 300; --wide shows all)")));
  EXPECT_THAT(read_file(folder_ / "track.xml"), HasSubstr("tests=\"300\" failures=\"300\" errors=\"0\" skipped=\"0\""));
}

TEST_F(TrackCheck, PrintsJsonThatMachinesRead) {
  add_history(6, {step_of("vgg16")});
  add_run("topic", {answer(step_of("vgg16"), 0.106), answer(step_of("fresh"), 1)});
  EXPECT_EQ(run({"--json", "--least-effect", "4%"}), ExitCode::regressed);
  const auto json = nlohmann::json::parse(printed_);
  EXPECT_EQ(json.at("format"), 1);
  EXPECT_EQ(json.at("exit_code"), 10);
  EXPECT_EQ(json.at("head").at("run"), 7);
  EXPECT_EQ(json.at("baseline").at("branch"), "main");
  EXPECT_EQ(json.at("baseline_runs").size(), 6);
  EXPECT_EQ(json.at("rule").at("least_effect"), 0.04);
  const auto& result = json.at("results").at(0);
  EXPECT_EQ(result.at("verdict"), "regressed");
  EXPECT_NEAR(result.at("shift"), 0.06, 1e-3);
  EXPECT_LT(result.at("shift_low"), result.at("shift"));
  EXPECT_GT(result.at("shift_high"), result.at("shift"));
  EXPECT_EQ(result.at("baseline_launches"), 60);
  EXPECT_EQ(result.at("head_launches"), 10);
  EXPECT_TRUE(json.at("results").at(1).at("shift").is_null());
}

TEST_F(TrackCheck, AddsItsPageToTheSummaryOfAJob) {
  add_history(6, {step_of("vgg16")});
  add_run("topic", {answer(step_of("vgg16"), 0.106)});
  const std::string summary = (folder_ / "summary.md").string();
  write_bytes(summary, "before\n");
  ::setenv("GITHUB_STEP_SUMMARY", summary.c_str(), 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"--github"}), ExitCode::regressed);
  ::unsetenv("GITHUB_STEP_SUMMARY");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::StartsWith("::error title=regressed%3A vgg16"));
  EXPECT_THAT(read_file(summary),
              AllOf(testing::StartsWith("before\n"), HasSubstr("# Regression check"), HasSubstr("<details>")));
}

TEST_F(TrackCheck, SaysWhatIsWrongWithItsFlags) {
  const auto refused = [&](std::vector<std::string> arguments, const char* what, const char* hint) {
    expect_error([&] { run(std::move(arguments)); }, ExitCode::usage, HasSubstr(what), hint);
  };
  refused({}, "t.db", "check the name, or make one with `hbench sweep`");
  add_run("main", {});
  refused({"--head", "7"}, "--head 7: there is no such run", "the newest is 1");
  refused({"--baseline", "=x"}, "--baseline =x: no label",
          "write the value of the label branch, or such as --baseline release=2.1");
  refused({"--baseline", "branch="}, "no label",
          "write the value of the label branch, or such as --baseline release=2.1");
  refused({"--least-effect", "often"}, "--least-effect often is invalid", "write a share such as 3% or 0.03");
  refused({"--least-effect", "0"}, "--least-effect 0", "write a share such as 3% or 0.03");
  refused({"--fail-on", "inconclusve"}, "inconclusve", "known: regressed, inconclusive");
}

TEST(ParseBaseline, TakesABranchOrAnyLabel) {
  EXPECT_EQ(parse_baseline("main"), (std::map<std::string, std::string>{{"branch", "main"}}));
  EXPECT_EQ(parse_baseline("release=2=1"), (std::map<std::string, std::string>{{"release", "2=1"}}));
}

TEST(TrackedName, NamesStepsAndCollectives) {
  EXPECT_EQ(tracked_name(step_of("vgg16")), "vgg16, 2 ranks, ring, batch 16");
  Case alone = step_of("vgg16").baseline();
  EXPECT_EQ(tracked_name(alone), "vgg16, 1 rank, alone, batch 16");
  Case collective = step_of("");
  collective.collective = {.name = "all-reduce", .bytes = 1 << 20, .executor = "mpi"};
  EXPECT_EQ(tracked_name(collective), "all-reduce of 1MiB, 2 ranks, ring by mpi");
}

// Programs that read JUnit's XML or metrics know cases by their names.
TEST_F(TrackCheck, GivesNoTwoCasesOneName) {
  Case half = step_of("vgg16").baseline(), whole = half;
  half.training.precision = "fp16";
  const auto of_one_rank = [](const Case& asked) {
    CaseResult alone = answer(asked, 0.1);
    std::erase_if(alone.samples, [](const Sample& sample) { return sample.rank > 0; });
    return alone;
  };
  add_run("main", {of_one_rank(half), of_one_rank(whole), answer(step_of("resnet18"), 0.1)});
  const TrackReport report = checked();
  ASSERT_EQ(report.results.size(), 3U);
  EXPECT_EQ(report.results[0].sides.name, "vgg16, 1 rank, alone, batch 16, precision fp16");
  EXPECT_EQ(report.results[1].sides.name, "vgg16, 1 rank, alone, batch 16, precision none");
  EXPECT_EQ(report.results[2].sides.name, "resnet18, 2 ranks, ring, batch 16");
}

// A runner of GitHub's takes any line of a log for a command that looks like one.
TEST_F(TrackCheck, StopsCommandsWhileItPrintsForGithub) {
  add_history(6, {step_of("vgg16")});
  add_run("::error::x", {answer(step_of("vgg16"), 0.1)});
  const auto printed = [&](std::vector<std::string> arguments) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run(std::move(arguments)), ExitCode::good);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    return printed_;
  };
  const std::string log = printed({"--github"});
  EXPECT_THAT(log, testing::StartsWith("::stop-commands::hbench-"));
  const std::string token = log.substr(17, log.find('\n') - 17);
  EXPECT_THAT(log, testing::EndsWith(fmt::format("\n::{}::\n", token)));
  EXPECT_THAT(printed({"--github", "--json"}), testing::StartsWith("{"));
  EXPECT_THAT(printed({"--github", "--format", "markdown"}), testing::StartsWith("# Regression check"));
  EXPECT_THAT(printed({}), Not(HasSubstr("stop-commands")));
}

TEST_F(TrackCheck, WritesMetricsAndKeepsMarkdownShortEnoughForAComment) {
  std::vector<Case> cases;
  std::vector<CaseResult> slower;
  for (int i = 0; i < 300; ++i) {
    cases.push_back(step_of(fmt::format("model{}", i)));
    slower.push_back(answer(cases.back(), 0.12));
  }
  add_history(5, cases);
  add_run("topic", slower);
  const auto file = [&](const char* name) { return (folder_ / name).string(); };
  EXPECT_EQ(run({"--gitlab", file("metrics.txt"), "--out", file("comment.md")}), ExitCode::regressed);
  EXPECT_THAT(read_file(file("metrics.txt")), HasSubstr("hbench_track_cases{verdict=\"regressed\"} 300\n"));
  const std::string comment = read_file(file("comment.md"));
  EXPECT_LE(comment.size(), 65'000U);
  EXPECT_THAT(comment, AllOf(HasSubstr("300 regressed"), HasSubstr("of 300 rows")));
}

/// Runs a command of a shell. Its output is printed where it does not end with 0.
int shell(const std::string& command, std::string& output) {
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) output += static_cast<char>(c);
  return WEXITSTATUS(::pclose(pipe));
}

// Every verdict, and in every text what means something to a format.
TEST_F(TrackCheck, IsReadByProgramsThatOthersWrote) {
  std::string tools;
  if (shell(HBENCH_SOURCE_DIR "/tests/python_tools", tools) != 0) GTEST_SKIP() << tools;
  tools.pop_back();
  const char* kinds[] = {"pass", "slower", "faster", "elsewhere", "gone", "failed", "few"};
  std::vector<Case> before;
  std::vector<CaseResult> head;
  for (const std::string& text : kHostile) {
    for (const char* kind : kinds) before.push_back(step_of(fmt::format("{} {}", kind, text)));
    const auto of = [&](const char* kind) { return step_of(fmt::format("{} {}", kind, text)); };
    head.insert(head.end(),
                {answer(of("pass"), 0.1), answer(of("slower"), 0.12), answer(of("faster"), 0.08),
                 answer(step_of(fmt::format("elsewhere {}", text), "loud"), 0.1),
                 failed(of("failed"), ExitCode::lost_rank), answer(of("few"), 0.12), answer(of("fresh"), 0.1)});
    std::erase_if(head[head.size() - 2].samples, [](const Sample& sample) { return sample.launch > 1; });
  }
  add_history(6, before);
  add_run("topic", head);
  const std::string folder = folder_.path().string();
  EXPECT_EQ(
      run({"--out", folder + "/check.json", "--junit", folder + "/junit.xml", "--gitlab", folder + "/metrics.txt"}),
      ExitCode::lost_rank);
  std::string read;
  EXPECT_EQ(shell(fmt::format("{}/python " HBENCH_SOURCE_DIR "/tests/bench/read_track_outputs {} " HBENCH_SOURCE_DIR
                              "/reports/track/track-check-1.json",
                              tools, folder),
                  read),
            0);
  EXPECT_EQ(read, fmt::format("{} cases: improved, incomparable, inconclusive, missing, new, pass, regressed\n",
                              8 * std::size(kHostile)));
}

}  // namespace
}  // namespace hbench::track_check_test

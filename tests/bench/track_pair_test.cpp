// hbench track pair: whose turn it is, what is repeated, confirmed and stored. No processes: launches are scripted.

#include "bench/track/pair.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/points/collectives.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "reports/formats/formats.hpp"
#include "reports/track/check.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::track_pair_test {
namespace {

CaseResult answer(const std::string& name, double seconds) {
  CaseResult result;
  result.asked.evidence = Evidence::measured;
  result.asked.profile = kLocalProfile;
  result.asked.benchmark = name;
  result.asked.implementation = "test/1";
  result.samples = {{.metric = std::string(metric::kBenchmarkSeconds), .value = seconds, .unit = "s"}};
  return result;
}

CaseResult wrong(const std::string& name) {
  CaseResult result = answer(name, 1);
  result.samples.clear();
  result.status = CaseStatus::failed;
  result.failure = "2 elements are wrong";
  result.exit_code = static_cast<int>(ExitCode::wrong_data);
  return result;
}

CommandLaunch printed(std::vector<CaseResult> cases) {
  CommandLaunch launch;
  launch.cases = std::move(cases);
  return launch;
}

CommandLaunch failed(ExitCode code, const std::string& reason) {
  CommandLaunch launch;
  launch.code = code;
  launch.reason = reason;
  launch.said = "its last line";
  return launch;
}

/// Sides whose launches answer what a test scripts.
struct Sides {
  PairRequest request;
  /// By side and number of the launch, the one that warms up being 0.
  std::function<CommandLaunch(const std::string& side, int number)> answers = [](const std::string& side, int) {
    return printed({answer("step", side == "head" ? 1.06 : 1.0)});
  };
  std::string order;  ///< B and H as they were launched
  std::vector<std::string> notes;
  std::vector<int> kept;
  std::size_t cases = 0;
  int most = 0, interrupted_after = 1000;

  TrackReport measure() {
    request.base.text = "./old";
    request.head.text = "./new";
    std::map<std::string, int> launches;
    return measure_pairs(request, {.launch =
                                       [&](const MeasuredCommand& command) {
                                         const std::string side = command.name.substr(2);
                                         order += side == "head" ? 'H' : 'B';
                                         return answers(side, launches[side]++);
                                       },
                                   .begins =
                                       [&](std::size_t known, const PairRule&, int pairs) {
                                         cases = known;
                                         most = pairs;
                                       },
                                   .keep = [&](int number, const PairLaunches&) { kept.push_back(number); },
                                   .note = [&](const std::string& what) { notes.push_back(what); },
                                   .interrupted = [&] { return std::ssize(order) >= interrupted_after; }});
  }
};

// The first of either side warms up; then A B, B A, A B, B A.
TEST(TrackPair, TakesTurnsFromBothEnds) {
  Sides sides;
  sides.request.launches = sides.request.most_launches = 4;
  sides.measure();
  EXPECT_EQ(sides.order,
            "BH"
            "BH"
            "HB"
            "BH"
            "HB");
  EXPECT_THAT(sides.kept, ElementsAre(0, 1, 2, 3));
}

// Of one case 8 pairs can exclude chance, and 12 are measured; 20 need 12, and get 16.
TEST(TrackPair, MeasuresAsManyPairsAsItsCasesNeed) {
  Sides one;
  one.answers = [](const std::string&, int) { return printed({answer("step", 1)}); };
  const TrackReport report = one.measure();
  EXPECT_EQ(report.paired->pairs, 12);
  EXPECT_EQ(one.most, 24);
  EXPECT_EQ(report.results.at(0).judgement.verdict, TrackVerdict::pass);
  EXPECT_EQ(report.exit_code(), ExitCode::good);
  Sides many;
  many.answers = [](const std::string&, int) {
    std::vector<CaseResult> cases;
    for (int i = 0; i < 20; ++i) cases.push_back(answer(fmt::format("case {}", i), 1));
    return printed(cases);
  };
  EXPECT_EQ(many.measure().paired->pairs, 16);
  EXPECT_EQ(many.cases, 20U);
}

TEST(TrackPair, ConfirmsARegressionByFurtherPairs) {
  Sides sides;
  const TrackReport report = sides.measure();
  EXPECT_EQ(report.paired->pairs, 24);
  EXPECT_THAT(sides.notes, ElementsAre(HasSubstr("further pairs")));
  EXPECT_EQ(report.results.at(0).judgement.verdict, TrackVerdict::regressed);
  EXPECT_EQ(report.exit_code(), ExitCode::regressed);
}

TEST(TrackPair, TakesBackWhatFurtherPairsDoNotShow) {
  Sides sides;
  sides.answers = [](const std::string& side, int number) {
    return printed({answer("step", side == "head" && number <= 12 ? 1.06 : 1.0)});
  };
  const TrackReport report = sides.measure();
  EXPECT_EQ(report.paired->pairs, 24);
  EXPECT_EQ(report.results.at(0).judgement.verdict, TrackVerdict::inconclusive);
  EXPECT_EQ(report.exit_code(), ExitCode::good);
}

TEST(TrackPair, MeasuresFurtherPairsWhereSomethingHasToBeConfirmed) {
  Sides equal;
  equal.answers = [](const std::string&, int) { return printed({answer("step", 1.0)}); };
  EXPECT_EQ(equal.measure().results.at(0).judgement.verdict, TrackVerdict::pass);
  EXPECT_THAT(equal.kept, SizeIs(12));
  Sides faster;
  faster.answers = [](const std::string& side, int) { return printed({answer("step", side == "head" ? 0.9 : 1.0)}); };
  EXPECT_EQ(faster.measure().results.at(0).judgement.verdict, TrackVerdict::improved);
  EXPECT_THAT(faster.kept, SizeIs(24));
  Sides trusted;
  trusted.request.rule.confirm = false;
  EXPECT_EQ(trusted.measure().results.at(0).judgement.verdict, TrackVerdict::regressed);
  EXPECT_THAT(trusted.kept, SizeIs(12));
}

// The head's launch of the third pair fails, so that the pair is launched again, in the same order.
TEST(TrackPair, LaunchesAPairAgainOfWhichOneLaunchFails) {
  Sides sides;
  sides.request.launches = sides.request.most_launches = 4;
  sides.answers = [](const std::string& side, int number) {
    if (side == "head" && number == 3) return failed(ExitCode::lost_rank, "--head ended with exit code 1");
    return printed({answer("step", 1)});
  };
  const TrackReport report = sides.measure();
  EXPECT_EQ(sides.order,
            "BH"
            "BH"
            "HB"
            "BH"
            "BH"
            "HB");
  EXPECT_THAT(sides.notes, ElementsAre("--head ended with exit code 1\n  its last line"));
  EXPECT_EQ(report.paired->pairs, 4);
  EXPECT_EQ(report.exit_code(), ExitCode::good);
}

TEST(TrackPair, GivesUpASideOfWhichTwoLaunchesFail) {
  Sides sides;
  sides.answers = [](const std::string& side, int number) {
    if (side == "base" && number >= 3) return failed(ExitCode::lost_rank, "--base ended with exit code 1");
    return printed({answer("step", 1)});
  };
  const TrackReport report = sides.measure();
  EXPECT_EQ(report.paired->pairs, 2);
  EXPECT_EQ(report.results.at(0).judgement.verdict, TrackVerdict::missing);
  EXPECT_EQ(report.results.at(0).judgement.reason, "it failed: --base ended with exit code 1");
  EXPECT_EQ(report.exit_code(), ExitCode::lost_rank);
}

TEST(TrackPair, EndsAtOnceWhereTheFirstLaunchOfASideFails) {
  Sides sides;
  sides.answers = [](const std::string& side, int) {
    return side == "head" ? failed(ExitCode::usage, "--head 'x': no such command") : printed({answer("step", 1)});
  };
  expect_error([&] { sides.measure(); }, ExitCode::usage, "--head 'x': no such command", "its last line");
  EXPECT_EQ(sides.order, "BH");
}

TEST(TrackPair, NamesTheCasesOfOnlyOneSide) {
  Sides sides;
  sides.answers = [](const std::string& side, int) {
    return printed({answer("both", 1), answer(side == "head" ? "added" : "removed", 1)});
  };
  const TrackReport report = sides.measure();
  EXPECT_EQ(sides.cases, 1U);
  ASSERT_THAT(report.results, SizeIs(3));
  EXPECT_EQ(report.results[0].judgement.verdict, TrackVerdict::pass);
  EXPECT_EQ(report.results[1].sides.name, "added");
  EXPECT_EQ(report.results[1].judgement.verdict, TrackVerdict::fresh);
  EXPECT_EQ(report.results[2].sides.name, "removed");
  EXPECT_EQ(report.results[2].judgement.verdict, TrackVerdict::missing);
  EXPECT_EQ(report.exit_code(), ExitCode::good);
}

/// An all-reduce by an algorithm.
CaseResult reduced(const std::string& algorithm, std::int64_t bytes, double seconds) {
  CaseResult result = answer("", seconds);
  result.asked.gpus = 2;
  result.asked.strategy.algorithm = algorithm;
  result.asked.collective = {.name = "all-reduce", .bytes = bytes, .executor = "mpi"};
  result.samples[0].metric = metric::kInPlace;
  return result;
}

// A ring beside a tree of the same size is one case; of two rings nobody knows which is the tree's.
TEST(TrackPair, HoldsDifferentWaysOfTheSameWorkToEachOther) {
  Sides sides;
  sides.answers = [](const std::string& side, int) {
    return side == "head" ? printed({reduced("tree", 64, 1.1), reduced("tree", 128, 1)})
                          : printed({reduced("ring", 64, 1), reduced("ring", 128, 1)});
  };
  const TrackReport report = sides.measure();
  ASSERT_THAT(report.results, SizeIs(2));
  EXPECT_EQ(report.results[0].sides.name,
            "all-reduce of 64B, 2 ranks, tree by mpi against all-reduce of 64B, 2 ranks, ring by mpi");
  EXPECT_EQ(report.results[0].judgement.verdict, TrackVerdict::regressed);
  EXPECT_EQ(report.results[1].judgement.verdict, TrackVerdict::pass);
  Sides several;
  several.answers = [](const std::string& side, int) {
    return side == "head" ? printed({reduced("tree", 64, 1)})
                          : printed({reduced("ring", 64, 1), reduced("direct", 64, 1)});
  };
  EXPECT_EQ(several.measure().exit_code(), ExitCode::not_comparable);
}

TEST(TrackPair, SaysThatTheOtherWayFailed) {
  Sides sides;
  sides.answers = [](const std::string& side, int number) {
    CaseResult bad = reduced("ring", 64, 1);
    bad.status = CaseStatus::failed;
    bad.failure = "2 elements are wrong";
    bad.exit_code = static_cast<int>(ExitCode::wrong_data);
    return printed({side == "head" ? reduced("tree", 64, 1) : number == 3 ? bad : reduced("ring", 64, 1)});
  };
  const TrackReport report = sides.measure();
  EXPECT_EQ(report.results.at(0).judgement.reason, "it failed: on the side of the base: 2 elements are wrong");
  EXPECT_EQ(report.exit_code(), ExitCode::wrong_data);
}

TEST(TrackPair, MeasuresNoPairsOfSidesWithoutACommonCase) {
  Sides sides;
  sides.answers = [](const std::string& side, int) { return printed({answer(side, 1)}); };
  EXPECT_EQ(sides.measure().exit_code(), ExitCode::not_comparable);
  EXPECT_EQ(sides.order, "BH");
  EXPECT_EQ(sides.cases, 0U);
}

TEST(TrackPair, SaysOfACaseOnceWrongThatItFailed) {
  Sides sides;
  sides.answers = [](const std::string& side, int number) {
    return printed({side == "head" && number == 5 ? wrong("step") : answer("step", 1), answer("other", 1)});
  };
  const TrackReport report = sides.measure();
  EXPECT_EQ(report.results.at(0).judgement.verdict, TrackVerdict::missing);
  EXPECT_EQ(report.results.at(0).judgement.reason, "it failed: on the side of the head: 2 elements are wrong");
  EXPECT_EQ(report.results.at(1).judgement.verdict, TrackVerdict::pass);
  EXPECT_EQ(report.exit_code(), ExitCode::wrong_data);
}

TEST(TrackPair, JudgesOnlyTheMetricThatIsNamed) {
  Sides sides;
  sides.answers = [](const std::string&, int) { return printed({answer("step_ms", 1), answer("load_ms", 1)}); };
  sides.request.metric = "step";
  EXPECT_THAT(sides.measure().results, SizeIs(1));
  sides.request.metric = "steps";
  expect_error([&] { sides.measure(); }, ExitCode::usage, "no case has 'steps' in its name",
               "there are: step_ms, load_ms, step_ms, load_ms");
}

// A value that is no time is no evidence: its pair counts for the other case alone.
TEST(TrackPair, LeavesOutValuesOfWhichThereIsNoRatio) {
  Sides sides;
  sides.answers = [](const std::string& side, int number) {
    const bool bad = side == "base" && number == 4;
    return printed({answer("zero", bad ? 0.0 : 1.0), answer("whole", 1)});
  };
  const TrackReport report = sides.measure();
  EXPECT_EQ(report.results.at(0).judgement.baseline_launches + 1, report.results.at(1).judgement.baseline_launches);
  EXPECT_EQ(report.results.at(0).judgement.verdict, TrackVerdict::inconclusive);
}

TEST(TrackPair, ReportsWhatThereIsWhenItIsInterrupted) {
  Sides sides;
  sides.interrupted_after = 9;  // 2 to warm up, 3 pairs, and one launch, which does not count
  const TrackReport report = sides.measure();
  EXPECT_EQ(report.paired->pairs, 3);
  EXPECT_THAT(sides.order, SizeIs(9));
  EXPECT_EQ(report.results.at(0).judgement.reason, "3 of 12 pairs");
  sides.order.clear();
  sides.interrupted_after = 1;
  EXPECT_THAT(sides.measure().results, IsEmpty());
}

TEST(TrackPair, SaysInEveryFormWhatTookTurns) {
  Sides sides;
  sides.answers = [](const std::string& side, int) {
    CaseResult rate = answer("speed", side == "head" ? 900 : 1000);
    rate.samples[0].metric = metric::kBenchmarkRate;
    rate.samples[0].unit = "items/s";
    return printed({rate});
  };
  TrackReport report = sides.measure();
  report.paired->head = "./new <script>";
  const auto json = nlohmann::json::parse(track_json(report));
  EXPECT_EQ(json.at("paired").at("head"), "./new <script>");
  EXPECT_EQ(json.at("paired").at("pairs"), 24);
  EXPECT_EQ(json.at("rule").at("pairs"), 12);
  EXPECT_TRUE(json.at("head").at("run").is_null()) << "it is not stored";
  EXPECT_EQ(json.at("results").at(0).at("unit"), "items/s");
  const std::string page = kMarkdownFormat.render(track_document(report));
  EXPECT_THAT(page, AllOf(HasSubstr("1 regressed: the head against the base, in 24 pairs"), HasSubstr("1000 items/s"),
                          HasSubstr("'./old'"), HasSubstr("signed-rank"), Not(HasSubstr("<script>"))));
}

TEST(PairStore, KeepsBothSidesAsRunsWhoseLaunchesAreNeighbours) {
  TemporaryFolder folder;
  const hbench::Run run{
      .command = "hbench track pair", .version = "1", .started_at = "2026-11-23T00:00:00Z", .environment = {}};
  PairStore store(folder / "t.db", run_of_side(run, "base", "some-uuid"), run_of_side(run, "head", "some-uuid"));
  for (int pair = 0; pair < 3; ++pair)
    store.keep(pair, {.base = printed({answer("step", 1 + pair)}), .head = printed({answer("step", 2 + pair)})});
  const Store stored(folder / "t.db", Store::Mode::read_only);
  ASSERT_THAT(stored.runs(), SizeIs(2));
  EXPECT_EQ(store.base().id, 1);
  EXPECT_EQ(store.head().id, 2);
  EXPECT_EQ(stored.runs()[0].labels, (std::map<std::string, std::string>{{"side", "base"}, {"pair", "some-uuid"}}));
  EXPECT_EQ(stored.runs()[1].labels.at("side"), "head");
  const std::vector<CaseResult> head = stored.of_run(2);
  ASSERT_THAT(head, SizeIs(1));
  EXPECT_THAT(launch_values(head[0]), ElementsAre(2, 3, 4));
  EXPECT_EQ(head[0].samples[2].launch, 2);
  EXPECT_THAT(launch_values(stored.of_run(1).at(0)), ElementsAre(1, 2, 3));
}

TEST(PairStore, StoresNoRunWithoutAPair) {
  TemporaryFolder folder;
  const hbench::Run run{
      .command = "hbench track pair", .version = "1", .started_at = "2026-11-23T00:00:00Z", .environment = {}};
  PairStore store(folder / "t.db", run_of_side(run, "base", "u"), run_of_side(run, "head", "u"));
  EXPECT_THAT(Store(folder / "t.db", Store::Mode::read_only).runs(), IsEmpty());
}

}  // namespace
}  // namespace hbench::track_pair_test

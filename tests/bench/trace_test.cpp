// hbench trace: the cases that are meant, what it says of them, and what it refuses.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/prediction/traced_cases.hpp"
#include "analysis/store/store.hpp"
#include "analysis/trace/ledger.hpp"
#include "bench/launch/installation.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/terminal_columns.hpp"

namespace hbench::trace_test {
namespace {

using testing::_;

Case training_case(int ranks) {
  Case asked;
  asked.evidence = Evidence::measured;
  asked.workload = "resnet18";
  asked.gpus = ranks;
  asked.strategy = {.algorithm = ranks > 1 ? "ring" : "none", .compressor = "none"};
  asked.profile = kLocalProfile;
  asked.batch_per_gpu = 16;
  asked.implementation = "engine/1";
  asked.machine = "quiet";
  return asked;
}

/// A step of 100 ms, in which rank 1 computes for 85 ms, rank 0 for 80 ms, and the one bucket is in flight from 84
/// to 95.
TracedStep step_of(int launch, int iteration, int ranks) {
  TracedStep step{.launch = launch, .iteration = iteration, .spans = {}};
  const auto add = [&](Rank rank, SpanKind kind, double begin_ms, double end_ms, int bucket = -1) {
    step.spans.push_back({.rank = rank,
                          .lane = bucket < 0 ? Lane::compute : Lane::communication,
                          .kind = kind,
                          .begin = Seconds(begin_ms * 1e-3),
                          .end = Seconds(end_ms * 1e-3),
                          .bucket = bucket});
  };
  for (Rank rank = 0; rank < ranks; ++rank) {
    const double computed = rank == 1 ? 85 : 80, summed = ranks > 1 ? 95 : computed;
    add(rank, SpanKind::step, 0, summed + 5);
    add(rank, SpanKind::forward, 0, 30);
    add(rank, SpanKind::backward, 30, computed);
    add(rank, SpanKind::optimizer, summed, summed + 5);
    if (ranks == 1) continue;
    add(rank, SpanKind::wait, computed, summed);
    add(rank, SpanKind::communication, 84, 95, 0);
  }
  return step;
}

CaseResult traced(const Case& asked) {
  CaseResult result{.asked = asked};
  for (int launch = 0; launch < 4; ++launch) {
    result.samples.push_back({.launch = launch, .metric = "step_seconds", .value = 0.1, .unit = "s"});
    for (int iteration = 20; iteration < 23; ++iteration) {
      result.traced.push_back(step_of(launch, iteration, asked.gpus));
      for (const Sample& sample : ledger_samples(result.traced.back())) result.samples.push_back(sample);
    }
  }
  return result;
}

class TraceVerb : public testing::Test {
 protected:
  void add_run(const std::vector<CaseResult>& results) {
    Store store(file_);
    store.append(
        store.begin_run(
            {.command = "hbench sweep", .version = "0.1.0", .started_at = "2026-11-23T00:00:00Z", .environment = {}}),
        results);
  }

  std::string printed(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--db", file_.string()});
    return printed_by("trace", std::move(arguments));
  }
  void refused(const std::vector<std::string>& arguments, const testing::Matcher<std::string>& message,
               const testing::Matcher<std::string>& hint = Not(IsEmpty())) {
    expect_error([&] { printed(arguments); }, ExitCode::usage, message, hint);
  }
  /// Simulates one step of 16 GPUs.
  void simulate_on(const std::string& profile) const {
    printed_by("sweep", {"--gpus", "16", "--workload", "resnet50", "--profile", profile, "--evidence", "simulated",
                         "--algorithm", "ring", "--compressor", "none", "--db", file_.string(), "--report",
                         (folder_ / "report").string(), "--quiet"});
  }

  const TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_ / "a.db";
};

TEST_F(TraceVerb, NamesTheLateRankAndWhereTheTimeGoes) {
  add_run({traced(training_case(1)), traced(training_case(2))});
  const TerminalColumns columns;
  const std::string text = printed({"--case", "2 ranks"});
  EXPECT_THAT(text, HasSubstr("resnet18, 2 ranks, ring, batch 16, measured"));
  EXPECT_THAT(text, HasSubstr("rank 1 is late in 12 of 12 steps, by 5 ms, in backward."));
  EXPECT_THAT(text, HasSubstr("12 traced steps of 4 launches of run 1"));
  EXPECT_THAT(text, HasSubstr("Exposed communication is 10.0 % of the step."));
  EXPECT_THAT(text, Not(HasSubstr("alone")));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

// The passes take 80 ms alone: of rank 1's 85 five are slowed down.
TEST_F(TraceVerb, ShowsSlowdownBesideTheBaselineOfTheRun) {
  add_run({traced(training_case(1)), traced(training_case(2))});
  const std::string text = printed({"--case", "2 ranks", "--wide"});
  EXPECT_THAT(text, ContainsRegex("1 +100.0 +80.0 +5.0 +0.0 +10.0"));
}

TEST_F(TraceVerb, ShowsEveryMeasuredCaseWithoutAName) {
  add_run({traced(training_case(1)), traced(training_case(2))});
  EXPECT_THAT(printed({}), AllOf(HasSubstr("resnet18, 1 rank, alone"), HasSubstr("resnet18, 2 ranks, ring")));
}

TEST_F(TraceVerb, WritesATraceOfOneCase) {
  add_run({traced(training_case(1)), traced(training_case(2))});
  const std::filesystem::path out = folder_ / "trace.json";
  EXPECT_EQ(printed({"--case", "2 ranks", "--out", out.string()}), out.string() + "\n");
  const auto file = nlohmann::json::parse(read_file(out));
  EXPECT_EQ(file.at("otherData").at("case"), "resnet18, 2 ranks, ring, batch 16, measured");
  EXPECT_GT(file.at("traceEvents").size(), 100U);
  refused({"--json"}, "a trace is of one case, and 2 are meant",
          "choose one by --case: 'resnet18, 1 rank, alone, batch 16, measured', 'resnet18, 2 ranks, ring, batch 16, "
          "measured'");
}

TEST_F(TraceVerb, RefusesWhatIsNotThere) {
  add_run({});
  refused({}, "the database has no traced step, and none that was simulated",
          "hbench sweep --evidence measured --trace 3 --db FILE traces steps");
  add_run({traced(training_case(2))});
  refused({"--case", "vgg16"}, "no case of the database has 'vgg16' in its name",
          "it has 'resnet18, 2 ranks, ring, batch 16, measured'");
  refused({"--run", "1"}, "run 1 has no traced step, and none that was simulated", _);
  refused({"--format", "perfetto"}, "no format 'perfetto'", "known: text, markdown, html, csv, json");
}

TEST_F(TraceVerb, ShowsTheLedgerAloneWhereNoSpanIsStored) {
  add_run({traced(training_case(1)), traced(training_case(2))});
  run_sql(file_, "DELETE FROM span");
  const std::string text = printed({"--case", "2 ranks"});
  EXPECT_THAT(text, AllOf(HasSubstr("spans of its steps in run 1 are not stored"), HasSubstr("exposed communication")));
  refused({"--case", "2 ranks", "--json"},
          "the spans of 'resnet18, 2 ranks, ring, batch 16, measured' are not stored, only the parts of a step",
          "leave out --json, or measure it again: hbench sweep --evidence measured --trace 3");
}

TEST_F(TraceVerb, SimulatesNoProcessAlone) {
  Case alone = training_case(1);
  alone.evidence = Evidence::simulated;
  alone.workload = "resnet50";
  alone.profile = "hkbu-10gbe";
  alone.machine.clear();
  add_run({{.asked = alone, .samples = {{.metric = "step_seconds", .value = 0.1, .unit = "s"}}}});
  refused({}, "the database has no traced step, and none that was simulated",
          "hbench sweep --evidence measured --trace 3 --db FILE traces steps");
}

TEST_F(TraceVerb, RefusesRanksThatACaseHasNot) {
  add_run({traced(training_case(2))});
  run_sql(file_, "UPDATE sample SET rank = 2147483647 WHERE rank = 1");
  expect_error([&] { printed({}); }, ExitCode::wrong_data,
               "measured resnet18 ring on 2 GPUs of run 1: ledger/compute of launch 0, rank 2147483647, iteration 20: "
               "the case has 2 ranks",
               "hbench stores no such figure: the database was edited or damaged; go back to a copy of it");
}

TEST_F(TraceVerb, SimulatesASimulatedStepAgain) {
  simulate_on("hkbu-10gbe");
  const std::string text = printed({"--case", "16 GPUs of hkbu-10gbe, ddp: ring"});
  EXPECT_THAT(text, AllOf(HasSubstr("One simulated step of"), HasSubstr("Exposed communication is"), HasSubstr("any")));
  EXPECT_THAT(text, Not(HasSubstr("have changed"))) << "the same step as the stored one";
  const auto file = nlohmann::json::parse(printed({"--case", "16 GPUs of hkbu-10gbe, ddp: ring", "--json"}));
  EXPECT_EQ(file.at("otherData").at("evidence"), "simulated");
  std::vector<std::string> simulating;  // each may take seconds, which is reported
  TraceRequest request{.match = "16 GPUs of hkbu-10gbe, ddp: ring"};
  request.simulating = [&](const std::string& name) { simulating.push_back(name); };
  find_traced_cases(Store(file_, Store::Mode::read_only), load_data(), request);
  EXPECT_THAT(simulating, ElementsAre(HasSubstr("16 GPUs of hkbu-10gbe, ddp: ring")));
}

// A database that was edited may ask for what no sweep simulates: no servers ended with a signal.
TEST_F(TraceVerb, SimulatesNoCaseAgainThatNobodyCanSimulate) {
  const auto refuses = [&](const Strategy& strategy, int gpus, const char* why) {
    Case asked;
    asked.workload = "resnet50";
    asked.profile = "hkbu-10gbe";
    asked.gpus = gpus;
    asked.batch_per_gpu = 32;
    asked.strategy = strategy;
    add_run({{.asked = asked, .samples = {{.metric = "step_seconds", .value = 0.1, .unit = "s"}}}});
    refused({}, AllOf(HasSubstr(fmt::format("resnet50, {} GPUs of hkbu-10gbe", gpus)), HasSubstr(why)),
            HasSubstr("--case"));
  };
  Strategy strategy{.algorithm = "ps", .placement = "greedy", .compressor = "none", .fusion = "none"};
  refuses(strategy, 4, "at least 1 parameter server");
  strategy.algorithm = "ring";
  strategy.servers = 1;
  refuses(strategy, 4, "no parameter servers");
  strategy = {.algorithm = "direct", .compressor = "none", .fusion = "none"};
  refuses(strategy, 1'000'000, "GPUs fit in the");
  strategy.algorithm = "ring";
  refuses(strategy, 65'536, "");  // it takes minutes; a small machine has no memory for it either
}

TEST_F(TraceVerb, AsksForTheProfileOfTheUsersThatASimulatedStepIsOf) {
  const std::filesystem::path profile = folder_ / "my-cluster.toml";
  std::filesystem::copy_file(HBENCH_SOURCE_DIR "/cluster-profiles/hkbu-10gbe.toml", profile);
  simulate_on(profile);
  refused({}, "the simulated case is of 'my-cluster', which was a file of yours",
          "give the file again: --profile FILE; or name other cases by --case");
  const std::string text = printed({"--profile", profile});
  EXPECT_THAT(text, AllOf(HasSubstr("16 GPUs of my-cluster, ddp: ring"), Not(HasSubstr("have changed"))));
}

}  // namespace
}  // namespace hbench::trace_test

// What `hbench export` and `hbench track check` write for other tools, and hbench import reads back.

#include "reports/rows/tool_formats.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "analysis/import/format.hpp"
#include "reports/track/check.hpp"
#include "tests/bench/tracked_database.hpp"
#include "tests/support/hostile_text.hpp"

namespace hbench::tool_formats_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// A time, two rates and an amount.
const std::vector<ToolFigure> kFigures{{"step", "s", true, {0.25, 0.5, 0.125}},
                                       {"reduce", "B/s", false, {2e9, 3e9, 4e9}},
                                       {"requests", "ops/s", false, {7}},
                                       {"memory", "MiB", true, {12, 16}}};

std::string text_of(std::string_view format) { return tool_text(*tool_format(format), kFigures); }

/// `step: seconds 0.25 0.5 s`: the cases that `hbench import` reads of a text.
std::vector<std::string> imported(const std::string& text) {
  std::vector<std::string> lines;
  const ImportFormat& format = recognise(text, "a.json");
  for (const CaseResult& result : format.parse(text, "a.json", {.better = BetterValue::lower}).cases) {
    std::string values;
    for (const Sample& sample : result.samples) values += fmt::format(" {}", sample.value);
    lines.push_back(fmt::format("{}: {}{} {}", result.asked.benchmark, result.samples.front().metric, values,
                                result.samples.front().unit));
  }
  return lines;
}

TEST(ToolFormats, AreImportedWithTheSameValues) {
  EXPECT_THAT(imported(text_of("bencher")),
              ElementsAre("memory MiB: amount 14 MiB", "reduce B/s: rate 3000000000 B/s",
                          "requests throughput: rate 7 ops/s", "step latency: seconds 0.25 s"));
  EXPECT_THAT(imported(text_of("customSmallerIsBetter")), ElementsAre("step: seconds 0.25 s", "memory: amount 14 MiB"));
  EXPECT_THAT(imported(text_of("customBiggerIsBetter")),
              ElementsAre("reduce: rate 3000000000 B/s", "requests: rate 7 ops/s"));
  EXPECT_THAT(imported(text_of("google-benchmark")), ElementsAre("step: seconds 0.25 0.5 0.125 s"));
}

TEST(ToolFormats, AreWhatTheirToolsDocument) {
  const auto json = [](std::string_view format) { return nlohmann::json::parse(text_of(format)); };
  EXPECT_EQ(json("bencher").at("step"), nlohmann::json::parse(R"(
    {"latency": {"value": 250000000.0, "lower_value": 125000000.0, "upper_value": 500000000.0}})"));
  EXPECT_EQ(json("customSmallerIsBetter").at(0), nlohmann::json::parse(R"(
    {"name": "step", "unit": "ns", "value": 250000000.0, "range": "1.25e+08 to 5e+08 in 3 launches"})"));
  EXPECT_EQ(json("google-benchmark").at("benchmarks").at(1), nlohmann::json::parse(R"(
    {"name": "step", "run_type": "iteration", "repetition_index": 1, "iterations": 1, "real_time": 500000000.0,
     "cpu_time": 500000000.0, "time_unit": "ns"})"));
}

TEST(ToolFormats, AreValidWithoutAFigureAndWithAnyName) {
  for (const ToolFormat& format : tool_formats()) {
    EXPECT_TRUE(nlohmann::json::parse(tool_text(format, {})).is_structured()) << format.name;
    for (const std::string& text : kHostile)
      for (const bool larger_is_worse : {true, false})
        EXPECT_TRUE(nlohmann::json::accept(tool_text(format, {{text, "s", larger_is_worse, {1}}}))) << text;
  }
}

class ToolOutput : public TrackedDatabase {
 protected:
  std::string exported(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--db", file_.string()});
    return printed_by("export", arguments);
  }
};

TEST_F(ToolOutput, OfACheckHasTheLaunchesOfTheHead) {
  add_history(6, {step_of("vgg16"), step_of("gone")});
  add_run("topic", {answer(step_of("vgg16"), 0.106), failed(step_of("gone"), ExitCode::lost_rank)});
  EXPECT_EQ(run({"--format", "google-benchmark"}), ExitCode::lost_rank);
  const nlohmann::json benchmarks = nlohmann::json::parse(printed_).at("benchmarks");
  ASSERT_EQ(benchmarks.size(), 10u);
  EXPECT_EQ(benchmarks.at(9).at("name"), "vgg16, 2 ranks, ring, batch 16");
  EXPECT_NEAR(benchmarks.at(2).at("real_time"), 0.106e9, 1e5);
  EXPECT_EQ(run({"--format", "bencher"}), ExitCode::lost_rank);
  TrackRequest limited;
  limited.limits = {{.match = "vgg16", .value = 0.1}};
  EXPECT_EQ(checked(limited).results.size(), 3u) << "of the case, of that which failed, and of the limit";
  EXPECT_EQ(tool_figures(checked(limited)).size(), 1u);
  EXPECT_THAT(imported(printed_), ElementsAre(StartsWith("vgg16, 2 ranks, ring, batch 16 latency: seconds 0.106")));
}

TEST_F(ToolOutput, OfStoredCasesTellsPlacesApart) {
  Case benchmark = step_of("");
  benchmark.strategy = {};
  benchmark.gpus = 1;
  benchmark.batch_per_gpu = 0;
  benchmark.benchmark = "items";
  CaseResult rate{.asked = benchmark};
  rate.samples.push_back({.metric = std::string(metric::kBenchmarkRate), .value = 40, .unit = "items/s"});
  add_run("main", {answer(step_of("vgg16"), 0.1), answer(step_of("vgg16", "loud"), 0.2), rate});
  const std::string name = "vgg16, 2 ranks, ring, batch 16, machine ";
  EXPECT_THAT(imported(exported({"--format", "bencher"})),
              ElementsAre("items items/s: rate 40 items/s", StartsWith(name + "loud latency: seconds 0.2"),
                          StartsWith(name + "quiet latency: seconds 0.1")));
  testing::internal::CaptureStderr();
  EXPECT_THAT(imported(exported({"--format", "customBiggerIsBetter"})), ElementsAre("items: rate 40 items/s"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "hbench: 2 cases left out, for which customBiggerIsBetter has no place; bencher takes all\n");
  EXPECT_EQ(imported(exported({"--format", "google-benchmark", "--workload", "vgg16"})).size(), 2u);
  expect_refused("export", {"--format", "bencer", "--db", file_.string()}, HasSubstr("bencer"));
}

}  // namespace
}  // namespace hbench::tool_formats_test

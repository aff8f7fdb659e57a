#include "bench/output/points.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/records/case_fields.hpp"
#include "tests/support/words.hpp"

namespace hbench::points_json_test {
namespace {

using nlohmann::json;

Point full_point() {
  Point point;
  point.asked.evidence = Evidence::simulated;
  point.asked.workload = "vgg16";
  point.asked.gpus = 16;
  point.asked.strategy = {.algorithm = "ps",
                          .placement = "sliced",
                          .servers = 4,
                          .server_mode = "colocated",
                          .compressor = "fp16",
                          .fusion = "threshold:25MiB",
                          .overlap = false};
  point.asked.profile = "hkbu-10gbe";
  point.asked.batch_per_gpu = 32;
  point.asked.implementation = "simulator/1";
  point.asked.source = "a \"source\", with\na line break";
  point.step_seconds = 0.5;
  point.throughput = 1024;
  point.throughput_per_gpu = 64;
  point.efficiency = 0.8;
  point.efficiency_low = 0.75;
  point.efficiency_high = 0.85;
  point.interval = "profile uncertainty";
  point.baseline = "one GPU, 80 samples/s";
  point.samples = 8;
  point.producer = {.run = 3,
                    .version = "0.2.0",
                    .started_at = "2026-11-21T09:00:00Z",
                    .labels = {{"branch", "main"}, {"commit", "abc"}}};
  point.throttled = {.iterations = 8, .throttled = 2, .power_capped = 4, .reasons = 0x4 | 0x80};
  return point;
}

TEST(PointsJson, HasEveryFieldOfTheFormat) {
  const json object = json::parse(points_json({full_point()})).at(0);
  EXPECT_TRUE(object.at("failure").is_null());
  const json expected = json::parse(R"({
      "evidence": "simulated", "status": "done", "workload": "vgg16", "gpus": 16, "algorithm": "ps",
      "placement": "sliced", "servers": 4, "server_mode": "colocated", "compressor": "fp16", "fusion": "threshold:25MiB",
      "overlap": false, "profile": "hkbu-10gbe", "throughput": 1024, "throughput_per_gpu": 64, "efficiency": 0.8,
      "efficiency_low": 0.75, "efficiency_high": 0.85, "baseline": "one GPU, 80 samples/s", "step_seconds": 0.5,
      "throttled": 0.25, "power_capped": 0.5, "throttling": "power brake, power cap", "batch_per_gpu": 32,
      "source": "a \"source\", with\na line break", "version": "0.2.0", "run": 3,
      "labels": {"branch": "main", "commit": "abc"}})");
  for (const auto& [name, value] : expected.items()) EXPECT_EQ(object.at(name), value) << name;
  EXPECT_EQ(object.at("strategy"), full_point().asked.strategy.label());
}

TEST(PointsJson, HasEveryFieldOfACase) {
  const json object = json::parse(points_json({full_point()})).at(0);
  for (const CaseField& field : case_fields()) EXPECT_TRUE(object.contains(field.name)) << field.name;
}

TEST(PointsJson, SaysWhyThereIsNoEfficiency) {
  Point point = full_point();
  point.no_baseline = "the baseline was measured on another machine";
  EXPECT_EQ(json::parse(points_json({point})).at(0).at("no_baseline"), point.no_baseline);
}

TEST(PointsJson, SaysNullForWhatIsNotKnown) {
  Point point;
  point.asked.evidence = Evidence::published;
  point.asked.workload = "resnet50";
  point.asked.strategy.algorithm = "ring";
  const json object = json::parse(points_json({point})).at(0);
  for (const std::string& field :
       words_in("failure placement servers server_mode compressor fusion throughput throughput_per_gpu efficiency "
                "efficiency_low efficiency_high interval warnings baseline step_seconds batch_per_gpu collective "
                "executor memory_bytes weight_bytes activation_bytes staleness staleness_p95 staleness_largest "
                "sent_within_bytes sent_between_bytes idle_share throttled power_capped throttling bytes type redop "
                "machine no_baseline version run labels"))
    EXPECT_TRUE(object.at(field).is_null()) << field;
}

TEST(PointsJson, AddsUpWhatAStepKeepsWhereAllOfItIsKnown) {
  Point point;
  point.memory = {{"weights", 4}, {"gradients", 4}, {"optimizer", 8}};
  EXPECT_TRUE(json::parse(points_json({point})).at(0).at("memory_bytes").is_null());
  point.memory["activations"] = 20;
  const json object = json::parse(points_json({point})).at(0);
  EXPECT_EQ(object.at("memory_bytes"), 36);
  EXPECT_EQ(object.at("optimizer_bytes"), 8);
  EXPECT_EQ(object.at("activation_bytes"), 20);
}

TEST(PointsJson, SaysWhyAPointFailed) {
  Point point = full_point();
  point.failed = true;
  point.failure = "rank 1 was lost";
  const json object = json::parse(points_json({point})).at(0);
  EXPECT_EQ(object.at("status"), "failed");
  EXPECT_EQ(object.at("failure"), "rank 1 was lost");
}

TEST(PointsJson, KeepsTheOrderAndIsAnArrayWithoutPointsToo) {
  Point first = full_point(), second = full_point();
  second.asked.gpus = 4;
  const json array = json::parse(points_json({first, second}));
  ASSERT_EQ(array.size(), 2);
  EXPECT_EQ(array[0].at("gpus"), 16);
  EXPECT_EQ(array[1].at("gpus"), 4);
  EXPECT_EQ(points_json({}), "[]\n");
}

TEST(PointsJson, HoldsWhateverBytesAFailureQuotes) {
  Point point = full_point();
  point.failure = "not UTF-8: \xff";
  EXPECT_EQ(json::parse(points_json({point})).size(), 1);
}

/// Fields of CSV text: quotes may hide commas, quotes and line breaks.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"')
      rows.back().back() += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      rows.back().emplace_back();
    else if (c == '\n' && !quoted)
      rows.push_back({""});
    else
      rows.back().back() += c;
  }
  rows.pop_back();
  return rows;
}

TEST(PointsCsv, HasTheFieldsOfTheJsonInItsOrder) {
  const auto rows = parse_csv(points_csv({full_point(), Point{}}));
  ASSERT_EQ(rows.size(), 3);
  const auto object = nlohmann::ordered_json::parse(points_json({full_point()})).at(0);
  ASSERT_EQ(rows[0].size(), object.size());
  ASSERT_EQ(rows[1].size(), object.size());
  ASSERT_EQ(rows[2].size(), object.size());
  std::size_t column = 0;
  for (const auto& [key, value] : object.items()) {
    EXPECT_EQ(rows[0][column], key);
    const std::string expected = value.is_null()     ? ""
                                 : value.is_string() ? value.get<std::string>()
                                 : key == "labels"   ? "branch=main commit=abc"
                                                     : value.dump();
    EXPECT_EQ(rows[1][column], expected) << key;
    ++column;
  }
}

TEST(PointsCsv, DisarmsFormulasAsTheReportsDataDo) {
  for (const char* formula : {"=1+1", "+1+cmd", "-2+3", "@SUM(A1)", "|calc", "%0A", "\t=1"}) {
    Point point = full_point();
    point.asked.source = formula;
    const auto rows = parse_csv(points_csv({point}));
    const auto source = std::ranges::find(rows.at(0), "source") - rows.at(0).begin();
    EXPECT_EQ(rows.at(1).at(static_cast<std::size_t>(source)), std::string("'") + formula);
  }
}

TEST(PointsCsv, HasAHeaderWithoutPointsToo) { EXPECT_EQ(parse_csv(points_csv({})).size(), 1); }

}  // namespace
}  // namespace hbench::points_json_test

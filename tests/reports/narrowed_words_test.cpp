// What is said of a band that is mostly one thing that the user knows.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/choose/choice.hpp"
#include "reports/expect/expectation.hpp"
#include "tests/reports/scaling_points.hpp"

namespace hbench::narrowed_words_test {
namespace {

Point mostly(UnknownKind kind, Point point, double low) {
  point.efficiency_low = low;
  point.efficiency_high = 1;
  point.widest = kind;
  point.narrowed = {kind, {.low = 0.88, .stated = 0.96, .high = 0.99}};
  return point;
}

TEST(NarrowedInWords, IsTheHeadlineWithItsConditionOnEachNetwork) {
  const Point fast = mostly(UnknownKind::input, simulated("vgg16", "fast", 8, kRings, 0.95), 0.38);
  EXPECT_EQ(verdict_on({fast}),
            "8 GPUs, VGG-16, batch 32: ring keeps 96 % (88 to 99) of ideal speed on fast (200 Gbit/s) if input keeps "
            "up, else down to 38 % (simulated).");
  Point slow = simulated("vgg16", "slow", 8, kRings, 0.5);
  EXPECT_EQ(verdict_on({fast, slow}),
            "8 GPUs, VGG-16, batch 32: ring keeps 50 % of ideal speed on slow and 96 % (88 to 99) on fast if input "
            "keeps up, else down to 38 % (simulated).");
  slow = mostly(UnknownKind::input, slow, 0.2);
  slow.narrowed->band = {.low = 0.45, .stated = 0.5, .high = 0.55};
  EXPECT_EQ(verdict_on({slow, simulated("vgg16", "fast", 8, kRings, 0.95)}),
            "8 GPUs, VGG-16, batch 32: ring keeps 50 % (45 to 55) of ideal speed on slow if input keeps up, else "
            "down to 20 %, and 95 % on fast (simulated).");
}

TEST(NarrowedInWords, IsTheAnswerOfChooseAndOneOfItsDoubts) {
  Point point = mostly(UnknownKind::framework, simulated("vgg16", "lab", 8, kRings, 0.95), 0.38);
  Choice choice{.goals = {.efficiency = 0.9, .currency = "USD"}, .workload = "VGG-16"};
  Profile& lab = choice.catalog.profiles["lab"];
  lab.name = lab.title = "lab";
  lab.gpus_per_node = 8;
  choice.alternatives = make_alternatives({point}, {{"lab", {8}}}, choice.goals);
  EXPECT_EQ(std::get<Verdict>(choice_document(choice).blocks.front()).text,
            "VGG-16, batch 32: 8 GPUs of lab (lab) with ring: 96 % (88 to 99) of ideal speed if the framework keeps "
            "up, else down to 38 % (likely). 1 of 1 clusters meets an efficiency of 90 %.");
  const auto cluster = nlohmann::json::parse(choice_json(choice)).at("clusters").at(0);
  EXPECT_EQ(cluster.at("efficiency").at("low"), 0.38) << "the whole band stays";
  EXPECT_EQ(
      cluster.at("not_known").back().at("narrowed"),
      nlohmann::json::parse(R"({"condition": "the framework keeps up", "low": 0.88, "stated": 0.96, "high": 0.99})"));
}

TEST(NarrowedInWords, IsWhatIsExpectedOfATraining) {
  TrainingExpectation found;
  found.measured = 900;
  found.expected = 950;
  found.low = 380;
  found.high = found.alone = 1000;
  found.asked.gpus = 8;
  found.asked.profile = "lab";
  found.narrowed = {UnknownKind::input, {.low = 880, .stated = 960, .high = 990}};
  EXPECT_EQ(std::get<Verdict>(training_expectation_document(found).blocks.front()).text,
            "900 samples/s pass: 960 (880 to 990) samples/s if input keeps up, else down to 380, are expected of "
            "8 GPUs of lab.");
  const auto json = nlohmann::json::parse(training_expectation_json(found));
  EXPECT_EQ(json.at("low_samples_per_second"), 380);
  EXPECT_EQ(json.at("narrowed").at("condition"), "input keeps up");
  EXPECT_EQ(json.at("narrowed").at("low"), 880);
}

}  // namespace
}  // namespace hbench::narrowed_words_test

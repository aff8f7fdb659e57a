// hbench choose for several workloads: a line and a row for each, then what is said of each alone.

#include <nlohmann/json.hpp>

#include "reports/choose/choice.hpp"
#include "reports/formats/formats.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::choose_several_test {
namespace {

/// 8 GPUs, of which each makes 100 samples/s at full efficiency.
Point lab_point(const std::string& cluster, double efficiency) {
  Point made;
  made.asked.profile = cluster;
  made.asked.gpus = 8;
  made.asked.batch_per_gpu = 32;
  made.asked.strategy = {.algorithm = "ring", .compressor = "none"};
  made.efficiency = efficiency;
  made.efficiency_low = efficiency - 0.05;
  made.efficiency_high = efficiency + 0.05;
  made.throughput = 800 * efficiency;
  return made;
}

/// Nodes of 4 GPUs: of `lab` for 8 USD an hour, of `dear` for 12.
Choice choice_of(const std::string& workload, const std::vector<Point>& points, Goals goals) {
  goals.currency = "USD";
  Choice choice{.goals = goals, .workload = workload};
  for (const char* name : {"lab", "dear"}) {
    Profile& profile = choice.catalog.profiles[name];
    profile.name = profile.title = name;
    profile.gpus_per_node = 4;
  }
  choice.alternatives = make_alternatives(points, {{"lab", {4, 8.0}}, {"dear", {4, 12.0}}}, goals);
  return choice;
}

/// Of two workloads: one that both clusters are good enough for, and one that neither is.
std::vector<Choice> two_workloads(const Goals& goals) {
  return {choice_of("VGG-16", {lab_point("dear", 0.88), lab_point("lab", 0.9)}, goals),
          choice_of("ResNet-50", {lab_point("lab", 0.7)}, goals)};
}

template <class Wanted>
std::vector<Wanted> all_of(const Document& document) {
  std::vector<Wanted> all;
  for (const Block& block : document.blocks)
    if (const auto* wanted = std::get_if<Wanted>(&block)) all.push_back(*wanted);
  return all;
}

std::vector<std::string> verdicts_of(const Document& document) {
  std::vector<std::string> texts;
  for (const Verdict& each : all_of<Verdict>(document)) texts.push_back(each.text);
  return texts;
}

TEST(ChooseSeveral, AnswersForEachInALineAndARow) {
  const Document document = choice_document(two_workloads({.efficiency = 0.8}), false);
  EXPECT_EQ(document.title, "Where to train VGG-16, ResNet-50");
  EXPECT_THAT(
      verdicts_of(document),
      ElementsAre("VGG-16, batch 32: 8 GPUs of lab: 90 % (85 to 95) of ideal speed, 16 USD/h (pass).",
                  "ResNet-50, batch 32: nothing meets an efficiency of 80 %; the nearest is 8 GPUs of lab: 70 % "
                  "(65 to 75) of ideal speed, 16 USD/h (failed)."));
  const std::vector<Table> tables = all_of<Table>(document);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_THAT(titles_of(tables[0]), ElementsAre("workload", "cluster", "GPUs", "strategy", "efficiency", "samples/s",
                                                "of one GPU", "memory", "USD/h", "meets", "runner-up"));
  EXPECT_THAT(tables[0].rows, ElementsAre(ElementsAre("VGG-16, batch 32", "lab", "8", "ring", "90 % (85 to 95)", "720",
                                                      "100", "-", "16", "pass", "dear"),
                                          ElementsAre("ResNet-50, batch 32", "lab", "8", "ring", "70 % (65 to 75)",
                                                      "560", "100", "-", "16", "failed", "-")));
}

// 2.592 M samples at 720/s, 680 to 760: an hour, 57 to 64 minutes; 16 USD/h.
TEST(ChooseSeveral, SaysTimesAndCostsWhereSamplesAreCounted) {
  const Goals hour{.samples = 2'592'000, .hours = 2};
  EXPECT_THAT(
      verdicts_of(choice_document(
          {choice_of("VGG-16", {lab_point("lab", 0.9)}, hour), choice_of("ResNet-50", {lab_point("dear", 0.9)}, hour)},
          false)),
      ElementsAre("VGG-16, batch 32: 8 GPUs of lab: 90 % (85 to 95) of ideal speed, 1.0 h (0.9 to 1.1), 16 (15 to 17) "
                  "USD (pass).",
                  "ResNet-50, batch 32: 8 GPUs of dear: 90 % (85 to 95) of ideal speed, 1.0 h (0.9 to 1.1), 24 (23 to "
                  "25) USD (pass)."));
}

TEST(ChooseSeveral, SaysBelowWhatIsSaidOfEachAlone) {
  const std::vector<Choice> choices = two_workloads({.efficiency = 0.8});
  const Document document = choice_document(choices, true);
  const std::vector<Heading> headings = all_of<Heading>(document);
  ASSERT_EQ(headings.size(), 2U);
  EXPECT_EQ(headings[0].text, "Where to train VGG-16");
  EXPECT_EQ(headings[1].text, "Where to train ResNet-50");
  const std::size_t alone = choice_document(choices[0]).blocks.size() + choice_document(choices[1]).blocks.size();
  EXPECT_EQ(document.blocks.size(), 2 + 1 + headings.size() + alone) << "lines and the table of both come before";
}

TEST(ChooseSeveral, SaysOfOneWhatItAlwaysSaid) {
  const std::vector<Choice> one{two_workloads({.efficiency = 0.8}).front()};
  for (const bool with_details : {false, true})
    EXPECT_EQ(kMarkdownFormat.render(choice_document(one, with_details)),
              kMarkdownFormat.render(choice_document(one.front())));
  EXPECT_EQ(choice_json(one), choice_json(one.front()));
}

TEST(ChooseSeveral, PrintsTheObjectOfEachAsJson) {
  const std::vector<Choice> choices = two_workloads({.efficiency = 0.8});
  const auto json = nlohmann::json::parse(choice_json(choices));
  ASSERT_EQ(json.size(), 1U);
  EXPECT_THAT(json.at("workloads"), ElementsAre(nlohmann::json::parse(choice_json(choices[0])),
                                                nlohmann::json::parse(choice_json(choices[1]))));
}

TEST(ChooseSeveral, TakesSeveralWorkloadsEachWithItsClusters) {
  const std::string text = printed_by("choose", {"--workload", "resnet50,vgg16", "--gpus", "8", "--profile",
                                                 "aws-p3-25gbe,dgx-a100", "--quiet", "--wide"});
  EXPECT_THAT(text, ContainsRegex("\n=> ResNet-50, batch [0-9]+: 8 GPUs of [^\n]*\\.\n(\n)?=> VGG-16, batch "));
  EXPECT_THAT(text, Not(HasSubstr("Nothing is both"))) << "details are for pages";
  expect_refused("choose",
                 {"--workload", "vgg16,resnet50", "--gpus", "8", "--profile", "dgx-a100", "--epochs", "1", "--budget",
                  "50usd", "--quiet"},
                 "nothing is left to choose from for vgg16", "dgx-a100: no price is known");
}

}  // namespace
}  // namespace hbench::choose_several_test

// What hbench choose prints of alternatives: verdict, tables, charts, prices.

#include "reports/choose/choice.hpp"
#include "reports/choose/choice_charts.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::choice_document_test {
namespace {

/// 100 samples/s for each GPU at full efficiency.
Point lab_point(int gpus, double efficiency) {
  Point made;
  made.asked.profile = "lab";
  made.asked.gpus = gpus;
  made.asked.batch_per_gpu = 32;
  made.asked.strategy = {.algorithm = "ring", .compressor = "none"};
  made.efficiency = efficiency;
  made.efficiency_low = efficiency - 0.05;
  made.efficiency_high = efficiency + 0.05;
  made.throughput = 100 * gpus * efficiency;
  return made;
}

/// Nodes of 4 GPUs at 8 USD an hour.
std::vector<std::vector<std::string>> rows_of(const std::string& caption, const std::vector<Point>& points,
                                              const Goals& goals) {
  Choice choice{.goals = goals, .workload = "VGG-16"};
  choice.goals.currency = "USD";
  Profile& lab = choice.catalog.profiles["lab"];
  lab.name = lab.title = "lab";
  lab.gpus_per_node = 4;
  lab.price = Price{.per_node_hour = {8, "USD"}};
  choice.alternatives = make_alternatives(points, {{"lab", {4, 8.0}}}, goals);
  for (const Block& block : choice_document(choice).blocks)
    if (const auto* table = std::get_if<Table>(&block); table != nullptr && table->caption == caption)
      return table->rows;
  return {};
}

using Rows = std::vector<std::vector<std::string>>;

// 720 samples/s for 16 USD/h are 162,000 for a dollar; 400 more for 16 USD/h more 90,000 for each of these.
TEST(ChoiceDocument, SaysWhatTheNextDoublingBuysForTheNextDollar) {
  const char* caption = "What the next doubling of GPUs buys";
  EXPECT_EQ(rows_of(caption, {lab_point(8, 0.9), lab_point(16, 0.7)}, {.efficiency = 0.8}),
            (Rows{{"lab", "8 to 16", "720 to 1120", "+56 %", "162000", "90000"}}));
  EXPECT_EQ(rows_of(caption, {lab_point(2, 0.9), lab_point(4, 0.7)}, {.efficiency = 0.8}),
            (Rows{{"lab", "2 to 4", "180 to 280", "+56 %", "81000", "the same nodes"}}));
  EXPECT_EQ(rows_of(caption, {lab_point(8, 0.9), lab_point(16, 0.4)}, {.efficiency = 0.8}),
            (Rows{{"lab", "8 to 16", "720 to 640", "-11 %", "162000", "0"}}));
  EXPECT_EQ(rows_of(caption, {lab_point(8, 0.9)}, {.efficiency = 0.8}), Rows{});
}

// 2.592 M samples at 720/s, 680 to 760: an hour, 57 to 64 minutes; 16 USD/h.
TEST(ChoiceDocument, GivesEachFigureWithItsBandInOneUnit) {
  const char* caption = "The best of each cluster, the best cluster first";
  EXPECT_EQ(rows_of(caption, {lab_point(8, 0.9)}, {.samples = 2'592'000, .hours = 1.02}),
            (Rows{{"lab", "8", "ring", "90 % (85 to 95)", "720", "100", "-", "1.0 h (0.9 to 1.1)", "16 (15 to 17)",
                   "likely"}}));
  EXPECT_EQ(rows_of(caption, {lab_point(8, 0.9)}, {.samples = 259'200, .hours = 1}),
            (Rows{{"lab", "8", "ring", "90 % (85 to 95)", "720", "100", "-", "6 min (6 to 6)", "1.60 (1.52 to 1.69)",
                   "pass"}}));
  EXPECT_EQ(rows_of(caption, {lab_point(8, 0.9)}, {.samples = 2'592e5, .hours = 96}).at(0).at(7), "4.2 d (3.9 to 4.4)");
  EXPECT_EQ(rows_of(caption, {lab_point(8, 0.9)}, {.efficiency = 0.93}),
            (Rows{{"lab", "8", "ring", "90 % (85 to 95)", "720", "100", "-", "16", "failed"}}));
}

Alternative lab_alternative(int gpus, double efficiency, const char* cluster = "lab") {
  Point point = lab_point(gpus, efficiency);
  point.asked.profile = cluster;
  return make_alternatives({point}, {{cluster, {4, 8.0}}}, {.samples = 2'592'000}).at(0);
}

TEST(ChoiceCharts, DrawTimeAndCostAndEfficiencyByGpuCounts) {
  Choice choice{.goals = {.samples = 1, .currency = "USD"}, .workload = "VGG-16"};
  choice.alternatives = {lab_alternative(16, 0.7), lab_alternative(8, 0.9)};
  const std::vector<Chart> charts = choice_charts(choice, {choice.alternatives[1]});
  ASSERT_EQ(charts.size(), 2U);
  const auto points = [](const Chart& chart) {
    std::vector<std::pair<double, double>> all;
    for (const ChartPoint& point : chart.series.at(0).points) all.emplace_back(point.x, point.y);
    return all;
  };
  const auto is = [](double x, double y) { return Pair(DoubleNear(x, 1e-9), DoubleNear(y, 1e-9)); };
  EXPECT_THAT(points(charts[0]), ElementsAre(is(1, 16), is(9 / 14.0, 9 / 14.0 * 32)));
  EXPECT_THAT(points(charts[1]), ElementsAre(is(8, 0.9), is(16, 0.7)));
  EXPECT_EQ(charts[1].series[0].points[0].low, choice.alternatives[1].efficiency.low);
  EXPECT_EQ(charts[0].series[0].points[0].note, "8 GPUs, ring");
  EXPECT_EQ(charts[0].series[0].points[1].label, "16");
  EXPECT_EQ(charts[1].y_max, 1) << "no cluster keeps more than all";
}

TEST(ChoiceCharts, HaveLinesForWhatTheJobMayTake) {
  Choice choice{.goals = {.efficiency = 0.8, .samples = 1, .hours = 6, .budget = 500, .currency = "USD"},
                .workload = "VGG-16"};
  choice.alternatives = {lab_alternative(16, 0.7), lab_alternative(8, 0.9)};
  const std::vector<Chart> charts = choice_charts(choice, {choice.alternatives[1]});
  ASSERT_EQ(charts.size(), 2U);
  ASSERT_EQ(charts[0].lines.size(), 2U);
  EXPECT_EQ(charts[0].lines[0].label, "deadline: 6 h");
  EXPECT_TRUE(charts[0].lines[0].vertical);
  EXPECT_EQ(charts[0].lines[1].label, "budget: 500 USD");
  EXPECT_EQ(charts[0].lines[1].at, 500);
  ASSERT_EQ(charts[1].lines.size(), 1U);
  EXPECT_EQ(charts[1].lines[0].label, "at least 80 %");
  for (const Chart& chart : charts) EXPECT_TRUE(chart.end_labels);
}

TEST(ChoiceCharts, HaveSixClustersAtMostAndNoneWithoutTwoCounts) {
  Choice choice{.goals = {.currency = "USD"}, .workload = "VGG-16"};
  for (const char* cluster : {"a", "b", "c", "d", "e", "f", "g"})
    choice.alternatives.push_back(lab_alternative(8, 0.9, cluster));
  const std::vector<Alternative> best = choice.alternatives;
  EXPECT_TRUE(choice_charts(choice, best).empty());
  choice.alternatives.push_back(lab_alternative(16, 0.9, "b"));
  const std::vector<Chart> charts = choice_charts(choice, best);
  ASSERT_EQ(charts.size(), 2U);
  EXPECT_EQ(charts[1].series.size(), 6U);
  EXPECT_FALSE(charts[1].series[0].points[0].low) << "six bands on top of each other";
}

std::string verdict_of(const std::vector<Point>& points, const Goals& goals, double on_any_network = 0,
                       const std::vector<std::string>& profiles = {}) {
  Choice choice{.goals = goals, .workload = "VGG-16", .timeline = "vgg16"};
  choice.goals.currency = "USD";
  Profile& lab = choice.catalog.profiles["lab"];
  lab.name = lab.title = "lab";
  lab.gpus_per_node = 4;
  choice.alternatives = make_alternatives(points, {{"lab", {4, 8.0}}}, choice.goals);
  choice.flags = " --method fsdp";
  choice.profiles = profiles;
  choice.on_any_network = on_any_network;
  return std::get<Verdict>(choice_document(choice).blocks.at(0)).text;
}

TEST(ChoiceDocument, AdvisesNoNetworkWhereNoneWouldDo) {
  const std::vector<Point> points{lab_point(8, 0.7)};
  EXPECT_THAT(verdict_of(points, {.efficiency = 0.9}, 0.95),
              AllOf(HasSubstr("It misses by 20 points. "), HasSubstr("It would take another network (")));
  EXPECT_THAT(
      verdict_of(points, {.efficiency = 0.9}, 0.8),
      HasSubstr("It would take more than a network: it would keep 80 % on one of any rate. Larger batches help, "
                "and hbench bandwidth --workload vgg16 --profile lab --gpus 8 --target 90% --method fsdp says "
                "what holds it back."));
}

TEST(ChoiceDocument, AdvisesACommandWithTheProfileAsItWasTyped) {
  const std::vector<std::string> typed{"dgx-a100", "./my clusters/lab.toml"};
  EXPECT_THAT(verdict_of({lab_point(8, 0.7)}, {.efficiency = 0.9}, 0.95, typed),
              HasSubstr("hbench bandwidth --workload vgg16 --profile \"./my clusters/lab.toml\" --gpus 8 --target"));
}

// 8 GPUs at 80 % are 640 samples/s: 2.304 M samples take an hour, on two nodes for 8 USD each.
TEST(ChoiceDocument, LeadsWithTimeAndCostWhereNoEfficiencyWasAskedFor) {
  EXPECT_THAT(verdict_of({lab_point(8, 0.8)}, {.efficiency = 0.9, .usual_efficiency = true, .samples = 2'304'000}),
              StartsWith("VGG-16, batch 32: 2.3 M samples take 1.0 h (0.9 to 1.1) and 16 (15 to 17) USD, on 8 GPUs of "
                         "lab (lab) with ring: 80 % (75 to 85) of ideal speed. The one cluster here does not keep the "
                         "usual 90 %. It would take another network"));
}

// 8 GPUs at 90 % are 720 samples/s, an hour for 2.592 M samples and 16 USD for the two nodes.
TEST(ChoiceDocument, SaysWhatItWouldTakeWhereNobodyMeetsTheGoals) {
  const std::vector<Point> points{lab_point(8, 0.9)};
  EXPECT_THAT(verdict_of(points, {.efficiency = 0.99}),
              AllOf(HasSubstr("the one cluster here does not meet"),
                    HasSubstr("It would take another network (hbench bandwidth --workload vgg16 --profile lab --gpus 8 "
                              "--target 99% --method fsdp says which).")));
  EXPECT_EQ(
      verdict_of({lab_point(4, 0.9)}, {.efficiency = 0.99}),
      "VGG-16, batch 32: the one cluster here does not meet an efficiency of 99 %. The nearest is 4 GPUs of lab "
      "(lab) with "
      "ring: 90 % (85 to 95) of ideal speed. It misses by 9 points. It would take other links between the GPUs of a "
      "node, or larger batches.");
  EXPECT_THAT(verdict_of(points, {.samples = 2'592'000, .hours = 0.5}),
              HasSubstr("It would take 2 times the samples/s: as many more GPUs"));
  EXPECT_THAT(verdict_of(points, {.samples = 2'592'000, .budget = 4}),
              HasSubstr("It would take a node for 2.00 USD an hour, or 648000 samples."));
  EXPECT_THAT(verdict_of(points, {.samples = 2'592'000, .hours = 0.5, .budget = 4}),
              AllOf(HasSubstr("2 times the samples/s"), HasSubstr(", and a node for 2.00 USD")));
  EXPECT_EQ(verdict_of(points, {.efficiency = 0.9}),
            "VGG-16, batch 32: 8 GPUs of lab (lab) with ring: 90 % (85 to 95) of ideal speed (likely). 1 of 1 clusters "
            "meets an efficiency of 90 %.");
}

/// Two clusters of nodes of 4 GPUs: `lab` at 8 USD an hour and `dear` at 12, each with a price of its own date and
/// kind.
Choice two_clusters(const char* lab_date, const char* dear_date, PurchaseModel dear = PurchaseModel::on_demand) {
  Choice choice{.goals = {.samples = 2'592'000, .currency = "USD"}, .workload = "VGG-16"};
  for (const char* name : {"lab", "dear"}) {
    Profile& profile = choice.catalog.profiles[name];
    profile.name = profile.title = name;
    profile.gpus_per_node = 4;
  }
  choice.catalog.profiles["lab"].price = Price{.per_node_hour = {8, "USD"}, .retrieved = lab_date};
  choice.catalog.profiles["dear"].price = Price{.per_node_hour = {12, "USD"}, .retrieved = dear_date, .model = dear};
  Point second = lab_point(8, 0.9);
  second.asked.profile = "dear";
  choice.alternatives =
      make_alternatives({lab_point(8, 0.9), second}, {{"lab", {4, 8.0}}, {"dear", {4, 12.0, 1, dear}}}, choice.goals);
  choice.today = std::chrono::sys_days(std::chrono::year(2026) / 11 / 26);
  return choice;
}

std::string text_of(const Choice& choice) {
  std::string text;
  for (const Block& block : choice_document(choice).blocks) {
    if (const auto* paragraph = std::get_if<Paragraph>(&block)) text += paragraph->text + "\n";
    if (const auto* warnings = std::get_if<Warnings>(&block))
      for (const std::string& each : warnings->texts) text += each + "\n";
    if (const auto* table = std::get_if<Table>(&block)) text += table->caption + "\n";
  }
  return text;
}

// Equal speeds: the order changes where the prices are equal.
TEST(ChoiceDocument, SaysAtWhichPriceTheFirstTwoChangePlaces) {
  const Choice choice = two_clusters("2026-11-20", "2026-11-20");
  EXPECT_THAT(
      text_of(choice),
      HasSubstr("lab is cheaper than dear until a node of it costs 12.00 USD an hour (now 8.00 USD), or one of dear "
                "8.00 USD (now 12.00 USD): the order changes at 1.00 ("));
  const auto flip = nlohmann::json::parse(choice_json(choice)).at("price_flip");
  EXPECT_EQ(flip.at("first"), "lab");
  EXPECT_NEAR(flip.at("first_per_node_hour"), 12, 1e-9);
  EXPECT_NEAR(flip.at("ratio").at("stated"), 1, 1e-9);
}

TEST(ChoiceDocument, WarnsOfPricesOlderThanNinetyDays) {
  EXPECT_THAT(text_of(two_clusters("2026-08-28", "2026-08-27")),
              AllOf(HasSubstr("prices older than 90 days: dear (2026-08-27); look again"), Not(HasSubstr("lab ("))));
  EXPECT_THAT(text_of(two_clusters("2026-11-20", "not stated")),
              HasSubstr("prices of which nobody states the day: dear"));
  EXPECT_THAT(text_of(two_clusters("2026-11-20", "2026-11-20")), Not(HasSubstr("look again")));
  const auto cluster =
      nlohmann::json::parse(choice_json(two_clusters("2026-08-28", "2026-08-27"))).at("clusters").at(0);
  EXPECT_EQ(cluster.at("price").at("age_days"), 90);
}

TEST(ChoiceDocument, NeverRanksSpotAndOnDemandTogether) {
  const Choice choice = two_clusters("2026-11-20", "2026-11-20", PurchaseModel::spot);
  EXPECT_THAT(text_of(choice), AllOf(HasSubstr("Bought as spot"), Not(HasSubstr("is cheaper than"))));
  const auto json = nlohmann::json::parse(choice_json(choice));
  EXPECT_EQ(json.at("clusters").size(), 1U);
  EXPECT_EQ(json.at("other_purchases").at(0).at("model"), "spot");
  EXPECT_EQ(json.at("other_purchases").at(0).at("clusters").at(0).at("cluster"), "dear");
  EXPECT_EQ(json.at("price_flip"), nullptr);
}

}  // namespace
}  // namespace hbench::choice_document_test

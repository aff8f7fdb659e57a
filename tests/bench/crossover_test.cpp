// hbench bandwidth --strategies: who is the fastest, and when that cannot be said.

#include "analysis/bandwidth/crossover.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/points/unknowns.hpp"
#include "analysis/prediction/validate.hpp"
#include "bench/launch/installation.hpp"
#include "collectives/base/table.hpp"
#include "collectives/network/choose.hpp"
#include "reports/bandwidth/bandwidth.hpp"
#include "tests/bench/lab.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::crossover_test {
namespace {

SimulatedStep step_of(double seconds) {
  SimulatedStep step;
  step.times.step = step.fast = step.slow = Seconds(seconds);
  return step;
}

TEST(FastestOf, IsAheadByMoreThanTheModelsErrorLikelyByHalfOfItOrLevel) {
  const SimulatedStep quick = step_of(1), close = step_of(1.04), near = step_of(1.1), slow = step_of(1.2);
  struct Row {
    std::vector<const SimulatedStep*> steps;
    std::vector<std::size_t> candidates;
    LeadVerdict verdict;
  };
  for (const Row& row :
       {Row{{&slow, &quick}, {1}, LeadVerdict::ahead}, Row{{nullptr, &slow}, {1}, LeadVerdict::ahead},
        Row{{&slow, &near, &quick}, {2}, LeadVerdict::likely}, Row{{nullptr, &slow, &near}, {2}, LeadVerdict::likely},
        Row{{&slow, &near, &close, &quick}, {3, 2}, LeadVerdict::level},
        Row{{nullptr, nullptr}, {}, LeadVerdict::ahead}}) {
    const Fastest fastest = fastest_of(row.steps);
    EXPECT_EQ(fastest.candidates, row.candidates);
    EXPECT_EQ(fastest.verdict, row.verdict);
  }
}

std::vector<double> gigabits_of(const std::string& text) {
  std::vector<double> values;
  for (const BytesPerSecond rate : parse_bandwidths(text)) values.push_back(rate.value * 8 / 1e9);
  return values;
}

TEST(Bandwidths, AreReadAsRangesAndLists) {
  EXPECT_THAT(gigabits_of("1..10"), ElementsAre(1, 2, 4, 8, 10));
  EXPECT_THAT(gigabits_of("25,2.5,25"), ElementsAre(2.5, 25));
  const auto refused = [](const char* text, const char* what) {
    expect_error([&] { parse_bandwidths(text); }, ExitCode::usage, AllOf(HasSubstr("--bandwidth"), HasSubstr(what)));
  };
  refused("fast", "'fast' is not a number");
  refused("0", "0 Gbit/s is no bandwidth");
  refused("-5", "-5 Gbit/s is no bandwidth");
  refused("nan", "'nan' is not a number");
  refused("10..1", "runs backwards");
  refused("10,,20", "--bandwidth");
  refused("1..", "'' is not a number");
}

TEST(MessageSizes, AreReadAsRangesAndLists) {
  EXPECT_THAT(parse_message_sizes("1K..100K"), ElementsAre(1024, 4096, 16384, 65536, 102400));
  EXPECT_THAT(parse_message_sizes("1M,64K"), ElementsAre(65536, 1048576));
  for (const char* text : {"1..4", "1K..32G", "4M..1M", "0", "many"})
    expect_error([&] { parse_message_sizes(text); }, ExitCode::usage, HasSubstr("--bytes"));
}

std::string crossover_by(std::vector<std::string> arguments) {
  arguments.emplace_back("--quiet");
  if (std::ranges::find(arguments, "--collective") == arguments.end()) arguments.emplace_back("--strategies");
  return printed_by("bandwidth", std::move(arguments));
}

// VGG-16 on slow networks sends for seconds: half the bytes win. On fast ones nothing is left to win.
TEST(CrossoverVerb, LetsHalfTheBytesWinOnASlowNetworkAndNobodyOnAFastOne) {
  const auto json = nlohmann::json::parse(
      crossover_by({"--workload", "resnet50", "--gpus", "32", "--profile", "hkbu-10gbe", "--algorithm", "ring",
                    "--compressor", "none,fp16", "--bandwidth", "1,400", "--json"}));
  const auto& cells = json.at("maps").at(0).at("cells");
  ASSERT_EQ(cells.size(), 2);
  EXPECT_EQ(cells.at(0).at("fastest"), nlohmann::json({"ddp: ring + fp16"}));
  EXPECT_EQ(cells.at(0).at("verdict"), "ahead");
  EXPECT_EQ(cells.at(0).at("tie"), false);
  EXPECT_EQ(cells.at(1).at("fastest").size(), 2);
  EXPECT_EQ(cells.at(1).at("verdict"), "level");
  EXPECT_EQ(cells.at(1).at("tie"), true);
  const auto& efficiency = cells.at(0).at("efficiency").at("ddp: ring");
  EXPECT_LT(efficiency.at("low"), efficiency.at("stated"));
  EXPECT_LT(efficiency.at("stated"), efficiency.at("high"));
}

TEST(CrossoverVerb, TakesFrameworksInPlaceOfTheUsualAlgorithmsOrBesideNamedOnes) {
  const auto candidates = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--workload", "vgg16", "--gpus", "16", "--bandwidth", "10", "--preset", "horovod,byteps",
                             "--compressor", "none", "--json"});
    return nlohmann::json::parse(crossover_by(more)).at("candidates");
  };
  EXPECT_EQ(candidates({}), nlohmann::json({"horovod: ring", "byteps: ps (sliced, colocated)"}));
  EXPECT_EQ(candidates({"--algorithm", "ring"}).size(), 3);
}

TEST(CrossoverVerb, ShowsTiesAsLettersTogether) {
  const std::string text = crossover_by({"--workload", "vgg16", "--gpus", "8,16", "--bandwidth", "1,10,200"});
  EXPECT_THAT(text, AllOf(HasSubstr("A       ddp: ring"), HasSubstr("(level)"), HasSubstr("~"),
                          HasSubstr("8 GPUs: they are on one node")));
}

TEST(CrossoverDocument, ColoursWhoIsAheadTheClearerTheFurtherAhead) {
  const CellFigure half{.stated = 0.5}, most{.stated = 0.9}, nearly{.stated = 0.6};
  Crossover crossover{.candidates = {"ring", "ps"}};
  crossover.maps.push_back({.title = "VGG-16",
                            .row_title = "GPUs",
                            .column_title = "Gbit/s per node",
                            .rows = {"8", "16"},
                            .columns = {"1", "10"},
                            .places = {1, 10},
                            .fastest = {{{.candidates = {0}}, {.candidates = {1}, .verdict = LeadVerdict::likely}},
                                        {{.candidates = {1, 0}, .verdict = LeadVerdict::level}, {}}},
                            .figures = {{{most, half}, {half, nearly}}, {{half, half}, {{}, {}}}}});
  const Document document = crossover_document(crossover);
  EXPECT_EQ(std::get<Verdict>(document.blocks.at(0)).text,
            "Simulated, the fastest: VGG-16, 16 GPUs: 1 Gbit/s per node, all (level); 10, nothing.");
  const auto& map = std::get<Table>(document.blocks.at(1));
  EXPECT_THAT(map.rows.at(0), ElementsAre("8", "A", "B?"));
  EXPECT_THAT(map.rows.at(1), ElementsAre("16", "all", "-"));
  EXPECT_EQ(map.tints.at(0).at(1).group, "ring");
  EXPECT_NEAR(map.tints.at(0).at(1).strength, 0.8, 1e-9) << "0.9 is 80 % more than 0.5";
  EXPECT_NEAR(map.tints.at(0).at(2).strength, 0.2, 1e-9);
  EXPECT_EQ(map.tints.at(0).at(2).label, "ps?");
  EXPECT_EQ(map.tints.at(1).at(1).group, "") << "a tie";
  EXPECT_EQ(map.tints.at(1).at(1).label, "ps ~ ring");
  const Chart& chart = std::get<ChartGroup>(document.blocks.back()).charts.at(0);
  EXPECT_TRUE(chart.panels);
  EXPECT_EQ(chart.series.size(), 4U) << "two candidates in a panel for each number of GPUs";
  EXPECT_EQ(chart.series.at(3).group, "ps");
  EXPECT_EQ(chart.series.at(3).family, "16 GPUs");
}

TEST(CrossoverVerb, MapsSingleAllReducesOverRanksAndOverRates) {
  const auto map = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--collective", "all_reduce", "--profile", "hkbu-10gbe", "--json"});
    return nlohmann::json::parse(crossover_by(arguments)).at("maps").at(0).at("cells");
  };
  const auto cells = map({"--bytes", "4K,64M", "--gpus", "8,16"});
  ASSERT_EQ(cells.size(), 4);
  const Profile profile = load_data().profiles.load("hkbu-10gbe");
  const std::vector<std::int64_t> sizes{4096, 64 << 20};
  const AlgorithmAdvice advice = choose_algorithm(profile, 16, sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(cells.at(2 + i).at("fastest").at(0), advice.sizes[i].best.algorithm);
    EXPECT_EQ(cells.at(2 + i).at("tie"), std::log1p(advice.sizes[i].margin()) <= kCollectiveError / 2);
  }
  EXPECT_EQ(map({"--bytes", "4K,64M", "--gpus", "16", "--bandwidth", "10,100,400"}).size(), 6);
}

TEST(CrossoverVerb, StopsWhereItIs) {
  const Data data = load_data();
  const auto interrupted = [](auto call) {
    expect_error(call, ExitCode::interrupted, "the simulation was interrupted", testing::_);
  };
  PredictionRequest request;
  request.gpus = {16};
  request.workloads = {"vgg16"};
  request.profiles = {"aws-p3-25gbe"};
  request.algorithms = {"ring", "ps"};
  const StopRequested now = [] { return true; };
  interrupted([&] { training_crossover(request, parse_bandwidths("10"), data, {.stop = now}); });
  const Profile profile = data.profiles.load("aws-p3-25gbe");
  interrupted([&] { all_reduce_crossover(profile, {16}, {}, {4096}, now); });
}

TEST(CrossoverVerb, RefusesWhatMakesNoSenseInOneLine) {
  const auto refused = [](const std::vector<std::string>& arguments, const char* what, const char* hint) {
    expect_error([&] { crossover_by(arguments); }, ExitCode::usage, what, hint);
  };
  refused({"--gpus", "1"}, "nothing to do: without more than one node of aws-p3-25gbe (8 GPUs) no network is used",
          "ask for more, such as --gpus 16..128");
  refused({"--algorithm", "ring", "--compressor", "none"}, "there is only one strategy to compare",
          "name two or more with --algorithm");
  refused({"--collective", "broadcast"}, "--collective broadcast: its algorithms are not compared",
          "all_reduce is; hbench collective times the others");
  refused({"--collective", "all_reduce", "--gpus", "1"}, "one rank has nothing to reduce", "ask for --gpus 2 or more");
  refused({"--collective", "all_reduce", "--gpus", "1024"}, "1024 ranks are more than a map of all-reduces takes",
          "ask for 512 at most");
  refused({"--collective", "all_reduce", "--gpus", "8,16", "--bandwidth", "10"},
          "a map of rates and sizes is for one number of ranks", "give --gpus one count");
  refused({"--bytes", "1K"}, "--bytes requires --collective", "hbench bandwidth --help explains every option");
}

}  // namespace
}  // namespace hbench::crossover_test

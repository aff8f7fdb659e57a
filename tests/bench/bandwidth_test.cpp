// hbench bandwidth: searched rates beside closed forms, what holds a step back, and the words for it.

#include "analysis/bandwidth/bandwidth.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/launch/host.hpp"
#include "bench/launch/installation.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "reports/bandwidth/bandwidth.hpp"
#include "tests/bench/lab.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::bandwidth_test {
namespace {

constexpr double kCompute = 0.1, kBytes = 1e8;

/// The rate at which a ring that begins after the compute takes all that an efficiency leaves:
/// 2 (N - 1) / N S / (t (1 / X - 1) - 2 (N - 1) alpha).
double ring_needs(int gpus, double target, double latency = 0) {
  const double n = gpus;
  return 2 * (n - 1) / n * kBytes / (kCompute * (1 / target - 1) - 2 * (n - 1) * latency);
}

RequiredBandwidth search(const PlannedCase& asked, double target, const Catalog& catalog = lab_catalog()) {
  VariedNetwork network(catalog);
  return search_required(asked, target, network);
}

void expect_found(const std::optional<BytesPerSecond>& found, double rate) {
  ASSERT_TRUE(found);
  EXPECT_GE(found->value, rate * (1 - 1e-9));
  EXPECT_LE(found->value, rate * (1 + kSearchTolerance) * (1 + 1e-9));
}

TEST(LeastRate, IsFoundWithinItsTolerance) {
  for (const double edge : {2e3, 1.2345e9, 9e14})
    expect_found(least_rate([&](BytesPerSecond rate) { return rate.value >= edge; }), edge);
}

TEST(LeastRate, IsTheLeastThereIsWhereAllMeetAndNoneWhereNoneDoes) {
  EXPECT_EQ(least_rate([](BytesPerSecond) { return true; }), kLeastRate);
  EXPECT_EQ(least_rate([](BytesPerSecond) { return false; }), std::nullopt);
}

TEST(VariedNetwork, CarriesTheRateOverEveryPathAndKeepsTheRest) {
  Profile profile;
  profile.line_rate = BytesPerSecond(3e9);
  profile.nics = 4;
  profile.protocol_efficiency = 0.5;
  profile.stream_cap = BytesPerSecond(1e9);
  profile.stream_factor = 4;
  profile.server_rate = BytesPerSecond(2e9);
  profile.network_latency = Seconds(1e-5);
  profile.local_rate = BytesPerSecond(7e9);
  const Profile varied = with_network_rate(profile, BytesPerSecond(5e9));
  EXPECT_DOUBLE_EQ(varied.node_rate().value, 5e9);
  EXPECT_DOUBLE_EQ(varied.path_rate().value, 5e9);
  EXPECT_DOUBLE_EQ(varied.at(End::better).path_rate().value, 5e9);
  EXPECT_EQ(varied.server_rate, profile.server_rate);
  EXPECT_EQ(varied.network_latency, profile.network_latency);
  EXPECT_EQ(varied.local_rate, profile.local_rate);
}

TEST(RequiredBandwidth, OfARingWithoutOverlapIsTheClosedForm) {
  for (const int gpus : {2, 4, 5})
    for (const double target : {0.3, 0.8, 0.95})
      expect_found(search(lab_case(gpus), target).stated, ring_needs(gpus, target));
}

TEST(RequiredBandwidth, LeavesLatencyAsItIs) {
  Catalog catalog = lab_catalog();
  catalog.profiles["lab"].network_latency = Seconds(1e-3);
  expect_found(search(lab_case(4), 0.8, catalog).stated, ring_needs(4, 0.8, 1e-3));
}

// Half the bytes; the coding is free in the lab.
TEST(RequiredBandwidth, IsHalfWithHalfTheBytes) {
  expect_found(search(lab_case(4, "ring", "fp16"), 0.8).stated, ring_needs(4, 0.8) / 2);
}

/// The unknowns of a step of the lab whose communication takes so long, with its better and worse ends.
BandFactors band_of_lab(double communication, double better, double worse) {
  const Catalog catalog = lab_catalog();
  const Trace& trace = catalog.traces.begin()->second;
  return band_of(unknowns_of({.step = kCompute + communication,
                              .better = better,
                              .worse = worse,
                              .hidden = 0,
                              .exposed = communication,
                              .nodes = 4,
                              .gpus_of_node = 1,
                              .tensors = static_cast<double>(trace.timeline.gradients.size()),
                              .bytes = kBytes,
                              .switched_links = false}));
}

// The better end of the band has a network 20 % faster, the worse one 20 % slower with what a bucket may cost on the
// host; with them come the other unknowns. No step is shorter than the compute.
TEST(RequiredBandwidth, HasTheEndsOfThePredictionsBand) {
  Catalog catalog = lab_catalog();
  catalog.profiles["lab"].uncertainty = 0.2;
  const double target = 0.7;
  const RequiredBandwidth found = search(lab_case(4), target, catalog);
  const auto meets = [&](double rate, bool better) {
    const double communication = 2 * 0.75 * kBytes / rate;
    const BandFactors band = band_of_lab(communication, kCompute + 0.8 * communication,
                                         kCompute + kUnnamedFramework.per_bucket.at(End::worse) + 1.2 * communication);
    return kCompute / ((kCompute + communication) * (better ? band.low : band.high)) >= target;
  };
  const auto expect_edge = [&](const std::optional<BytesPerSecond>& rate, bool better) {
    ASSERT_TRUE(rate);
    EXPECT_TRUE(meets(rate->value * (1 + 1e-9), better));
    EXPECT_FALSE(meets(rate->value / (1 + kSearchTolerance) * (1 - 1e-9), better));
  };
  expect_edge(found.least, true);
  expect_edge(found.most, false);
  EXPECT_LT(*found.least, *found.stated);
  EXPECT_LT(*found.stated, *found.most);
  EXPECT_EQ(found.widest, UnknownKind::framework) << "nobody says which it is";
}

TEST(RequiredBandwidth, HasNoUpperEndWhereWhatNoNetworkMendsMissesTheTarget) {
  const double most = 1 / band_of_lab(0, kCompute, kCompute + kUnnamedFramework.per_bucket.at(End::worse)).high;
  EXPECT_TRUE(search(lab_case(4), most - 0.01).most);
  EXPECT_FALSE(search(lab_case(4), most + 0.01).most);
  EXPECT_TRUE(search(lab_case(4), most + 0.01).stated);
}

TEST(RequiredBandwidth, GrowsWithTheTargetAndWithGpus) {
  double last = 0;
  for (const double target : {0.2, 0.5, 0.7, 0.8, 0.9, 0.99}) {
    const double found = search(lab_case(4), target).stated.value().value;
    EXPECT_GT(found, last) << target;
    last = found;
  }
  last = 0;
  for (const int gpus : {2, 3, 4, 8, 16, 32}) {
    const double found = search(lab_case(gpus), 0.8).stated.value().value;
    EXPECT_GT(found, last) << gpus;
    last = found;
  }
}

// Of the 0.1 s that 50 % leave, 6 messages of 20 ms take more than all.
TEST(RequiredBandwidth, SaysThatNoNetworkIsFastEnoughForTheLatency) {
  Catalog catalog = lab_catalog();
  catalog.profiles["lab"].network_latency = Seconds(0.02);
  const RequiredBandwidth found = search(lab_case(4), 0.5, catalog);
  EXPECT_FALSE(found.stated);
  EXPECT_NEAR(found.best_efficiency, 0.1 / 0.22, 1e-6);
  EXPECT_EQ(found.obstacle, "the latency of messages between nodes");
  EXPECT_NEAR(found.without_obstacle, 1, 1e-5);
}

TEST(Obstacle, IsWhatTheStepWouldGainMostFrom) {
  const auto obstacle = [](Profile changed, const PlannedCase& asked) {
    Catalog catalog = lab_catalog();
    changed.name = changed.title = "lab";
    catalog.profiles["lab"] = changed;
    return worst_obstacle(asked, catalog).words;
  };
  const Profile lab = lab_catalog().profiles["lab"];
  Profile changed = lab;
  changed.server_rate = BytesPerSecond(1e8);
  EXPECT_EQ(obstacle(changed, lab_case(4, "ps")), "what parameter servers handle");
  changed = lab;
  changed.gpus_per_node = 2;
  changed.local_rate = BytesPerSecond(1e8);
  EXPECT_EQ(obstacle(changed, lab_case(4)), "the links inside a node");
  changed = lab;
  changed.memory_rate = BytesPerSecond(1e8);
  EXPECT_EQ(obstacle(changed, lab_case(4)), "the memory of the GPUs (adding, packing and coding)");
  changed = lab;
  changed.straggler = 0.5;
  EXPECT_EQ(obstacle(changed, lab_case(4)), "stragglers");
  Case framework = lab_case(4);
  framework.strategy.preset = "ddp";
  EXPECT_EQ(obstacle(lab, planned(framework)), "the framework: its cost on the host, and what its steps lose");
}

// A ring's 2 (N - 1) messages of S / N take S / N / B less at half the bytes, and cost two codings of S / N at T bytes
// of memory traffic per byte: even at B = M / (4 T). All coding: 4 (N - 1) / N times S T / M.
TEST(BreakEven, OfARingIsWhereCodingTakesWhatTheBytesSave) {
  Catalog catalog = lab_catalog();
  const double memory = 1e11, traffic = parse_compressor("fp16").compressor->memory_traffic;
  catalog.profiles["lab"].memory_rate = BytesPerSecond(memory);
  VariedNetwork network(catalog);
  const BreakEven found = search_break_even(lab_case(4, "ring", "fp16"), lab_case(4), network);
  expect_found(found.even_at, memory / (4 * traffic));
  EXPECT_NEAR(found.coding.value, 3 * kBytes * traffic / memory, 1e-12);
  EXPECT_EQ(found.bits_per_element, 16);
  EXPECT_EQ(found.relative_error, parse_compressor("fp16").compressor->relative_l2_error);
  ASSERT_TRUE(found.ahead_below);
  EXPECT_LT(*found.ahead_below, *found.even_at);
}

TEST(BreakEven, IsAlwaysWhereCodingIsFreeAndNeverWhereMoreBytesTravel) {
  const Catalog catalog = lab_catalog();
  VariedNetwork network(catalog);
  EXPECT_EQ(search_break_even(lab_case(4, "ring", "fp16"), lab_case(4), network).even_at, kUnlimited);
  // Every rank's half of the elements, with their positions, to all others: (N - 1) S against 2 (N - 1) / N S.
  const BreakEven never = search_break_even(lab_case(8, "ring", "topk:0.5"), lab_case(8), network);
  EXPECT_EQ(never.even_at, std::nullopt);
  EXPECT_EQ(never.ahead_below, std::nullopt);
  EXPECT_EQ(never.relative_error, std::nullopt) << "the table's error is that of 1 % of the elements";
}

TEST(Target, IsAShareBelowTheIdeal) {
  EXPECT_DOUBLE_EQ(parse_target("90%"), 0.9);
  EXPECT_DOUBLE_EQ(parse_target("0.75"), 0.75);
  expect_error([] { parse_target("100%"); }, ExitCode::usage, "--target 100% cannot be reached by any network",
               "the last gradient leaves when the compute is over: ask for 99% at most");
  for (const char* text : {"0", "-5%", "fast", "140%"})
    expect_error([&] { parse_target(text); }, ExitCode::usage, HasSubstr(text), HasSubstr("90%"));
}

/// 1e9 bit/s.
std::optional<BytesPerSecond> gbit(double value) { return BytesPerSecond(value * 1e9 / 8); }

/// The rows of the table whose caption begins so.
std::vector<std::vector<std::string>> rows_of(const Document& document, std::string_view caption) {
  for (const Block& block : document.blocks)
    if (const auto* table = std::get_if<Table>(&block); table != nullptr && table->caption.starts_with(caption))
      return table->rows;
  ADD_FAILURE() << "no table " << caption;
  return {};
}

using Rows = std::vector<std::vector<std::string>>;

BandwidthAnswer small_answer() {
  BandwidthAnswer answer{.target = 0.9, .base = lab_catalog().profiles["lab"], .titles = {{"one", "One gradient"}}};
  answer.base.gpus_per_node = 4;
  answer.required = {
      {.asked = lab_case(8), .stated = gbit(38.2), .least = gbit(21), .most = gbit(90)},
      {.asked = lab_case(16), .stated = gbit(40), .least = gbit(9.876), .most = {}},
      {.asked = lab_case(8, "ps"),
       .stated = {},
       .least = gbit(64),
       .most = {},
       .best_efficiency = 0.8,
       .obstacle = "latency",
       .without_obstacle = 0.95},
      {.asked = lab_case(16, "ps"),
       .stated = {},
       .least = {},
       .most = {},
       .best_efficiency = 0.7,
       .obstacle = "latency",
       .without_obstacle = 0.9},
  };
  answer.networks = {{"slow", *gbit(38)}, {"right", *gbit(39)}, {"fast", *gbit(100)}};
  return answer;
}

TEST(BandwidthDocument, ShowsEachRateWithItsBandAndWhereThereIsNone) {
  const Document document = bandwidth_document(small_answer());
  EXPECT_EQ(rows_of(document, "One gradient: Gbit/s that a node of 4 GPUs needs"),
            (Rows{{"8", "38 (21 to 90)", "never (64+)"}, {"16", "40 (9.9+)", "never"}}));
  EXPECT_EQ(
      std::get<Verdict>(document.blocks.at(0)).text,
      "Simulated: 90 % of ideal speed on 16 GPUs takes, of the network of each node of 4 GPUs: One gradient: 40 Gbit/s "
      "with ring, no fusion, no overlap (10 per GPU), never reached with ps (greedy, colocated), no overlap.");
}

TEST(BandwidthDocument, NamesOfManyStrategiesTheTwoEnds) {
  BandwidthAnswer answer = small_answer();
  for (const auto& [strategy, needed] :
       {std::pair("torus", 55.0), std::pair("direct", 12.0), std::pair("halving-doubling", 44.0)}) {
    answer.required.push_back(answer.required[0]);
    answer.required.back().asked = lab_case(16, strategy);
    answer.required.back().stated = gbit(needed);
  }
  const std::string text = std::get<Verdict>(bandwidth_document(answer).blocks.at(0)).text;
  EXPECT_THAT(text, ContainsRegex("gradient: 12 Gbit/s with direct[^(]*.3 per GPU., 55 Gbit/s with torus[^(]*.14 per "
                                  "GPU., never reached with ps"));
  EXPECT_THAT(text, Not(AnyOf(HasSubstr("with ring"), HasSubstr("with halving-doubling"))));
}

TEST(BandwidthDocument, ExplainsItsTablesByTheirOwnFigures) {
  const auto method = [](const BandwidthAnswer& answer) {
    for (const Block& block : bandwidth_document(answer).blocks)
      if (const auto* paragraph = std::get_if<Paragraph>(&block)) return paragraph->text;
    return std::string();
  };
  BandwidthAnswer answer = small_answer();
  EXPECT_THAT(method(answer), AllOf(HasSubstr("as in 38 (21 to 90)."), HasSubstr(" 40 (9.9+) has no upper end")));
  std::erase_if(answer.required, [](const RequiredBandwidth& each) { return each.stated && !each.most; });
  EXPECT_THAT(method(answer), Not(HasSubstr("no upper end")));
}

TEST(BandwidthDocument, SaysWhatHoldsBackAndForHowManyGpusANetworkIsEnough) {
  const Document document = bandwidth_document(small_answer());
  EXPECT_EQ(rows_of(document, "Never 90 %"), (Rows{{"one", lab_case(8, "ps").asked.strategy.label(), "8, 16",
                                                    "70.0 to 80.0 %", "latency", "90.0 to 95.0 %"}}));
  EXPECT_EQ(rows_of(document, "One gradient: the most GPUs"),
            (Rows{{"slow", "38", "-", "-"}, {"right", "39", "8", "-"}, {"fast", "100", "16", "-"}}));
}

TEST(BandwidthDocument, DrawsBandsOnlyBetweenEndsThatThereAre) {
  for (const Block& block : bandwidth_document(small_answer()).blocks) {
    const auto* group = std::get_if<ChartGroup>(&block);
    if (group == nullptr) continue;
    const Chart& chart = group->charts.at(0);
    ASSERT_EQ(chart.series.size(), 1);
    ASSERT_EQ(chart.lines.size(), 2);  // one for the networks that are within 5 %
    const std::vector<ChartPoint>& ring = chart.series[0].points;
    EXPECT_NEAR(ring.at(0).high.value(), 90, 1e-9);
    EXPECT_FALSE(ring.at(1).high);
    EXPECT_NEAR(ring.at(1).low.value(), 9.876, 1e-9);
    EXPECT_EQ(chart.lines[0].label, "38 Gbit/s: slow and 1 more");
    EXPECT_TRUE(chart.y_log10);
    return;
  }
  FAIL() << "no charts";
}

std::string bandwidth_by(std::vector<std::string> arguments) { return printed_by("bandwidth", std::move(arguments)); }

TEST(BandwidthVerb, AnswersForEachWorkloadStrategyAndCount) {
  const auto json = nlohmann::json::parse(bandwidth_by({"--workload", "vgg16,resnet50", "--gpus", "8..32", "--profile",
                                                        "hkbu-10gbe", "--target", "70%", "--json", "--quiet"}));
  EXPECT_EQ(json.at("required").size(), 2 * 2 * 3) << "of workloads, rings and counts";
  EXPECT_EQ(json.at("required").at(0).at("workload"), "vgg16");
  const auto rate = [&](const char* workload, const char* strategy, int gpus) {
    for (const auto& each : json.at("required"))
      if (each.at("workload") == workload && each.at("strategy") == strategy && each.at("gpus") == gpus)
        return each.at("gbit_per_second_per_node").at("stated").get<double>();
    ADD_FAILURE() << workload << ' ' << strategy << ' ' << gpus;
    return 0.0;
  };
  for (const char* workload : {"vgg16", "resnet50"})
    for (const char* strategy : {"ddp: ring", "ddp: ring + fp16"}) {
      EXPECT_LE(rate(workload, strategy, 8), rate(workload, strategy, 16));
      EXPECT_LE(rate(workload, strategy, 16), rate(workload, strategy, 32));
    }
  EXPECT_GT(rate("vgg16", "ddp: ring", 32), 2 * rate("resnet50", "ddp: ring", 32));
  EXPECT_GT(rate("vgg16", "ddp: ring", 32), 1.5 * rate("vgg16", "ddp: ring + fp16", 32));
  const auto& first = json.at("required").at(0);
  EXPECT_NEAR(first.at("gbit_per_second_per_node").at("least").get<double>(),
              4 * first.at("gbit_per_second_per_gpu").at("least").get<double>(), 1e-9);
  EXPECT_EQ(json.at("break_even").size(), 2);
}

TEST(BandwidthVerb, ComparesEachCompressorWithNoneWhateverItsFusion) {
  const auto of = [](const char* compressors) {
    return nlohmann::json::parse(
        bandwidth_by({"--workload", "resnet50", "--gpus", "8,16", "--profile", "hkbu-10gbe", "--algorithm", "ring",
                      "--compressor", compressors, "--json", "--quiet"}));
  };
  const auto both = of("none,fp16,powersgd");
  ASSERT_EQ(both.at("break_even").size(), 2);
  EXPECT_EQ(both.at("break_even").at(1).at("strategy").get<std::string>(), "ddp: ring + powersgd:4");
  EXPECT_EQ(both.at("break_even").at(1).at("gpus"), 16);
  const auto alone = of("fp16");
  EXPECT_EQ(alone.at("break_even").size(), 0);
  EXPECT_THAT(alone.at("left_out").dump(), HasSubstr("add none to --compressor"));
}

TEST(BandwidthVerb, LeavesOutWhatFitsIntoOneNode) {
  EXPECT_THAT(
      bandwidth_by({"--workload", "vgg16", "--gpus", "8,16", "--algorithm", "ring", "--compressor", "none", "--quiet"}),
      AllOf(HasSubstr("Left out: 8 GPUs"), Not(HasSubstr("inf")), Not(HasSubstr("nan"))));
}

TEST(BandwidthVerb, WritesAPageAndRefusesWhatNoFormatWrites) {
  const TemporaryFolder folder;
  const std::vector<std::string> arguments{"--workload", "vgg16",        "--gpus", "16",     "--algorithm",
                                           "ring",       "--compressor", "none",   "--quiet"};
  const auto write = [&](const char* name) {
    std::vector<std::string> all = arguments;
    const std::string file = (folder / name).string();
    all.insert(all.end(), {"--out", file});
    EXPECT_EQ(bandwidth_by(all), file + "\n");
    return read_file(file);
  };
  EXPECT_THAT(write("page.html"),
              AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("The bandwidth that VGG-16 of batch 32 needs")));
  EXPECT_THAT(write("page.md"), HasSubstr("# The bandwidth that VGG-16 of batch 32 needs"));
  expect_error([&] { write("page.docx"); }, ExitCode::usage, HasSubstr("'*.docx'"),
               "end its name with .txt, .md, .html, .csv, .json or .svg");
}

TEST(BandwidthVerb, DrawsItsFirstChart) {
  if (find_program("gnuplot", this_host().path).empty()) GTEST_SKIP() << "gnuplot is not installed";
  const TemporaryFolder folder;
  const std::string file = (folder / "chart.svg").string();
  bandwidth_by({"--workload", "vgg16", "--gpus", "16,32", "--algorithm", "ring", "--quiet", "--out", file});
  EXPECT_THAT(read_file(file), AllOf(HasSubstr("<svg"), HasSubstr("ring + fp16"), HasSubstr("aws-p3dn-tcp")));
}

TEST(BandwidthVerb, StopsWhereItIs) {
  PredictionRequest request;
  request.gpus = {16};
  request.workloads = {"vgg16"};
  request.profiles = {"aws-p3-25gbe"};
  request.algorithms = {"ring"};
  int asked = 0;
  expect_error([&] { required_bandwidth(request, 0.9, load_data(), {.stop = [&] { return ++asked > 3; }}); },
               ExitCode::interrupted, "the simulation was interrupted", testing::_);
}

TEST(BandwidthVerb, RefusesWhatMakesNoSenseInOneLine) {
  const auto refused = [](std::vector<std::string> arguments, const char* what, const char* hint) {
    arguments.emplace_back("--quiet");
    expect_error([&] { bandwidth_by(arguments); }, ExitCode::usage, what, HasSubstr(hint));
  };
  refused({"--gpus", "1"}, "nothing to do: without more than one node of aws-p3-25gbe (8 GPUs) no network is used",
          "--gpus 16..128");
  refused({"--gpus", "8", "--profile", "lambda-8x-a100"},
          "nothing to do: without more than one node of lambda-8x-a100 (8 GPUs) no network is used",
          "nothing joins these nodes");
  refused({"--target", "100%"}, "--target 100% cannot be reached by any network", "99%");
  refused({"--target", "0"}, "--target 0 is invalid", "90%");
  refused({"--precision", "bf16"}, "nothing to do: every combination was refused", "its GPU does not compute in bf16");
  refused({"--workload", "vgg17"}, "no workload 'vgg17'; did you mean 'vgg16'?", "vgg16");
  refused({"--profile", "aws-p3-25gbe,hkbu-10gbe"}, "no profile 'aws-p3-25gbe,hkbu-10gbe'", "aws-p3-25gbe");
}

}  // namespace
}  // namespace hbench::bandwidth_test

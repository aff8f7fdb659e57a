#include "analysis/published/published.hpp"

#include <map>
#include <set>
#include <sstream>

#include "analysis/points/points.hpp"
#include "analysis/statistics/statistics.hpp"
#include "collectives/base/error.hpp"
#include "example_results.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::published_test {
namespace {

const std::string kHeader =
    "workload,profile,gpus,batch_per_gpu,algorithm,placement,server_mode,servers,compressor,fusion,overlap,throughput,"
    "efficiency,baseline_throughput,calibrated,year,source,note\n";
const std::string kRow =
    "vgg16,lab,16,64,ps,greedy,colocated,4,fp16,none,no,74.7,0.05,130.9,no,2017,https://x.org/a,seen\n";

std::vector<CaseResult> read(const std::string& text) {
  std::istringstream in(text);
  return published_results(in, "mine.csv");
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

/// kRow with one field replaced.
std::string with(const std::string& old_field, const std::string& new_field) {
  std::string row = kRow;
  const std::size_t at = row.find(old_field);
  return kHeader + row.replace(at, old_field.size(), new_field);
}

TEST(PublishedTable, BecomesCasesWithTheFiguresAsSamples) {
  const auto results = read(kHeader + kRow);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(text_of(results[0]),
            "workload=vgg16;gpus=16;algorithm=ps;placement=greedy;servers=4;server_mode=colocated;compressor=fp16;"
            "fusion=none;batch_per_gpu=64;evidence=published;profile=lab;source=https://x.org/a (2017\\; seen) "
            "published/1 'https://x.org/a (2017; seen)' done '' 0\n"
            "  0 0 0 false throughput 74.7 samples/s\n"
            "  0 0 0 false efficiency 0.05 1\n"
            "  0 0 0 false baseline_throughput 130.9 samples/s\n");
}

TEST(PublishedTable, SaysWhereEachRowIsWritten) {
  const auto results = read(kHeader + kRow + "\n" + kRow);
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].origin, "mine.csv:2");
  EXPECT_EQ(results[1].origin, "mine.csv:4") << "after a blank line";
}

TEST(PublishedTable, LeavesOutWhatIsNotStated) {
  const auto results = read(with("74.7,0.05,130.9", ",0.05,"));
  ASSERT_EQ(results[0].samples.size(), 1u);
  EXPECT_EQ(results[0].samples[0].metric, "efficiency");
}

TEST(PublishedTable, NamesFileAndLineOfWhatIsWrong) {
  EXPECT_EQ(error_of(""), "mine.csv: empty");
  EXPECT_EQ(error_of("workload,profil\n"), "mine.csv:1: no column 'profil'; did you mean 'profile'?");
  EXPECT_EQ(error_of("workload,profile\n"), "mine.csv:1: a column is missing or in another place");
  EXPECT_EQ(error_of(kHeader + kRow + "x\n"), "mine.csv:3: 1 fields, but the header has 18");
  EXPECT_EQ(error_of(with("vgg16", "")), "mine.csv:2: no workload");
  EXPECT_EQ(error_of(with("https://x.org/a", "")), "mine.csv:2: no source");
  EXPECT_EQ(error_of(with("74.7,0.05", ",")), "mine.csv:2: neither throughput nor efficiency");
  EXPECT_EQ(error_of(with("74.7", "74,7")), "mine.csv:2: 19 fields, but the header has 18");
  EXPECT_EQ(error_of(with("74.7", "~74")), "mine.csv:2: throughput '~74' is not a number of at least 0");
  EXPECT_EQ(error_of(with("74.7", "0")), "mine.csv:2: throughput must be more than 0, or empty where it is not stated");
  EXPECT_EQ(error_of(with("16,64", "0,64")), "mine.csv:2: gpus '0' is not a whole number of at least 1");
  EXPECT_EQ(error_of(with("16,64", "16,6.4")), "mine.csv:2: batch_per_gpu '6.4' is not a whole number of at least 1");
  EXPECT_EQ(error_of(with(",no,", ",never,")), "mine.csv:2: overlap is 'never', but must be 'yes' or 'no'");
  EXPECT_EQ(error_of(with(",no,2017", ",,2017")), "no error");
  EXPECT_EQ(
      error_of(with(",no,2017", ",maybe,2017")),
      "mine.csv:2: calibrated is 'maybe', but must be one of no, yes, lost-share, preset, profile, range, fixed-part, "
      "start");
}

TEST(PublishedTable, IsReadAsASpreadsheetWritesIt) {
  EXPECT_EQ(error_of("\xEF\xBB\xBF" + kHeader + kRow), "no error");
  EXPECT_EQ(error_of("\xFF\xFEw"), "mine.csv:1: it is UTF-16; save it as UTF-8");
}

TEST(PublishedTable, TakesOrRefusesADamagedTableButNeverBreaks) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string text = kHeader + kRow + kRow;
    for (int i = 0; i < 3; ++i) text[random.below(text.size())] = static_cast<char>(random.below(256));
    try {
      EXPECT_LE(read(text).size(), 3u);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), StartsWith("mine.csv:"));
    }
  }
}

TEST(OurPublishedTable, CitesAnAddressInEveryRowAndRepeatsNone) {
  std::set<std::string> keys;
  const auto results = published_results();
  for (const CaseResult& result : results) {
    EXPECT_THAT(result.asked.source, StartsWith("https://"));
    EXPECT_TRUE(keys.insert(result.asked.key()).second) << result.asked.key();
  }
  EXPECT_GT(results.size(), 200u);
}

TEST(OurPublishedTable, HasOfMlperfRowsOfOneNodeAndOfSeveral) {
  std::set<std::string> seen;
  for (const CaseResult& row : mlperf_results()) {
    EXPECT_THAT(row.asked.source, StartsWith("https://github.com/mlcommons/training_results_v"));
    EXPECT_TRUE(seen.insert(row.asked.source).second) << row.asked.source;
  }
  EXPECT_EQ(publisher_of("https://github.com/mlcommons/training_results_v2.0/blob/main/Dell (2022)"),
            "mlcommons/training_results_v2.0");
  EXPECT_EQ(publisher_of("https://github.com/horovod/horovod/issues/416 (2018)"), "horovod/horovod#416");
  EXPECT_EQ(publisher_of("github.com/a/b (commit 1), c.md"), "a/b");
  EXPECT_EQ(publisher_of("https://example.org/x"), "example.org");
}

TEST(OurPublishedTable, KeepsServersAndTheirPlacementTogether) {
  for (const CaseResult& result : published_results()) {
    const Strategy& strategy = result.asked.strategy;
    const bool servers = strategy.algorithm == "ps";
    EXPECT_EQ(strategy.servers > 0, servers) << text_of(result);
    EXPECT_EQ(!strategy.placement.empty(), servers) << text_of(result);
    EXPECT_EQ(!strategy.server_mode.empty(), servers) << text_of(result);
  }
}

// The numbers that comments and pages state of rows that chose terms: `kLostShare`, and the presets of frameworks whose
// steps nobody else published.
TEST(OurPublishedTable, SaysWhatWasChosenWithEachRow) {
  std::map<std::string, int> chosen;
  for (const CaseResult& result : published_results()) {
    const std::string what = chosen_with(result.asked);
    ++chosen[what];
    // These presets have a cost of a step of their own, which names its source.
    const std::string& preset = result.asked.strategy.preset;
    const bool costs =
        preset == "paddle" || preset == "mxnet-horovod" || preset == "tf2-collective" || preset == "deepspeed";
    const bool had_no_part = publisher_of(result.asked.source) == "PaddlePaddle/Perf";
    EXPECT_EQ(what == "preset", costs && !had_no_part) << text_of(result);
    // So these profiles say of themselves.
    const bool is_said = result.asked.profile.starts_with("uber-p100");
    EXPECT_TRUE(what == (result.asked.gpus == 512 ? "profile" : "range") || !is_said) << text_of(result);
  }
  EXPECT_THAT(chosen, UnorderedElementsAre(Pair("", 332), Pair("lost-share", 247), Pair("preset", 49),
                                           Pair("profile", 12), Pair("range", 15)));
  EXPECT_EQ(chosen_with({}), "");
}

// A plan fills in the parameters of a fusion policy that the source names alone; the figure remains the same.
TEST(OurPublishedTable, KnowsARowByTheNameOfItsFusionPolicy) {
  int used = 0;
  for (const CaseResult& result : published_results()) {
    Case planned = result.asked;
    if (planned.strategy.fusion != "horovod-2018") continue;
    planned.strategy.fusion = "horovod-2018:64MiB:5ms";
    EXPECT_EQ(chosen_with(planned), chosen_with(result.asked)) << text_of(result);
    used += chosen_with(planned) == "profile" ? 1 : 0;
  }
  EXPECT_GE(used, 3);
}

TEST(OurPublishedTable, HasPlausibleEfficiencies) {
  const std::vector<Point> points = make_points(published_results());
  for (const Point& point : points)
    if (point.efficiency) {
      EXPECT_GT(*point.efficiency, 0.01) << point.asked.key();
      EXPECT_LT(*point.efficiency, 1.08) << point.asked.key();
    }
  EXPECT_EQ(std::ranges::count_if(points, [](const Point& point) { return point.efficiency > 1.02; }), 7)
      << "RaySGD's in single precision, and VGG-16 of Lambda";
}

// 74.7 / (16 * 130.9): the collapse of VGG-16 at parameter servers, Horovod's README of September 2017.
TEST(OurPublishedTable, HoldsTheFiguresThatEverybodyQuotes) {
  const auto points = make_points(published_results());
  const auto efficiency = [&](std::string_view workload, std::string_view profile, std::string_view label, int gpus) {
    for (const Point& point : points)
      if (point.asked.workload == workload && point.asked.profile == profile && point.asked.gpus == gpus &&
          point.asked.strategy.label() == label)
        return point.efficiency.value_or(-1);
    return -2.0;
  };
  EXPECT_DOUBLE_EQ(efficiency("vgg16", "uber-p100-25gbe-tcp", "tf-ps: ps (greedy, colocated)", 16),
                   74.7 / (16 * 130.9));
  EXPECT_DOUBLE_EQ(efficiency("vgg16", "uber-p100-25gbe-roce", "horovod-2018: ring", 16), 1787.4 / (16 * 130.9));
  EXPECT_EQ(efficiency("vgg16", "uber-p100-25gbe-roce", "horovod-2018: ring", 512), 0.68);
  EXPECT_EQ(efficiency("resnet101", "uber-p100-25gbe-roce", "horovod-2018: ring", 512), 0.9);
  EXPECT_DOUBLE_EQ(efficiency("resnet50", "capped-5gbit", "horovod-2018: ring + fp16", 4), 835 / (4 * 249.2));
}

}  // namespace
}  // namespace hbench::published_test

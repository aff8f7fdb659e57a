#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "collectives/compressors/compressor.hpp"
#include "tests/bench/collective_runs.hpp"
#include "tests/bench/own_timeline.hpp"

namespace hbench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Rows are done, right, and have a time above 0.
void expect_right(const json& document) {
  for (const json& row : document.at("results")) {
    SCOPED_TRACE(row.at("candidate").get<std::string>() + row.at("size").dump());
    EXPECT_EQ(row.at("status"), "done") << row.at("failure");
    EXPECT_EQ(row.at("in_place_wrong"), 0);
    EXPECT_GT(row.at("in_place_seconds"), 0);
    EXPECT_NEAR(row.at("in_place_algbw").get<double>() * row.at("in_place_seconds").get<double>(), row.at("size"),
                1e-6);
    EXPECT_FALSE(row.at("samples").empty());
  }
}

TEST(CollectiveMistakesOfTheProgram, AreOneLineAndItsCure) {
  const Workplace workplace;
  expect_mistake(workplace.run({"collective", "--executor", "threads", "--compressor", "fp16", "-d", "int32"}), 2,
                 "nothing to do: ring + fp16 by threads on 2 ranks: fp16 compresses float32, not int32", "--help");
  expect_mistake(workplace.run({"collective", "-e", "99999999999G"}), 2, "more bytes than can be counted", "1G");
}

TEST(CollectiveOutput, AsCsvHasARowForEachSizeAndCandidateWithoutMpi) {
  const Workplace workplace;
  const Outcome outcome = workplace.run({"collective", "--executor", "threads", "--algorithm", "ring,direct", "--ranks",
                                         "3", "-b", "10", "-e", "40", "-n", "2", "--csv", "--quiet"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  // 10, 20 and 40 B are 2, 5 and 10 floats, by two algorithms, below a head.
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 1 + 3 * 2) << outcome.out;
  EXPECT_TRUE(outcome.out.starts_with("collective,candidate,peer,ranks,executor,algorithm,")) << outcome.out;
  for (const char* row :
       {"all-reduce,ring by threads,false,3,", "direct by threads,false,3,", ",8,2,", ",20,5,", ",40,10,"})
    EXPECT_THAT(outcome.out, HasSubstr(row));
}

TEST(CollectiveOutput, OnSlowedLinksIsStoredAsEmulated) {
  const Workplace workplace;
  const Outcome outcome = workplace.run({"collective", "--executor", "threads", "--algorithm", "ring", "--ranks", "2",
                                         "-b", "4", "-e", "4", "-n", "2", "--db", "hbench.db", "--quiet"},
                                        {{"HBENCH_EMULATED", "2 hosts, 1gbit each way"}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json points = exported(workplace);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].at("evidence"), "emulated");
  EXPECT_EQ(points[0].at("profile"), "2 hosts, 1gbit each way");
}

TEST(CollectiveOutput, OfAWorkloadHasItsTensorsFusedOrNot) {
  const Workplace workplace;
  write_bytes(workplace / "mine.toml", kOwnTimeline);
  const auto plan = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"collective", "--executor", "threads", "--workload", "vgg16", "--dry-run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workplace.run(arguments).out;
  };
  // VGG-16 has 13 convolutions and 3 dense layers, each with weights and biases: 138,357,544 floats.
  EXPECT_THAT(plan({}), HasSubstr("553430176 B  all-reduce float32 sum, ring by threads, 32 buffers"));
  // Elements of half the size: more of them fit into a bucket of 25 MiB.
  EXPECT_THAT(plan({"--fusion", "ddp", "-d", "float16"}), HasSubstr("276715088 B  all-reduce float16"));
  const Outcome fused = workplace.run({"collective", "--executor", "threads", "--workload", "./mine.toml", "--fusion",
                                       "threshold:1MiB", "-n", "2", "--quiet"});
  ASSERT_EQ(fused.code, 0) << fused.err;
  EXPECT_THAT(fused.out, HasSubstr("merged by threshold:1MiB, one after another"));
  EXPECT_THAT(fused.out, testing::ContainsRegex("20400 +5100 "));
}

TEST_F(CollectiveUnderMpi, ComparesWithPeersInJsonAndInAFile) {
  const json document =
      this->document({"--peers", "--ranks", "2", "-b", "1K", "-e", "4K", "-f", "4", "-n", "3", "-J", "r.json"});
  expect_right(document);
  EXPECT_EQ(document, json::parse(bytes_of(workplace_ / "r.json")));
  EXPECT_FALSE(std::filesystem::exists(workplace_ / "r.json.part"));
  std::set<std::string> ours;
  for (const json& each : document.at("comparison")) {
    ours.insert(each.at("ours"));
    EXPECT_EQ(each.at("sizes"), 2);
    // The best peer's time / ours at each size, of which this is the geometric mean and the least.
    double product = 1, worst = INFINITY;
    for (const int size : {1024, 4096}) {
      double peer = INFINITY, mine = INFINITY;
      for (const json& row : document.at("results")) {
        if (row.at("size") != size) continue;
        const double seconds = row.at("in_place_seconds");
        if (row.at("peer")) peer = std::min(peer, seconds);
        if (row.at("candidate") == each.at("ours") || (each.at("ours") == "the best of ours" && !row.at("peer")))
          mine = std::min(mine, seconds);
      }
      product *= peer / mine;
      worst = std::min(worst, peer / mine);
    }
    EXPECT_NEAR(each.at("geometric_mean"), std::sqrt(product), 1e-9);
    EXPECT_NEAR(each.at("worst"), worst, 1e-9);
  }
  EXPECT_THAT(ours, testing::IsSupersetOf({"direct by shm", "ring by mpi"}));
}

TEST_F(CollectiveUnderMpi, RunsOnRanksThatAnotherLauncherHasStarted) {
  const Outcome outcome = started(2, "-b 1K -e 2K -n 2 --executor mpi,shm --json --db r.db");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  expect_right(document);
  EXPECT_EQ(document.at("results").size(), 4);
  EXPECT_EQ(json::parse(workplace_.run({"export", "--json", "--db", "r.db"}).out).size(), 4);
}

TEST_F(CollectiveUnderMpi, TimesPartsOfAllReducesByEveryExecutor) {
  for (const auto& [collective, algorithm, bus] : {std::tuple{"reduce-scatter", "ring", 2.0 / 3},
                                                   {"all-gather", "ring", 2.0 / 3},
                                                   {"broadcast", "binomial", 1.0}}) {
    const json document = this->document({collective, "--algorithm", algorithm, "--executor", "mpi,shm", "--ranks", "3",
                                          "-b", "100", "-e", "100", "-n", "2"});
    expect_right(document);
    EXPECT_EQ(document.at("results").size(), 2);
    for (const json& row : document.at("results")) {
      // Of 25 floats 24 are three equal parts; a broadcast has no parts.
      EXPECT_EQ(row.at("count"), bus < 1 ? 24 : 25);
      EXPECT_NEAR(row.at("in_place_busbw"), row.at("in_place_algbw").get<double>() * bus, 1);
    }
  }
}

/// All compressors, and one with error feedback around it.
std::vector<std::string> all_compressors() {
  std::vector<std::string> names{"ef:sign"};
  for (const Compressor* entry : compressors())
    if (entry->name != "none") names.emplace_back(entry->name);
  return names;
}

TEST_F(CollectiveUnderMpi, TellsTheCostAndTheErrorOfEveryCompressor) {
  constexpr double kElements = 65536;
  const std::vector<std::string> names = all_compressors();
  const json document = this->document({"--compressor", fmt::format("{}", fmt::join(names, ",")), "--ranks", "2", "-b",
                                        "256K", "-e", "256K", "-n", "2", "-w", "1"});
  expect_right(document);
  const json& results = document.at("results");
  ASSERT_EQ(results.size(), names.size());
  std::map<std::string, json> rows;
  for (const json& row : results) {
    const std::string name = row.at("compressor");
    SCOPED_TRACE(name);
    rows[name.substr(0, name.find(':', name.starts_with("ef:") ? 3 : 0))] = row;
    const double wire = row.at("wire_bytes"), bits = row.at("bits_per_element");
    // Two ranks send every element once, compressed or not.
    EXPECT_NEAR(bits * kElements / 8, wire, 1e-6 * wire);
    EXPECT_GE(row.at("relative_l2_error"), 0);
    EXPECT_LE(std::abs(row.at("cosine").get<double>()), 1 + 1e-9);
    const double coding = row.at("encode_seconds").get<double>() + row.at("decode_seconds").get<double>();
    EXPECT_GT(coding, 0);
    if (wire < 4 * kElements)
      EXPECT_NEAR(row.at("break_even_bandwidth").get<double>() * coding, 4 * kElements - wire, 1);
    else
      EXPECT_TRUE(row.at("break_even_bandwidth").is_null()) << "nothing is saved, so it never pays";
  }
  for (const std::string& name : names) EXPECT_TRUE(rows.contains(name)) << name;
  // Known by hand: halves; a byte per element and a float per 256; a sign bit; 656 positions and values of 4 bytes
  // each, their number in 4 bytes, and the size of the message, sent ahead in 8.
  EXPECT_EQ(rows["fp16"].at("wire_bytes"), 2 * kElements);
  EXPECT_EQ(rows["bf16"].at("bits_per_element"), 16);
  EXPECT_EQ(rows["int8"].at("wire_bytes"), kElements + 4 * kElements / 256);
  EXPECT_NEAR(rows["sign"].at("bits_per_element"), 1, 0.01);
  EXPECT_EQ(rows["topk"].at("wire_bytes"), 656 * 8 + 4 + 8);
  // What errs less looks more alike.
  for (const auto& [better, worse] :
       {std::pair{"fp16", "bf16"}, {"bf16", "int8"}, {"int8", "sign"}, {"sign", "topk"}}) {
    EXPECT_LT(rows[better].at("relative_l2_error"), rows[worse].at("relative_l2_error")) << better;
    EXPECT_GT(rows[better].at("cosine"), rows[worse].at("cosine")) << better;
  }
}

}  // namespace
}  // namespace hbench

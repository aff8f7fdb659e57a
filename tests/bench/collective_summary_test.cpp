// What the results of hbench collective come to: comparisons with peers, shares of bounds and links, and their tables.

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/collective/summary.hpp"
#include "bench/collective/table.hpp"
#include "reports/formats/formats.hpp"
#include "reports/formats/text_table.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::collective_summary_test {
namespace {

constexpr std::int64_t kKiB = 1024;

/// What a person reads, with every column.
std::string collective_table(const std::vector<CollectiveRow>& rows, const TableContext& context) {
  return text_of(collective_document(rows, context), kAnyWidth);
}

/// An all-reduce between 4 ranks whose slowest rank needs `seconds`; the others half as long.
CaseResult result_of(std::string executor, std::string algorithm, std::int64_t bytes, double seconds) {
  CaseResult result;
  result.asked.evidence = Evidence::measured;
  result.asked.evidence = Evidence::measured;
  result.asked.gpus = 4;
  result.asked.strategy.algorithm = std::move(algorithm);
  result.asked.strategy.compressor = "none";
  result.asked.collective = {.name = "all-reduce",
                             .bytes = bytes,
                             .data_type = "float32",
                             .operation = "sum",
                             .executor = std::move(executor)};
  for (int iteration = 0; iteration < 3; ++iteration)
    for (int rank = 0; rank < 4; ++rank)
      result.samples.push_back({.rank = rank,
                                .iteration = iteration,
                                .metric = std::string(metric::kInPlace),
                                .value = rank == 2 ? seconds : seconds / 2,
                                .unit = "s"});
  return result;
}

/// Ours is 2 and 8 times as fast as the best peer, which is another one at each size.
std::vector<CaseResult> two_sizes() {
  return {result_of("shm", "direct", kKiB, 1e-6),        result_of("mpi", "vendor", kKiB, 2e-6),
          result_of("gloo", "ring-chunked", kKiB, 9e-6), result_of("shm", "direct", 4 * kKiB, 1e-6),
          result_of("mpi", "vendor", 4 * kKiB, 9e-6),    result_of("gloo", "ring-chunked", 4 * kKiB, 8e-6)};
}

TEST(CollectiveSummary, ComparesWithTheBestPeerOfEachSize) {
  const auto all = compare_with_peers(collective_rows(two_sizes()));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].ranks, 4);
  EXPECT_EQ(all[0].ours, "direct by shm");
  EXPECT_EQ(all[0].sizes, 2U);
  EXPECT_DOUBLE_EQ(all[0].geometric_mean, 4);  // sqrt(2 x 8)
  EXPECT_DOUBLE_EQ(all[0].worst, 2);
  EXPECT_EQ(all[0].worst_bytes, kKiB);
  EXPECT_EQ(all[0].worst_peer, "vendor by mpi");
}

/// The same, on a GPU that said so of its last iteration.
CaseResult held_back(std::int64_t bytes, std::uint64_t reasons) {
  CaseResult result = result_of("cuda", "direct", bytes, 1e-6);
  for (int iteration = 0; iteration < 3; ++iteration)
    result.samples.push_back({.iteration = iteration,
                              .metric = clock_reasons_metric(metric::kInPlace),
                              .value = iteration == 2 ? static_cast<double>(reasons) : 0,
                              .unit = std::string(kReasonBits)});
  return result;
}

TEST(CollectiveTable, MarksWhatWasMeasuredWhileAGpuWasHeldBack) {
  const std::vector<CollectiveRow> rows =
      collective_rows({held_back(kKiB, 0), held_back(2 * kKiB, clock_reason::kPowerCap),
                       held_back(4 * kKiB, clock_reason::kPowerCap | clock_reason::kPowerBrake)});
  for (const bool comparison : {false, true}) {
    const std::string table = collective_table(rows, {.machine = "a GPU", .comparison = comparison});
    EXPECT_THAT(table, ContainsRegex(" 1\\.00[ \n]"));
    EXPECT_THAT(table, HasSubstr(" 1.00^"));
    EXPECT_THAT(table, HasSubstr(" 1.00!"));
    EXPECT_THAT(table, HasSubstr("!: measured while a GPU was throttled: power brake, power cap\n"));
    EXPECT_THAT(table, HasSubstr("^: measured while a GPU was at its power cap"));
  }
}

TEST(CollectiveTable, ExplainsNoMarksWhereThereAreNone) {
  const std::string table = collective_table(collective_rows({held_back(kKiB, clock_reason::kIdle)}), {});
  EXPECT_THAT(table, Not(HasSubstr("!: ")));
  EXPECT_THAT(table, Not(HasSubstr("^: ")));
}

TEST(CollectiveTable, FitsIntoATerminalOfEightyColumnsAndNamesWhatItLeavesOut) {
  const std::string text =
      text_of(collective_document(collective_rows({held_back(kKiB, 0)}), {.machine = "a GPU"}), 80);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_THAT(text, ContainsRegex("not shown.*type, redop"));
  EXPECT_THAT(text, HasSubstr("busbw"));
}

TEST(CollectiveTable, PutsFewCandidatesBesideAndManyBelowEachOther) {
  const auto columns = [](const std::vector<CaseResult>& results) {
    return titles_of(
        std::get<Table>(collective_document(collective_rows(results), {.comparison = true}).blocks.front()));
  };
  EXPECT_THAT(columns(two_sizes()),
              ElementsAre("size (B)", "direct by shm", "vendor by mpi", "ring-chunked by gloo", "best peer / ours"));
  std::vector<CaseResult> many = two_sizes();
  for (const char* algorithm : {"ring", "torus", "halving-doubling", "recursive-doubling", "binomial-tree"})
    many.push_back(result_of("mpi", algorithm, kKiB, 1e-6));
  EXPECT_EQ(columns(many).at(1), "candidate");
}

TEST(CollectiveJson, GivesTheShareOfIterationsThatWereHeldBack) {
  const nlohmann::json results = nlohmann::json::parse(collective_json(
      collective_rows({held_back(kKiB, clock_reason::kThermal), result_of("threads", "ring", 2 * kKiB, 1e-6)}), {},
      {}))["results"];
  EXPECT_DOUBLE_EQ(results[0]["in_place_throttled"].get<double>(), 1.0 / 3);
  EXPECT_EQ(results[0]["in_place_power_capped"], 0);
  EXPECT_EQ(results[0]["throttling"], "too hot");
  EXPECT_TRUE(results[0]["out_of_place_throttled"].is_null());
  for (const char* field : {"in_place_throttled", "in_place_power_capped", "throttling"})
    EXPECT_TRUE(results[1][field].is_null()) << field << ": nobody looked";
}

TEST(CollectiveSummary, TakesTheFastestOfOursAtEachSizeWhereThereAreSeveral) {
  std::vector<CaseResult> results = two_sizes();
  results.push_back(result_of("mpi", "ring", kKiB, 0.5e-6));
  const auto all = compare_with_peers(collective_rows(results));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].ours, "ring by mpi");
  EXPECT_EQ(all[1].sizes, 1U);
  EXPECT_EQ(all[2].ours, "the best of ours");
  EXPECT_DOUBLE_EQ(all[2].geometric_mean, std::sqrt(4.0 * 8.0));
}

TEST(CollectiveSummary, LeavesOutWhatFailedItsCheck) {
  std::vector<CaseResult> results = two_sizes();
  results[0].samples.push_back({.metric = std::string(metric::kInPlaceWrong), .value = 1, .unit = "elements"});
  results[0].status = CaseStatus::failed;
  results[0].failure = "1 elements failed the check";
  const auto rows = collective_rows(results);
  EXPECT_FALSE(rows[0].seconds().has_value());
  const auto all = compare_with_peers(rows);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].sizes, 1U);
  EXPECT_DOUBLE_EQ(all[0].geometric_mean, 8);
  const std::string table = collective_table(rows, {.comparison = true});
  EXPECT_THAT(table, HasSubstr("direct by shm of 1024 B: 1 elements failed the check\n"));
  EXPECT_THAT(table, Not(HasSubstr("1.00  2.00")));
}

TEST(CollectiveSummary, RelatesSharedMemoryToItsBoundAtTheLargestSize) {
  std::vector<CaseResult> results = two_sizes();
  for (const std::size_t ours : {0, 3})
    results[ours].samples.push_back({.metric = std::string(metric::kBound), .value = 0.8e-6, .unit = "s"});
  const auto shares = shares_of_bound(collective_rows(results));
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].bytes, 4 * kKiB);
  EXPECT_DOUBLE_EQ(shares[0].share(), 0.8);
  EXPECT_FALSE(shares[0].exceeded());
}

TEST(CollectiveSummary, SaysOfABoundThatIsExceededThatItIsWrong) {
  const auto table_with_bound = [](double seconds) {
    CaseResult result = result_of("shm", "ring", 4 * kKiB, 1e-6);
    result.samples.push_back({.metric = std::string(metric::kBound), .value = seconds, .unit = "s"});
    return collective_table(collective_rows({result}), {.comparison = true});
  };
  EXPECT_THAT(table_with_bound(1.02e-6), Not(HasSubstr("exceeded"))) << "noise";
  EXPECT_THAT(table_with_bound(1.4e-6), AllOf(HasSubstr("140 %, exceeded"), HasSubstr("the bound is wrong")));
}

TEST(CollectiveSummary, RelatesBusBandwidthToTheLink) {
  // 4 ranks: 2 x 3/4 x 4096 B in 8 us are 768 MB/s.
  const auto rows =
      collective_rows({result_of("mpi", "ring", 4 * kKiB, 8e-6), result_of("mpi", "torus", 4 * kKiB, 9e-6),
                       result_of("mpi", "vendor", 4 * kKiB, 16e-6)});
  const auto shares = shares_of_link(rows, BytesPerSecond(1e9));
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].candidate, "ring by mpi");
  EXPECT_FALSE(shares[0].peer);
  EXPECT_DOUBLE_EQ(shares[0].share, 0.768);
  EXPECT_EQ(shares[1].candidate, "vendor by mpi");
  EXPECT_TRUE(shares[1].peer);
  EXPECT_DOUBLE_EQ(shares[1].share, 0.384);
  EXPECT_THAT(collective_table(rows, {.comparison = true, .link = BytesPerSecond(1e9)}), HasSubstr("76.8 %"));
  EXPECT_THAT(collective_table(rows, {.comparison = true}), Not(HasSubstr("share of a link")));
}

TEST(CollectiveSummary, PrintsTheSameRatiosForMachines) {
  const hbench::Run run{"hbench collective", "0", "2026-01-01T00:00:00Z", {}};
  const auto json = nlohmann::json::parse(collective_json(collective_rows(two_sizes()), {}, run, BytesPerSecond(1e9)));
  EXPECT_DOUBLE_EQ(json.at("comparison").at(0).at("geometric_mean").get<double>(), 4);
  EXPECT_EQ(json.at("link").size(), 4U);
  EXPECT_EQ(json.at("results").size(), 6U);
  EXPECT_EQ(json.at("results").at(0).at("samples").at(2).at("values").size(), 3U);
}

}  // namespace
}  // namespace hbench::collective_summary_test

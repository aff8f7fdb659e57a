
#include "analysis/points/collectives.hpp"
#include "bench/collective/run.hpp"
#include "bench/collective/summary.hpp"
#include "bench/collective/table.hpp"
#include "reports/formats/formats.hpp"
#include "reports/formats/text_table.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::collective_verdict_test {
namespace {

Case case_of(const char* executor, const char* algorithm, std::int64_t bytes) {
  Case asked;
  asked.evidence = Evidence::measured;
  asked.gpus = 2;
  asked.strategy.algorithm = algorithm;
  asked.strategy.compressor = "none";
  asked.collective.name = "all-reduce";
  asked.collective.executor = executor;
  asked.collective.bytes = bytes;
  asked.collective.data_type = "float32";
  asked.collective.operation = "sum";
  return asked;
}

Sample sample(std::string_view metric, double value) { return {.metric = std::string(metric), .value = value}; }

/// What a rank loop says: `wrong` elements out of place, and two iterations each way unless that is void.
LoopResult loop_result(int wrong, double seconds) {
  LoopResult loop;
  loop.samples = {sample(metric::kInPlaceWrong, 0), sample(metric::kOutOfPlaceWrong, wrong)};
  for (int iteration = 0; iteration < 2; ++iteration)
    for (const std::string_view way : {metric::kInPlace, metric::kOutOfPlace})
      if (way == metric::kInPlace || wrong == 0) {
        loop.samples.push_back(sample(way, seconds));
        loop.samples.back().iteration = iteration;
      }
  return loop;
}

CaseResult result_of(const Case& asked, const LoopResult& loop) {
  CaseResult result;
  result.asked = asked;
  add_to(result, loop, 0);
  return result;
}

const TableContext kContext{.machine = "2 cores", .comparison = false, .launches = 1};

TEST(CollectiveVerdict, VoidsASizeOfWhichOneElementIsWrong) {
  const CaseResult good = result_of(case_of("mpi", "ring", 8), loop_result(0, 1e-6));
  EXPECT_EQ(good.status, CaseStatus::done);
  const CaseResult bad = result_of(case_of("mpi", "ring", 16), loop_result(1, 1e-6));
  EXPECT_EQ(bad.status, CaseStatus::failed);
  EXPECT_EQ(bad.exit_code, 4);
  EXPECT_EQ(bad.failure, "1 elements failed the check");
}

TEST(CollectiveVerdict, OfAnotherLaunchVoidsTheOnesBefore) {
  CaseResult result = result_of(case_of("mpi", "ring", 8), loop_result(0, 1e-6));
  add_to(result, loop_result(3, 1e-6), 1);
  EXPECT_EQ(result.status, CaseStatus::failed);
  EXPECT_EQ(result.failure, "3 elements failed the check");
  EXPECT_FALSE(collective_figures(result).out_of_place.seconds.has_value());
}

TEST(CollectiveVerdict, OfARefusalIsNoWrongData) {
  LoopResult refused;
  refused.refusal = "another rank cannot do it";
  const CaseResult result = result_of(case_of("gloo", "ring-chunked", 8), refused);
  EXPECT_EQ(result.status, CaseStatus::failed);
  EXPECT_EQ(result.exit_code, 2);
}

TEST(CollectiveVerdict, IsShownInPlaceOfATime) {
  const auto rows = collective_rows({result_of(case_of("mpi", "ring", 8), loop_result(0, 1e-6)),
                                     result_of(case_of("mpi", "ring", 16), loop_result(2, 1e-6))});
  const std::string table = text_of(collective_document(rows, kContext), kAnyWidth);
  EXPECT_THAT(table, HasSubstr("ring by mpi of 16 B: 2 elements failed the check"));
  // 16 B: out of place void with 2 wrong ones, in place right.
  const std::string line = table.substr(table.find("\n      16 "));
  EXPECT_THAT(line.substr(0, line.find('\n', 1)), ContainsRegex("- +- +- +2 .* 0 "));
  const std::string csv = collective_csv(rows);
  EXPECT_THAT(csv, HasSubstr(",failed,2 elements failed the check,"));
}

}  // namespace
}  // namespace hbench::collective_verdict_test

// What the database keeps of traced steps, also over merges and prunes.

#include <gmock/gmock.h>

#include "analysis/store/store.hpp"
#include "analysis/store/upkeep.hpp"
#include "collectives/base/error.hpp"
#include "tests/analysis/example_results.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::store_spans_test {
namespace {

TracedStep traced_step(int launch, int iteration) {
  TracedStep step{.launch = launch, .iteration = iteration, .spans = {}};
  for (Rank rank = 0; rank < 2; ++rank) {
    step.spans.push_back({.rank = rank, .kind = SpanKind::step, .begin = Seconds(0), .end = Seconds(0.25)});
    step.spans.push_back({.rank = rank,
                          .lane = Lane::communication,
                          .kind = SpanKind::communication,
                          .begin = Seconds(0.125),
                          .end = Seconds(0.125 + 1e-9),
                          .bucket = 3});
  }
  return step;
}

/// A run with one case of one traced step; the case's id.
std::int64_t add_run(Store& store, const std::string& started_at, std::int64_t* run = nullptr) {
  Run of;
  of.started_at = started_at;
  const std::int64_t id = store.begin_run(of);
  if (run != nullptr) *run = id;
  CaseResult result = example_result(1, 3);
  result.traced = {traced_step(0, 20)};
  return store.append(id, result);
}

void expect_same(const std::vector<TracedStep>& got, const std::vector<TracedStep>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].launch, expected[i].launch);
    EXPECT_EQ(got[i].iteration, expected[i].iteration);
    ASSERT_EQ(got[i].spans.size(), expected[i].spans.size());
    for (std::size_t j = 0; j < got[i].spans.size(); ++j) {
      const Span &a = got[i].spans[j], &b = expected[i].spans[j];
      EXPECT_EQ(a.rank, b.rank);
      EXPECT_EQ(a.lane, b.lane);
      EXPECT_EQ(a.kind, b.kind);
      EXPECT_EQ(a.bucket, b.bucket);
      EXPECT_NEAR(a.begin.value, b.begin.value, 5e-10) << "to the nanosecond";
      EXPECT_NEAR(a.end.value, b.end.value, 1e-9);
    }
  }
}

TEST(StoreSpans, AreReadAsTheyWereWritten) {
  const TemporaryFolder folder;
  Store store(folder / "a.db");
  const std::int64_t id = add_run(store, "2026-11-23T09:00:00Z");
  store.add(id, {}, {traced_step(1, 20), traced_step(1, 21)});
  expect_same(store.traced(id), {traced_step(0, 20), traced_step(1, 20), traced_step(1, 21)});
  EXPECT_THAT(store.results().front().traced, IsEmpty()) << "they are read where somebody asks for them";
}

TEST(StoreSpans, AreMergedAndPrunedWithTheirRun) {
  const TemporaryFolder folder;
  {
    Store source(folder / "a.db");
    add_run(source, "2026-11-22T09:00:00Z");
    add_run(source, "2026-11-23T09:00:00Z");
  }
  merge_database(folder / "a.db", folder / "b.db");
  prune_database(folder / "b.db", {.keep = 1}, false);
  const Store merged(folder / "b.db", Store::Mode::read_only);
  const auto runs = merged.runs();
  ASSERT_THAT(runs, SizeIs(1));
  const auto id = merged.find(runs.front().id, example_result(1, 3).asked);
  ASSERT_TRUE(id);
  expect_same(merged.traced(*id), {traced_step(0, 20)});
  EXPECT_THAT(merged.traced(*id - 1), IsEmpty()) << "of the run that was pruned";
  EXPECT_THAT(merged.traced(*id + 1), IsEmpty());
}

// Each of them ended hbench trace with exit 1 or a NaN, or would.
TEST(StoreSpans, AreRefusedWhereNoRankWritesThem) {
  const auto message_of = [](const std::string& change) {
    const TemporaryFolder folder;
    Store store(folder / "a.db");
    const std::int64_t id = add_run(store, "2026-11-23T09:00:00Z");
    run_sql(folder / "a.db", "UPDATE span SET " + change);
    const std::string checked = check_database(folder / "a.db").back().what;
    try {
      store.traced(id);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::wrong_data);
      EXPECT_THAT(checked, HasSubstr(error.what())) << "hbench db check finds the same";
      EXPECT_THROW(merge_database(folder / "a.db", folder / "b.db"), Error);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message_of("duration_ns = 0"), "a span of case 1 has a time of 0 ns");
  EXPECT_EQ(message_of("duration_ns = 0 WHERE kind > 0"), "") << "a bucket may take no time";
  EXPECT_EQ(message_of("duration_ns = -1 WHERE kind > 0"), "a span of case 1 has a time of -1 ns");
  EXPECT_EQ(message_of("begin_ns = 9223372036854775807"), "a span of case 1 has a time of 9223372036854775807 ns");
  EXPECT_EQ(message_of("begin_ns = -9223372036854775807"), "a span of case 1 has a time of -9223372036854775807 ns");
  EXPECT_EQ(message_of("begin_ns = -5"), "") << "before the launch's first span";
  EXPECT_EQ(message_of("kind = 0"), "a span of case 1 is 'step' in the lane of communication");
  EXPECT_EQ(message_of("kind = 8"), "a span of case 1 is 'input' in the lane of communication");
  EXPECT_EQ(message_of("kind = 9"), "span.kind of case 1 is 9, which this hbench does not know");
  EXPECT_EQ(message_of("lane = -1"), "span.lane of case 1 is -1, which this hbench does not know");
  EXPECT_EQ(message_of("rank = rank - 1"), "a span of case 1 is of rank -1");
  EXPECT_EQ(message_of("rank = rank + 2147483647"), "a span of case 1 is of rank 2147483648");
  EXPECT_EQ(message_of("bucket = -2"), "a span of case 1 is of bucket -2");
  EXPECT_EQ(message_of("launch = -1"), "a span of case 1 is of launch -1");
  EXPECT_EQ(message_of("iteration = -1"), "a span of case 1 is of iteration -1");
}

}  // namespace
}  // namespace hbench::store_spans_test

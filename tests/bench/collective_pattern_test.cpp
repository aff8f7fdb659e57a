#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bench/worker/pattern.hpp"
#include "collectives/arithmetic/arithmetic.hpp"
#include "tests/support/sanitized.hpp"

namespace hbench::collective_pattern_test {
namespace {

constexpr CollectiveKind kCollectiveKinds[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                               CollectiveKind::all_gather, CollectiveKind::broadcast};
constexpr std::int64_t kElements = 3000;

using Buffer = std::vector<std::byte>;

Pattern pattern_of(CollectiveKind collective, DataType type, ReduceOp op, int workers) {
  Pattern pattern{.collective = collective, .type = type, .op = op, .workers = workers};
  for (int worker = 0; worker < workers; ++worker)
    pattern.parts.push_back({kElements * worker / workers, kElements * (worker + 1) / workers});
  return pattern;
}

std::vector<Buffer> inputs(const Pattern& pattern) {
  std::vector<Buffer> all;
  for (Rank rank = 0; rank < pattern.workers; ++rank)
    fill_input(pattern, rank, all.emplace_back(kElements * size_of(pattern.type)));
  return all;
}

/// What a right collective leaves on every rank, computed in the plainest way, in the order of `ranks`.
std::vector<Buffer> results(const Pattern& pattern, const std::vector<Buffer>& in) {
  const std::size_t size = size_of(pattern.type);
  Buffer result = in[0];
  if (pattern.collective == CollectiveKind::all_gather)
    for (std::size_t rank = 0; rank < in.size(); ++rank)
      std::copy(in[rank].begin() + pattern.parts[rank].begin * size, in[rank].begin() + pattern.parts[rank].end * size,
                result.begin() + pattern.parts[rank].begin * size);
  if (pattern.collective == CollectiveKind::all_reduce || pattern.collective == CollectiveKind::reduce_scatter) {
    for (std::size_t rank = in.size() - 1; rank > 0; --rank) accumulate(pattern.type, pattern.op, in[rank], result);
    finish(pattern.type, pattern.op, pattern.workers, result);
  }
  return std::vector<Buffer>(in.size(), result);
}

TEST(Judge, AcceptsTheRightResultOfEveryTypeOperationAndGoal) {
  for (const CollectiveKind collective : kCollectiveKinds)
    for (const DataTypeEntry* type : data_types())
      for (const ReduceOpEntry* op : reduce_ops())
        for (const int workers : support::kSanitized ? std::vector{1, 3, 8} : std::vector{1, 2, 3, 8, 23, 127}) {
          const Pattern pattern = pattern_of(collective, type->type, op->op, workers);
          const std::vector<Buffer> buffers = results(pattern, inputs(pattern));
          for (Rank rank = 0; rank < workers; ++rank)
            ASSERT_EQ(count_wrong(pattern, rank, buffers[rank]), 0)
                << type->name << " " << op->name << " of " << workers << ", collective "
                << static_cast<int>(collective);
        }
}

TEST(Judge, CountsEveryWrongElementOnce) {
  for (const DataTypeEntry* type : data_types()) {
    const Pattern pattern = pattern_of(CollectiveKind::all_reduce, type->type, ReduceOp::sum, 4);
    Buffer buffer = results(pattern, inputs(pattern))[0];
    for (const std::size_t element : {0, 1023, 1024, 2999}) buffer[element * type->size] ^= std::byte{1};
    EXPECT_EQ(count_wrong(pattern, 0, buffer), 4) << type->name;
  }
}

TEST(Judge, SeesAMissingADoubledAndASwappedContribution) {
  for (const DataTypeEntry* type : data_types())
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average, ReduceOp::product}) {
      const Pattern pattern = pattern_of(CollectiveKind::all_reduce, type->type, op, 4);
      std::vector<Buffer> in = inputs(pattern);
      std::vector<Buffer> missing = in;
      fill_neutral(type->type, op, missing[2]);
      EXPECT_GT(count_wrong(pattern, 0, results(pattern, missing)[0]), kElements / 8) << type->name;
      std::vector<Buffer> doubled = in;
      doubled[1] = doubled[2];
      EXPECT_GT(count_wrong(pattern, 0, results(pattern, doubled)[0]), kElements / 8) << type->name;
      Buffer swapped = results(pattern, in)[0];
      std::swap_ranges(swapped.begin(), swapped.begin() + swapped.size() / 2, swapped.begin() + swapped.size() / 2);
      EXPECT_GT(count_wrong(pattern, 0, swapped), kElements / 8) << type->name;
    }
}

TEST(Judge, SeesWhatOneRankOnlyHasInAMinimumAndMaximum) {
  for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
    const Pattern pattern = pattern_of(CollectiveKind::all_reduce, DataType::float32, op, 4);
    for (std::size_t rank = 0; rank < 4; ++rank) {
      std::vector<Buffer> missing = inputs(pattern);
      fill_neutral(DataType::float32, op, missing[rank]);
      EXPECT_GT(count_wrong(pattern, 0, results(pattern, missing)[0]), kElements / 8) << "rank " << rank;
    }
  }
}

TEST(Judge, SeesABufferThatNobodyTouched) {
  for (const CollectiveKind collective : kCollectiveKinds) {
    const Pattern pattern = pattern_of(collective, DataType::float32, ReduceOp::sum, 3);
    const std::vector<Buffer> in = inputs(pattern);
    for (Rank rank = 1; rank < 3; ++rank) EXPECT_GT(count_wrong(pattern, rank, in[rank]), kElements / 4);
  }
}

TEST(Judge, DoesNotLookAtScratch) {
  const Pattern pattern = pattern_of(CollectiveKind::reduce_scatter, DataType::float32, ReduceOp::sum, 3);
  Buffer buffer = results(pattern, inputs(pattern))[1];
  std::fill_n(buffer.begin(), pattern.parts[1].begin * 4, std::byte{0xff});
  EXPECT_EQ(count_wrong(pattern, 1, buffer), 0);
  EXPECT_EQ(count_wrong(pattern, 0, buffer), kElements / 3);
}

TEST(Judge, SaysUpToHowManyWorkersItsSumsAreExact) {
  EXPECT_EQ(most_workers(DataType::bfloat16, ReduceOp::sum), 127);
  EXPECT_EQ(most_workers(DataType::float16, ReduceOp::average), 1023);
  EXPECT_GT(most_workers(DataType::bfloat16, ReduceOp::max), 1'000'000);
}

}  // namespace
}  // namespace hbench::collective_pattern_test

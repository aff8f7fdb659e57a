// `combine` and its like against one plain loop, for every type, operation and instruction set of this processor.

#include "collectives/arithmetic/arithmetic.hpp"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "collectives/arithmetic/half.hpp"

namespace hbench::arithmetic_test {
namespace {

/// Runs `test` once for each instruction set that was compiled and that this processor has.
template <class Test>
void for_each_instruction_set(Test test) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// Calls `f` with a value of the C++ type in which `type` is combined, and one of the type in which it is stored.
template <class F>
void with_type(DataType type, F f) {
  switch (type) {
    case DataType::float32:
      return f(float(), float());
    case DataType::float64:
      return f(double(), double());
    case DataType::float16:
    case DataType::bfloat16:
      return f(float(), std::uint16_t());
    case DataType::int32:
      return f(std::int32_t(), std::int32_t());
    case DataType::int64:
      return f(std::int64_t(), std::int64_t());
    case DataType::uint8:
      return f(std::uint8_t(), std::uint8_t());
  }
}

template <class T>
T combined(ReduceOp op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if ((op == ReduceOp::min || op == ReduceOp::max) && (std::isnan(a) || std::isnan(b)))
      return std::numeric_limits<T>::quiet_NaN();
    if (op == ReduceOp::product) return a * b;
    if (op == ReduceOp::sum || op == ReduceOp::average) return a + b;
  } else {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    if (op == ReduceOp::product) return static_cast<T>(x * y);
    if (op == ReduceOp::sum || op == ReduceOp::average) return static_cast<T>(x + y);
  }
  if (op == ReduceOp::min) return b < a ? b : a;
  return a < b ? b : a;
}

float widened(DataType type, std::uint16_t half) {
  float value = 0;
  const auto& conversion = type == DataType::float16 ? float16_conversion() : bfloat16_conversion();
  conversion.widen(std::as_bytes(std::span(&half, 1)), {&value, 1});
  return value;
}

std::uint16_t narrowed(DataType type, float value) {
  std::uint16_t half = 0;
  const auto& conversion = type == DataType::float16 ? float16_conversion() : bfloat16_conversion();
  conversion.narrow({&value, 1}, std::as_writable_bytes(std::span(&half, 1)));
  return half;
}

template <class Value, class Stored>
Value load(DataType type, const std::byte* at) {
  Stored stored;
  std::memcpy(&stored, at, sizeof stored);
  if constexpr (std::is_same_v<Value, Stored>) return stored;
  return static_cast<Value>(widened(type, static_cast<std::uint16_t>(stored)));
}

/// Equal, or both no number.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b;
}

constexpr std::size_t kGuard = 64;

/// A buffer of bytes at an address that is `off` from aligned, with guards around it.
struct Buffer {
  Buffer(std::size_t bytes, std::size_t off) : all(bytes + 2 * kGuard + off, std::byte{0x77}), begin(kGuard + off) {}
  std::byte* data() { return all.data() + begin; }
  std::vector<std::byte> all;
  std::size_t begin;
};

/// Any bits for integers and halves (NaN and infinities among them); for floats also some that overflow.
template <class Stored>
void randomise(Buffer& buffer, std::size_t elements, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, 3);
  for (std::size_t i = 0; i < elements; ++i) {
    auto stored = static_cast<Stored>(random());
    if constexpr (std::is_floating_point_v<Stored>) {
      stored = static_cast<Stored>(normal(random));
      if (i % 23 == 5) stored = std::numeric_limits<Stored>::quiet_NaN();
      if (i % 29 == 7) stored = std::numeric_limits<Stored>::infinity();
      if (i % 31 == 9) stored = -0.0F;
    }
    std::memcpy(buffer.data() + i * sizeof stored, &stored, sizeof stored);
  }
}

struct Shape {
  std::size_t sources;
  std::size_t targets;
  bool in_place;  ///< the targets are the first sources
  std::size_t off;
};
constexpr Shape kShapes[] = {{1, 1, false, 0}, {2, 1, true, 1}, {2, 2, true, 0}, {3, 5, false, 3},
                             {5, 3, true, 13}, {8, 8, true, 0}, {9, 1, false, 7}};

template <class Value, class Stored>
void check(DataType type, ReduceOp op, std::size_t elements, const Shape& shape, std::mt19937_64& random) {
  const std::size_t bytes = elements * sizeof(Stored);
  std::vector<Buffer> given;
  for (std::size_t i = 0; i < shape.sources; ++i) {
    given.emplace_back(bytes, shape.off + i % 3);
    randomise<Stored>(given.back(), elements, random);
  }
  std::vector<Buffer> buffers = given;
  std::vector<Buffer> results;
  for (std::size_t i = 0; i < shape.targets; ++i) results.emplace_back(bytes, shape.off + i % 2);
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
  for (Buffer& buffer : buffers) sources.push_back(buffer.data());
  for (std::size_t i = 0; i < shape.targets; ++i)
    targets.push_back(shape.in_place ? buffers[i].data() : results[i].data());
  const int divisor = op == ReduceOp::average ? 3 : 1;
  combine(type, op, sources, targets, bytes, divisor);
  for (std::size_t i = 0; i < elements; ++i) {
    auto right = load<Value, Stored>(type, given[0].data() + i * sizeof(Stored));
    for (std::size_t s = 1; s < shape.sources; ++s)
      right = combined(op, right, load<Value, Stored>(type, given[s].data() + i * sizeof(Stored)));
    if (divisor != 1) right = static_cast<Value>(right / static_cast<Value>(divisor));
    if constexpr (!std::is_same_v<Value, Stored>) right = widened(type, narrowed(type, right));
    for (const std::byte* target : targets)
      ASSERT_TRUE(same(load<Value, Stored>(type, target + i * sizeof(Stored)), right))
          << "element " << i << " of " << elements;
  }
  for (auto* set : {&buffers, &results})
    for (const Buffer& buffer : *set)
      for (std::size_t i = 0; i < kGuard; ++i) {
        ASSERT_EQ(buffer.all[buffer.begin - 1 - i], std::byte{0x77}) << "before the buffer";
        ASSERT_EQ(buffer.all[buffer.begin + bytes + i], std::byte{0x77}) << "behind the buffer";
      }
}

template <class Test>
void for_each_type_and_operation(Test test) {
  for (const DataTypeEntry* type : data_types())
    for (const ReduceOpEntry* op : reduce_ops()) {
      SCOPED_TRACE(std::string(type->name) + " " + std::string(op->name));
      test(type->type, op->op);
    }
}

TEST(Arithmetic, KnowsHowManyBytesEachElementTakes) {
  for (const DataTypeEntry* entry : data_types())
    with_type(entry->type, [&](auto, auto stored) { EXPECT_EQ(entry->size, sizeof stored) << entry->name; });
}

TEST(Arithmetic, CombinesEveryTypeAndOperationAsAPlainLoopDoes) {
  std::mt19937_64 random(7);
  for_each_instruction_set([&] {
    for_each_type_and_operation([&](DataType type, ReduceOp op) {
      for (const Shape& shape : kShapes)
        for (const std::size_t elements : {0, 1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 127, 1023, 1025, 4099})
          with_type(type, [&]<class Value, class Stored>(Value, Stored) {
            check<Value, Stored>(type, op, elements, shape, random);
          });
    });
  });
}

TEST(Arithmetic, GivesTheSameBitsWithEveryInstructionSet) {
  for_each_type_and_operation([&](DataType type, ReduceOp op) {
    std::vector<std::byte> first;
    for_each_instruction_set([&] {
      std::mt19937_64 random(3);
      std::vector<std::byte> values(3 * 1000);
      // Finite, and none of them no number: whose bits are the processor's choice.
      for (std::byte& value : values) value = static_cast<std::byte>(random() % 56);
      const std::byte* const sources[] = {values.data(), values.data() + 1000, values.data() + 2000};
      std::byte* const targets[] = {values.data()};
      combine(type, op, sources, targets, 1000, op == ReduceOp::average ? 3 : 1);
      if (first.empty()) first = values;
      EXPECT_EQ(values, first);
    });
  });
}

TEST(Arithmetic, KeepsTheRestOfWhatIsFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> whole{3, -1, kInfinity, 2, kInfinity, NAN, 3e38F};
  std::vector<float> part{1, -1, 5, kInfinity, kInfinity, 4, -3e38F};
  keep_rest(whole, part);
  // 3 - 1, -1 + 1; all others are infinite, NaN, or more than a float32 holds.
  EXPECT_EQ(part, (std::vector<float>{2, 0, 0, 0, 0, 0, 0}));
}

TEST(Arithmetic, ChangesNumbersAsOptimizersDo) {
  using Kind = NumbersChange::Kind;
  const std::vector<float> a{1, -2, 3}, b{4, 16, 64};
  std::vector<float> x{1, 2, 3};
  change({.kind = Kind::multiply, .factor = 2}, x);
  EXPECT_EQ(x, (std::vector<float>{2, 4, 6}));
  change({.kind = Kind::add, .factor = 0.5F, .a = a}, x);
  EXPECT_EQ(x, (std::vector<float>{2.5, 3, 7.5}));
  change({.kind = Kind::add_product, .factor = 0.25F, .a = a, .b = b}, x);
  EXPECT_EQ(x, (std::vector<float>{3.5, -5, 55.5}));
  change({.kind = Kind::add_ratio, .factor = 3, .a = a, .b = b, .root = 2, .epsilon = 2}, x);
  EXPECT_EQ(x, (std::vector<float>{4.5, -6.5, 57}));
}

TEST(Arithmetic, AccumulatesInPlace) {
  std::vector<float> sum{1, 2, 3};
  const std::vector<float> more{10, 20, 30};
  accumulate(DataType::float32, ReduceOp::sum, std::as_bytes(std::span(more)), std::as_writable_bytes(std::span(sum)));
  EXPECT_EQ(sum, (std::vector<float>{11, 22, 33}));
}

TEST(Arithmetic, WrapsIntegersAround) {
  const std::int32_t largest = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> sum(5, largest);
  const std::vector<std::int32_t> ones(5, 1);
  accumulate(DataType::int32, ReduceOp::sum, std::as_bytes(std::span(ones)), std::as_writable_bytes(std::span(sum)));
  EXPECT_EQ(sum, std::vector<std::int32_t>(5, std::numeric_limits<std::int32_t>::min()));
}

TEST(Arithmetic, FillsWithWhatLeavesOthersAsTheyAre) {
  std::mt19937_64 random(11);
  for_each_type_and_operation([&](DataType type, ReduceOp op) {
    with_type(type, [&]<class Value, class Stored>(Value, Stored) {
      constexpr std::size_t kElements = 100;
      Buffer values(kElements * sizeof(Stored), 0);
      randomise<Stored>(values, kElements, random);
      Buffer neutral(kElements * sizeof(Stored), 0);
      const std::span<std::byte> combined_with(neutral.data(), kElements * sizeof(Stored));
      fill_neutral(type, op, combined_with);
      accumulate(type, op, {values.data(), kElements * sizeof(Stored)}, combined_with);
      for (std::size_t i = 0; i < kElements; ++i)
        ASSERT_TRUE(same(load<Value, Stored>(type, neutral.data() + i * sizeof(Stored)),
                         load<Value, Stored>(type, values.data() + i * sizeof(Stored))));
    });
  });
}

TEST(Arithmetic, DividesAveragesOnlyAndAsCppDoes) {
  std::vector<std::int32_t> values{7, -7, 9};
  finish(DataType::int32, ReduceOp::sum, 3, std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, (std::vector<std::int32_t>{7, -7, 9}));
  finish(DataType::int32, ReduceOp::average, 3, std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, (std::vector<std::int32_t>{2, -2, 3}));
}

}  // namespace
}  // namespace hbench::arithmetic_test

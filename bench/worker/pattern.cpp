#include "bench/worker/pattern.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/arithmetic/half.hpp"

namespace hbench {
namespace {

constexpr std::int64_t kBlock = 1024;

/// Integers up to this one are exact in the type; modest, so that all types are tested alike.
std::int64_t largest_exact(DataType type) {
  switch (type) {
    case DataType::uint8:
    case DataType::bfloat16:
      return 255;
    case DataType::float16:
      return 2047;
    default:
      return 1 << 20;
  }
}

std::uint64_t scrambled(std::int64_t position) {
  // The finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014), shortened.
  std::uint64_t bits = (static_cast<std::uint64_t>(position) + 1) * 0x9e3779b97f4a7c15u;
  return (bits ^ bits >> 29) * 0xbf58476d1ce4e5b9u;
}

/// `first(i) + slope(i) * min(turn, steps - 1)` with turn = (rank + i) mod workers: every rank another value at every
/// position, and the sum over the ranks known: workers * first + slope * rise.
class Values {
 public:
  explicit Values(const Pattern& pattern) : op_(pattern.op), workers_(pattern.workers) {
    const std::int64_t limit = largest_exact(pattern.type);
    while (steps_ < workers_ && workers_ + rise(steps_ + 1) <= limit) ++steps_;
    slopes_ = std::clamp<std::int64_t>((limit - workers_) / std::max<std::int64_t>(rise(steps_), 1), 1, 7);
    firsts_ = std::clamp<std::int64_t>((limit - slopes_ * rise(steps_)) / workers_, 1, 1000);
  }

  /// What rank brings at a position.
  std::int64_t input(Rank rank, std::int64_t position) const {
    const std::uint64_t bits = scrambled(position);
    const std::int64_t turn = (rank + position) % workers_;
    if (op_ == ReduceOp::product) return turn < twos(bits) ? 2 : 1;
    return first(bits) + slope(bits) * std::min(turn, steps_ - 1);
  }

  /// All ranks' inputs there, reduced; before the division of an average.
  std::int64_t reduced(std::int64_t position) const {
    const std::uint64_t bits = scrambled(position);
    switch (op_) {
      case ReduceOp::sum:
      case ReduceOp::average:
        return workers_ * first(bits) + slope(bits) * rise(steps_);
      case ReduceOp::min:
        return first(bits);
      case ReduceOp::max:
        return first(bits) + slope(bits) * (steps_ - 1);
      case ReduceOp::product:
        return std::int64_t{1} << twos(bits);
    }
    return 0;
  }

 private:
  /// The sum of min(turn, steps - 1) over all turns.
  std::int64_t rise(std::int64_t steps) const { return steps * (steps - 1) / 2 + (workers_ - steps) * (steps - 1); }
  std::int64_t first(std::uint64_t bits) const { return static_cast<std::int64_t>((bits >> 40) * firsts_ >> 24); }
  std::int64_t slope(std::uint64_t bits) const {
    return 1 + static_cast<std::int64_t>((bits & 0xffff) * slopes_ >> 16);
  }
  /// How many ranks bring a 2 to a product; the others bring 1.
  std::int64_t twos(std::uint64_t bits) const {
    return static_cast<std::int64_t>((bits >> 40) * (std::min<std::int64_t>(workers_, 6) + 1) >> 24);
  }

  ReduceOp op_;
  std::int64_t workers_;
  std::int64_t steps_ = 1, slopes_ = 1, firsts_ = 1;
};

/// Some elements as the type has them.
class Block {
 public:
  Block(DataType type, std::span<const std::int64_t> values) : type_(type) {
    switch (type) {
      case DataType::float32:
        put<float>(values);
        break;
      case DataType::float64:
        put<double>(values);
        break;
      case DataType::int32:
        put<std::int32_t>(values);
        break;
      case DataType::int64:
        put<std::int64_t>(values);
        break;
      case DataType::uint8:
        put<std::uint8_t>(values);
        break;
      case DataType::bfloat16:
        put<float>(values);  // exact in the upper half
        for (std::size_t i = 0; i < values.size(); ++i) std::memmove(&bytes_[2 * i], &bytes_[4 * i + 2], 2);
        break;
      case DataType::float16: {
        std::array<float, kBlock> floats;
        std::ranges::transform(values, floats.begin(), [](std::int64_t value) { return static_cast<float>(value); });
        float16_conversion().narrow({floats.data(), values.size()}, std::span(bytes_).first(2 * values.size()));
      }
    }
  }

  std::byte* at(std::size_t index) { return bytes_.data() + index * size_of(type_); }
  std::span<std::byte> first(std::size_t count) { return std::span(bytes_).first(count * size_of(type_)); }

 private:
  template <class T>
  void put(std::span<const std::int64_t> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const T value = static_cast<T>(values[i]);
      std::memcpy(bytes_.data() + i * sizeof value, &value, sizeof value);
    }
  }

  DataType type_;
  std::array<std::byte, kBlock * 8> bytes_;
};

/// Calls `f(begin, values)` block by block.
template <class Value, class F>
void for_blocks(ElementRange range, Value value, F f) {
  std::array<std::int64_t, kBlock> values;
  for (std::int64_t begin = range.begin; begin < range.end; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, range.end - begin);
    for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value(begin + i);
    f(begin, std::span<const std::int64_t>(values).first(static_cast<std::size_t>(count)));
  }
}

template <class Value>
void write(DataType type, ElementRange range, std::span<std::byte> buffer, Value value) {
  const std::size_t size = size_of(type);
  for_blocks(range, value, [&](std::int64_t begin, std::span<const std::int64_t> values) {
    std::ranges::copy(Block(type, values).first(values.size()), buffer.data() + static_cast<std::size_t>(begin) * size);
  });
}

template <class Value>
std::int64_t differences(const Pattern& pattern, ElementRange range, std::span<const std::byte> buffer, bool reduced,
                         Value value) {
  const std::size_t size = size_of(pattern.type);
  std::int64_t wrong = 0;
  for_blocks(range, value, [&](std::int64_t begin, std::span<const std::int64_t> values) {
    Block expected(pattern.type, values);
    if (reduced) finish(pattern.type, pattern.op, pattern.workers, expected.first(values.size()));
    const std::byte* found = buffer.data() + static_cast<std::size_t>(begin) * size;
    if (std::memcmp(found, expected.at(0), values.size() * size) == 0) return;
    for (std::size_t i = 0; i < values.size(); ++i) wrong += std::memcmp(found + i * size, expected.at(i), size) != 0;
  });
  return wrong;
}

}  // namespace

int most_workers(DataType type, ReduceOp op) {
  return op == ReduceOp::sum || op == ReduceOp::average ? static_cast<int>(largest_exact(type) / 2) : INT32_MAX;
}

void fill_input(const Pattern& pattern, Rank rank, std::span<std::byte> buffer) {
  const Values values(pattern);
  const ElementRange all{0, static_cast<std::int64_t>(buffer.size() / size_of(pattern.type))};
  ElementRange mine = all;
  if (rank >= pattern.workers) mine = {};
  if (pattern.collective == CollectiveKind::broadcast && rank != 0) mine = {};
  if (pattern.collective == CollectiveKind::all_gather && rank < pattern.workers)
    mine = pattern.parts.at(static_cast<std::size_t>(rank));
  if (mine.size() != all.size()) write(pattern.type, all, buffer, [](std::int64_t) { return 113; });
  write(pattern.type, mine, buffer, [&](std::int64_t position) { return values.input(rank, position); });
}

std::int64_t count_wrong(const Pattern& pattern, Rank rank, std::span<const std::byte> buffer) {
  if (rank >= pattern.workers) return 0;
  const Values values(pattern);
  const ElementRange all{0, static_cast<std::int64_t>(buffer.size() / size_of(pattern.type))};
  const auto reduced = [&](std::int64_t position) { return values.reduced(position); };
  switch (pattern.collective) {
    case CollectiveKind::all_reduce:
      return differences(pattern, all, buffer, true, reduced);
    case CollectiveKind::reduce_scatter:
      return differences(pattern, pattern.parts.at(static_cast<std::size_t>(rank)), buffer, true, reduced);
    case CollectiveKind::broadcast:
      return differences(pattern, all, buffer, false, [&](std::int64_t position) { return values.input(0, position); });
    case CollectiveKind::all_gather: {
      std::int64_t wrong = 0;
      for (Rank from = 0; from < pattern.workers; ++from)
        wrong += differences(pattern, pattern.parts.at(static_cast<std::size_t>(from)), buffer, false,
                             [&](std::int64_t position) { return values.input(from, position); });
      return wrong;
    }
  }
  return 0;
}

}  // namespace hbench

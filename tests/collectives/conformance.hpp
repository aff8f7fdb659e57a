#pragma once

/// What every executor must get right: cases over the tables, what each rank brings, and what it must end with. The
/// tests of threads and of MPI run the same cases.

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "collectives/exchange/exchange.hpp"
#include "tests/collectives/contributions.hpp"

namespace hbench::support {

/// One collective of one world.
struct Case {
  AlgorithmChoice algorithm;
  CompressorChoice compressor;
  World world;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  std::int64_t elements = 0;

  std::string name() const {
    return fmt::format("{} {}, {}, {}, {} {}, {} elements", to_string(algorithm.algorithm->collective),
                       algorithm.text(), compressor.text(), text_of(world), entry_of(type).name, entry_of(op).name,
                       elements);
  }
};

/// Every algorithm with a schedule in every world of `ranks` ranks, without compression.
inline std::vector<Case> plain_cases(int ranks) {
  std::vector<Case> cases;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->is_vendor()) continue;
    for (const World& world : worlds_of(*algorithm, ranks))
      cases.push_back({{algorithm, std::string(algorithm->defaults)}, parse_compressor("none"), world});
  }
  return cases;
}

/// A number that every type holds exactly, as are all results over up to eight ranks: sums stay below 256, averages are
/// whole, products are powers of two (or wrap around, where the type does).
inline int small_number(const Case& c, Rank rank, std::int64_t index) {
  const int any = static_cast<int>(contribution(rank, index));
  switch (c.op) {
    case ReduceOp::sum:
      return any % 29;
    case ReduceOp::average:
      return c.world.workers * (any % std::max(2, 32 / c.world.workers));
    case ReduceOp::product:
      return any % 3 == 0 ? 2 : 1;
    case ReduceOp::min:
    case ReduceOp::max:
      return any;
  }
  return 0;
}

/// An IEEE half. \pre 0 <= value < 2048, which are exact
inline std::uint16_t half_of(std::int64_t value) {
  if (value == 0) return 0;
  const int exponent = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1;
  return static_cast<std::uint16_t>((exponent + 15) << 10 | (value << (10 - exponent) & 0x3ff));
}

inline void store(DataType type, std::int64_t value, std::byte* at) {
  const auto put = [&](auto number) { std::memcpy(at, &number, sizeof number); };
  const auto real = static_cast<float>(value);
  switch (type) {
    case DataType::float32:
      return put(real);
    case DataType::float64:
      return put(static_cast<double>(value));
    case DataType::float16:
      return put(half_of(value));
    case DataType::bfloat16:
      return put(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(real) >> 16));
    case DataType::int32:
      return put(static_cast<std::int32_t>(value));
    case DataType::int64:
      return put(value);
    case DataType::uint8:
      return put(static_cast<std::uint8_t>(value));
  }
}

/// The elements of part `part`.
inline ElementRange part_of(const Schedule& schedule, int part, std::int64_t elements) {
  const int chunks = schedule.chunks / schedule.world.workers;
  return schedule.range(part * chunks, chunks, elements);
}

/// What a rank brings: where its content does not matter, something that must not be used.
inline std::vector<std::byte> given(const Case& c, const Schedule& schedule, Rank rank) {
  const std::size_t size = size_of(c.type);
  std::vector<std::byte> buffer(static_cast<std::size_t>(c.elements) * size, std::byte{0x5b});
  if (rank >= c.world.workers) return buffer;
  ElementRange own{0, c.elements};
  const CollectiveKind collective = c.algorithm.algorithm->collective;
  if (collective == CollectiveKind::all_gather) own = part_of(schedule, rank, c.elements);
  if (collective == CollectiveKind::broadcast && rank != 0) own = {};
  for (std::int64_t i = own.begin; i < own.end; ++i)
    store(c.type, small_number(c, rank, i), buffer.data() + static_cast<std::size_t>(i) * size);
  return buffer;
}

inline std::int64_t reduced(const Case& c, std::int64_t index) {
  std::int64_t result = small_number(c, 0, index);
  for (Rank rank = 1; rank < c.world.workers; ++rank) {
    const std::int64_t next = small_number(c, rank, index);
    if (c.op == ReduceOp::sum || c.op == ReduceOp::average) result += next;
    if (c.op == ReduceOp::product) result *= next;
    if (c.op == ReduceOp::min) result = std::min(result, next);
    if (c.op == ReduceOp::max) result = std::max(result, next);
  }
  return c.op == ReduceOp::average ? result / c.world.workers : result;
}

/// What is wrong with what `rank` ended with; empty when nothing is.
inline std::string judge(const Case& c, const Schedule& schedule, Rank rank, std::span<const std::byte> result) {
  if (rank >= c.world.workers) return {};
  const std::size_t size = size_of(c.type);
  const CollectiveKind collective = c.algorithm.algorithm->collective;
  const ElementRange range =
      collective == CollectiveKind::reduce_scatter ? part_of(schedule, rank, c.elements) : ElementRange{0, c.elements};
  std::byte right[sizeof(std::int64_t)];
  Rank owner = 0;
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    if (collective == CollectiveKind::all_gather)
      while (part_of(schedule, owner, c.elements).end <= i) ++owner;
    const bool moves = collective == CollectiveKind::all_gather || collective == CollectiveKind::broadcast;
    store(c.type, moves ? small_number(c, owner, i) : reduced(c, i), right);
    if (std::memcmp(right, result.data() + static_cast<std::size_t>(i) * size, size) != 0)
      return fmt::format("{}: rank {}, element {} is wrong", c.name(), rank, i);
  }
  return {};
}

/// The segments with which `prepare_exchange` would build it.
inline Schedule schedule_of(const Case& c) {
  const auto bytes = static_cast<std::int64_t>(static_cast<std::size_t>(c.elements) * size_of(c.type));
  return c.algorithm.build(c.world, c.algorithm.segments(c.world, bytes));
}

/// Gradients as they come: not exact, so that a missing rounding step on one rank shows.
inline std::vector<float> gradient_of(Rank rank, std::int64_t elements, int step = 0) {
  std::mt19937 random(static_cast<unsigned>(1000 * step + rank));
  std::normal_distribution<float> gradient(0.0F, 0.01F);
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (float& value : values) value = gradient(random);
  return values;
}

/// Every compressor in every form that it has with every algorithm that it goes with, in worlds of `ranks` ranks.
inline std::vector<Case> compressed_cases(int ranks) {
  std::vector<Case> cases;
  for (const Case& plain : plain_cases(ranks))
    for (const CompressorChoice& compressor : compressor_choices()) {
      Case c = plain;
      c.compressor = compressor;
      if (refuse_exchange(c.algorithm, c.compressor, c.type, c.op, c.world).empty()) cases.push_back(std::move(c));
    }
  return cases;
}

/// What all ranks must end with, to the bit, after each of `steps` gathered exchanges.
inline std::vector<std::vector<float>> gathered_sums(const Case& c, int steps) {
  const Codec& codec = *c.compressor.codec;
  std::vector<std::vector<float>> sums(static_cast<std::size_t>(steps),
                                       std::vector<float>(static_cast<std::size_t>(c.elements)));
  std::vector<std::byte> encoded(static_cast<std::size_t>(codec.max_wire_bytes(c.elements)));
  for (Rank rank = 0; rank < c.world.workers; ++rank) {
    const std::unique_ptr<GradientMemory> memory = c.compressor.make_memory(c.elements);
    for (int step = 0; step < steps; ++step) {
      std::vector<float> gradient = gradient_of(rank, c.elements, step);
      if (memory != nullptr) memory->compensate(gradient);
      const std::int64_t length = codec.encode(gradient, {.rank = rank, .step = step}, encoded);
      const auto payload = std::span<const std::byte>(encoded).first(static_cast<std::size_t>(length));
      if (memory != nullptr) memory->update(gradient, payload, codec);
      codec.decode(payload, rank == 0 ? TransferKind::copy : TransferKind::reduce,
                   sums[static_cast<std::size_t>(step)]);
    }
  }
  return sums;
}

/// What is wrong with a hop-by-hop sum of `gradient_of` all workers; empty when it is within the declared error.
inline std::string judge_sum(const Case& c, std::span<const float> result) {
  std::vector<double> sum(result.size());
  std::vector<double> magnitude(result.size());
  double norms = 0;
  for (Rank rank = 0; rank < c.world.workers; ++rank) {
    const std::vector<float> gradient = gradient_of(rank, c.elements);
    double norm = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
      sum[i] += gradient[i];
      magnitude[i] += std::abs(gradient[i]);
      norm += static_cast<double>(gradient[i]) * gradient[i];
    }
    norms += std::sqrt(norm);
  }
  const Compressor& compressor = *c.compressor.compressor;
  // A term is encoded once by its owner, at most once a round, and once at the end; it is rounded to float32 at most
  // once a worker.
  const double encodings = schedule_of(c).rounds + 2;
  const double rounding = c.world.workers * 0x1p-24;
  double error = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double off = std::abs(result[i] - sum[i]);
    error += off * off;
    // Below a half's normals its step is 2^-24, wherever it is encoded.
    const double subnormal = compressor.relative_error > 0 ? encodings * c.world.workers * 0x1p-25 : 0;
    const double allowed = (encodings * compressor.relative_error + rounding) * magnitude[i] + subnormal;
    if (compressor.relative_error >= 0 && off > 1.1 * allowed)
      return fmt::format("{}: element {} is off by {:.3g} where {:.3g} are allowed", c.name(), i, off, allowed);
  }
  const double allowed = (encodings * compressor.relative_l2_error + rounding) * norms;
  if (compressor.relative_error < 0 && std::sqrt(error) > 1.5 * allowed)
    return fmt::format("{}: off by {:.3g} in all where {:.3g} are allowed", c.name(), std::sqrt(error), allowed);
  return {};
}

}  // namespace hbench::support

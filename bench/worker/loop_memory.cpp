#include "bench/worker/loop_memory.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "analysis/statistics/statistics.hpp"

namespace hbench {
namespace {

constexpr std::size_t kTable = 1 << 16;
/// Tests hold what compressors declare to within 10 %.
constexpr double kTolerance = 1.1;
/// Of the float32 arithmetic around a compressor.
constexpr double kRounding = 1e-6;

/// Normal deviates (Box and Muller, 1958), drawn once: a logarithm for every element would take longer than the check.
const std::array<float, kTable>& deviates() {
  static const std::array<float, kTable> kDeviates = [] {
    std::array<float, kTable> table;
    Random random(1958);
    const auto uniform = [&] { return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53; };
    for (std::size_t i = 0; i < kTable; i += 2) {
      const double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * std::numbers::pi * uniform();
      table[i] = static_cast<float>(radius * std::cos(angle));
      table[i + 1] = static_cast<float>(radius * std::sin(angle));
    }
    return table;
  }();
  return kDeviates;
}

float normal_at(Rank rank, std::size_t position) {
  std::uint64_t bits = (position * 0x9e3779b97f4a7c15u) ^ (static_cast<std::uint64_t>(rank + 1) * 0xd1b54a32d192ed03u);
  bits = (bits ^ bits >> 31) * 0xbf58476d1ce4e5b9u;
  return deviates()[bits >> 48];
}

}  // namespace

void fill_normal(Rank rank, std::span<float> buffer) {
  for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = normal_at(rank, i);
}

Closeness closeness(ReduceOp op, int workers, std::span<const float> result) {
  double error = 0, exact_square = 0, result_square = 0, product = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    double exact = 0;
    for (Rank rank = 0; rank < workers; ++rank) exact += normal_at(rank, i);
    if (op == ReduceOp::average) exact /= workers;
    const double got = result[i];
    error += (got - exact) * (got - exact);
    exact_square += exact * exact;
    result_square += got * got;
    product += got * exact;
  }
  const double norms = std::sqrt(exact_square) * std::sqrt(result_square);
  return {exact_square == 0 ? 0 : std::sqrt(error / exact_square), norms == 0 ? 0 : product / norms};
}

std::optional<double> allowed_error(const CompressorChoice& compressor, int workers) {
  const Compressor& entry = *compressor.compressor;
  if (entry.relative_l2_error <= 0 || compressor.parameters != entry.defaults) return std::nullopt;
  const int sides = compressor.both_sides ? 2 : 1;
  return kTolerance * entry.relative_l2_error * workers * sides + kRounding;
}

Pattern pattern_of(const LoopEntry& entry) {
  const Case& asked = entry.of->asked;
  return {.collective = parse_collective_kind(asked.collective.name),
          .type = parse_data_type(asked.collective.data_type),
          .op = parse_reduce_op(asked.collective.operation),
          .workers = asked.gpus,
          .parts = entry.candidate->parts()};
}

std::span<std::byte> LoopMemory::buffer_of(std::string_view executor, Endpoint& endpoint, std::size_t bytes) {
  auto [found, added] = buffers_.try_emplace(std::string(executor));
  if (added) found->second = endpoint.allocate(static_cast<std::size_t>(most_bytes_));
  return found->second.first(bytes);
}

std::span<std::byte> LoopMemory::input(const LoopEntry& entry) {
  Endpoint& owner = entry.in_host_memory() ? home_ : *entry.endpoint;
  auto [found, added] = inputs_.try_emplace(&owner);
  if (added) found->second = owner.Endpoint::allocate(static_cast<std::size_t>(most_bytes_));
  return found->second.first(entry.bytes());
}

void LoopMemory::put(const LoopEntry& entry, std::span<std::byte> buffer,
                     const std::function<void(std::span<std::byte>)>& fill) {
  if (entry.in_host_memory()) return fill(buffer);
  host_.resize(buffer.size());
  fill(host_);
  entry.device().write(host_, buffer);
}

void LoopMemory::put_input(const LoopEntry& entry, std::span<std::byte> buffer) {
  if (entry.lossy) return put_normal(entry, buffer);
  put(entry, buffer,
      [&](std::span<std::byte> where) { fill_input(pattern_of(entry), home_.transport().rank(), where); });
}

void LoopMemory::put_normal(const LoopEntry& entry, std::span<std::byte> buffer) {
  put(entry, buffer, [this](std::span<std::byte> where) { fill_normal(home_.transport().rank(), as_floats(where)); });
}

std::span<std::byte> LoopMemory::content(const LoopEntry& entry) {
  if (entry.in_host_memory()) return entry.buffer;
  host_.resize(entry.bytes());
  entry.device().read(entry.buffer, host_);
  return host_;
}

}  // namespace hbench

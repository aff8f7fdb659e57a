#pragma once

/// Inputs whose sums are exactly known, shared by the tests of all executors.

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/error.hpp"
#include "collectives/compressors/compressor.hpp"

namespace hbench::support {

/// A small integer that depends on rank and position, so that a swapped, doubled or lost chunk shows. Sums over
/// eight ranks stay below 2048: exact in float32 and in halves.
inline float contribution(Rank rank, std::int64_t index) {
  const auto mixed = static_cast<std::uint32_t>(index) * 2654435761U + static_cast<std::uint32_t>(rank + 1) * 40503U;
  return static_cast<float>((mixed >> 16) % 251);
}

inline std::vector<float> contribution_of(Rank rank, std::int64_t elements) {
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (std::int64_t i = 0; i < elements; ++i) values[static_cast<std::size_t>(i)] = contribution(rank, i);
  return values;
}

/// The sum over ranks 0 .. workers-1.
inline std::vector<float> expected_sum(int workers, std::int64_t elements) {
  std::vector<float> sum(static_cast<std::size_t>(elements), 0.0F);
  for (Rank rank = 0; rank < workers; ++rank) {
    for (std::int64_t i = 0; i < elements; ++i) sum[static_cast<std::size_t>(i)] += contribution(rank, i);
  }
  return sum;
}

/// Element counts that are awkward for `parts` parts.
inline std::vector<std::int64_t> awkward_counts(int parts) { return {0, 1, parts - 1, parts, parts + 1, 997, 100003}; }

/// Those with which sums of small integers are exact, hop by hop.
inline std::vector<CompressorChoice> exact_compressors() {
  return {parse_compressor("none"), parse_compressor("fp16")};
}

/// Every compressor that does something, and with error feedback where that makes sense.
inline std::vector<CompressorChoice> compressor_choices() {
  std::vector<CompressorChoice> all;
  const auto offer = [&](const std::string& text) {
    try {
      CompressorChoice choice = parse_compressor(text);
      if (!choice.verbatim()) all.push_back(std::move(choice));
    } catch (const Error&) {
      // Refused: makes no sense.
    }
  };
  for (const Compressor* compressor : compressors()) {
    offer(std::string(compressor->name));
    offer("ef:" + std::string(compressor->name));
  }
  return all;
}

/// Every world of `ranks` ranks that `algorithm` takes.
inline std::vector<World> worlds_of(const Algorithm& algorithm, int ranks) {
  std::vector<World> worlds;
  const auto offer = [&](const World& world) {
    if (algorithm.refuses(world).empty()) worlds.push_back(world);
  };
  if (!algorithm.uses_servers) {
    offer({ranks, 0, false});
    return worlds;
  }
  for (int servers = 1; servers <= 3; ++servers) {
    if (ranks > servers) offer({ranks - servers, servers, false});
    if (ranks >= servers) offer({ranks, servers, true});
  }
  return worlds;
}

inline std::string text_of(const World& world) {
  return std::to_string(world.workers) + " workers, " + std::to_string(world.servers) +
         (world.colocated ? " co-located servers" : " dedicated servers");
}

}  // namespace hbench::support

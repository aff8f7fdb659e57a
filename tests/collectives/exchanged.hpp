#pragma once

/// Several steps of one lossy exchange, wherever the ranks' data lie.

#include <functional>
#include <string>
#include <vector>

#include "collectives/transport/transport.hpp"
#include "tests/collectives/conformance.hpp"
#include "tests/collectives/thread_ranks.hpp"

namespace hbench::support {

/// Bits, so that zeros have a sign: by worker, by step.
using Results = std::vector<std::vector<std::vector<std::byte>>>;

/// Every compressor in every form, as `compressed_cases`, and those with signs on both sides.
inline std::vector<Case> compressed_in_every_form(int ranks) {
  std::vector<Case> cases = compressed_cases(ranks);
  for (std::size_t i = 0, given = cases.size(); i < given; ++i) {
    const std::string text = cases[i].compressor.text();
    if (text != "ef:onebit" && text != "ef:sign") continue;
    cases.push_back(cases[i]);
    cases.back().compressor = parse_compressor("ef2:" + text.substr(3));
  }
  return cases;
}

/// What a buffer on a device holds.
using Content = std::function<std::vector<std::byte>(Device& device, std::span<const std::byte> buffer)>;

/// What each worker's buffer holds after each step. Servers bring one, too.
inline Results exchanged(Endpoints& endpoints, const Case& c, const Content& content) {
  constexpr int kSteps = 3;
  constexpr Seconds kTimeout{60};
  Results results(static_cast<std::size_t>(c.world.workers));
  run_ranks(endpoints, [&](Endpoint& endpoint) {
    const Rank rank = endpoint.transport().rank();
    Device& device = endpoint.device();
    const std::size_t bytes = static_cast<std::size_t>(c.elements) * sizeof(float);
    const DeviceMemory memory = device.allocate(bytes);
    const std::span<std::byte> buffer(memory.get(), bytes);
    const auto operation = prepare_exchange(endpoint, {.world = c.world,
                                                       .algorithm = c.algorithm,
                                                       .compressor = c.compressor,
                                                       .operand = {buffer, DataType::float32, c.op}});
    for (int step = 0; step < kSteps; ++step) {
      const std::vector<float> gradient = gradient_of(rank, c.elements, step);
      device.write(std::as_bytes(std::span(gradient)), buffer);
      if (step > 0) operation->restart();
      wait_for(*operation, kTimeout, c.name());
      EXPECT_EQ(operation->waiting_for(), "");
      if (rank < c.world.workers) results[static_cast<std::size_t>(rank)].push_back(content(device, buffer));
    }
  });
  return results;
}

}  // namespace hbench::support

#pragma once

/// The kernels of top-k on the host.

#include <cstddef>
#include <cstdint>
#include <optional>

namespace hbench::support {

/// How much of the work was done from lists.
struct SelectPath {
  std::size_t tiles = 0;
  std::size_t listed = 0;
};

/// Writes the encoding of the `wanted` largest. `least`: instead of what the sample lets guess. \pre wanted > 0
SelectPath select_on_host(const std::byte* floats, std::size_t elements, std::size_t wanted, std::byte* wire,
                          std::optional<std::uint32_t> least = {});

}  // namespace hbench::support

#include "collectives/base/digest.hpp"

#include <fmt/format.h>

namespace hbench {

std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t before) {
  for (const std::byte byte : bytes) {
    before ^= static_cast<std::uint64_t>(byte);
    before *= 0x100000001b3ULL;
  }
  return before;
}

std::string digest_text(std::string_view text) {
  return fmt::format("{:016x}", digest(std::as_bytes(std::span(text))));
}

}  // namespace hbench

#include "analysis/store/uuid.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <random>

#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench::store {
namespace {

/// 128 bits as text, with the version and the variant of RFC 9562 in their places.
std::string text_of(std::uint64_t high, std::uint64_t low, std::uint64_t version) {
  high = (high & ~0xf000ULL) | version << 12;
  low = (low & ~(3ULL << 62)) | 2ULL << 62;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48,
                     low & 0xffff'ffff'ffff);
}

std::uint64_t digest_of(std::string_view text) { return digest(std::as_bytes(std::span(text))); }

}  // namespace

std::string random_uuid() {
  try {
    std::random_device source;
    std::uniform_int_distribution<std::uint64_t> any;
    const std::uint64_t high = any(source);
    return text_of(high, any(source), 4);
  } catch (const std::exception& error) {
    throw Error(ExitCode::environment, fmt::format("the system gives no random numbers: {}", error.what()),
                "make /dev/urandom readable");
  }
}

std::string uuid_of(std::string_view contents) {
  // Two digests that begin in different states: contents that one takes for equal differ in the other.
  return text_of(digest_of(contents), digest_of(fmt::format("hbench{}", contents)), 8);
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool digit = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (dash ? text[i] != '-' : !digit) return false;
  }
  return true;
}

}  // namespace hbench::store

#pragma once

/// Reading and writing encoded gradients, which lie at any address and may be damaged.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace hbench {

/// The error for bytes that no encoder wrote. \throws Error (wrong_data)
[[noreturn]] void refuse_payload(const char* why);

/// \throws Error (wrong_data) unless `in` has exactly `bytes`.
void expect_size(std::span<const std::byte> in, std::int64_t bytes);

/// The value at the beginning of `in`, which then begins after it. \throws Error (wrong_data) when `in` is too short.
template <class T>
requires std::is_trivially_copyable_v<T> T take(std::span<const std::byte>& in) {
  if (in.size() < sizeof(T)) refuse_payload("it ends too early");
  T value;
  std::memcpy(&value, in.data(), sizeof value);
  in = in.subspan(sizeof value);
  return value;
}

/// Writes `value` to the beginning of `out`, which then begins after it. \pre it fits
template <class T>
requires std::is_trivially_copyable_v<T>
void put(const T& value, std::span<std::byte>& out) {
  std::memcpy(out.data(), &value, sizeof value);
  out = out.subspan(sizeof value);
}

}  // namespace hbench

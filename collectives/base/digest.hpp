#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hbench {

/// The digest of no bytes.
inline constexpr std::uint64_t kDigestOfNothing = 0xcbf29ce484222325U;
/// 64-bit FNV-1a (Fowler, Noll, Vo): differs where contents differ, except by chance or by intent. `before` is the
/// digest of what stands before these bytes.
std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t before = kDigestOfNothing);
/// The digest of a text, as 16 hexadecimal digits.
std::string digest_text(std::string_view text);

}  // namespace hbench

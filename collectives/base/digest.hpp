#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hbench {

/// 64-bit FNV-1a (Fowler, Noll, Vo): differs where contents differ, except by chance or by intent.
std::uint64_t digest(std::span<const std::byte> bytes);
/// The digest of a text, as 16 hexadecimal digits.
std::string digest_text(std::string_view text);

}  // namespace hbench

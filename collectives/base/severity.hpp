#pragma once

/// How bad it is what a check found, of a profile, a database or this machine: one scale for all.

#include <array>
#include <cstdint>
#include <string_view>

namespace hbench {

/// An error cannot be true or must not be relied on, and the exit code says so; a warning makes figures doubtful; a
/// note is harmless and should be known. The worst first.
enum class Severity : std::uint8_t { error, warning, note, pass };

/// Its name above.
inline std::string_view to_string(Severity severity) {
  constexpr std::array<std::string_view, 4> kNames{"error", "warning", "note", "pass"};
  return kNames.at(static_cast<std::size_t>(severity));
}

}  // namespace hbench

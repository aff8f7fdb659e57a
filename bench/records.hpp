#pragma once

/// Tables that are too wide for a terminal.

#include <string>

#include "reports/document.hpp"

namespace hbench {

/// A table as text: aligned columns where they fit into `kWidestTable`, else a paragraph for each row, with a line for
/// each of its cells that is not empty.
std::string terminal_text(const Table& table);

inline constexpr std::size_t kWidestTable = 120;

}  // namespace hbench

#pragma once

/// Documents on the terminal: one way for every verb to print tables.

#include <cstddef>
#include <string>

#include "reports/document.hpp"

namespace hbench {

inline constexpr std::size_t kUsualWidth = 80;

/// Columns of the terminal that standard output is; `kUsualWidth` where it is a file or a pipe, so that output can be
/// compared. At least 40.
std::size_t terminal_width();

/// The document as wide as the terminal, or with every column where `wide` (`--wide`).
std::string terminal_text(const Document& document, bool wide = false);

/// What `--wide` says in every `--help`.
inline constexpr const char* kWideHelp = "all columns of every table, however wide";

}  // namespace hbench

#pragma once

/// Documents on the terminal: one way for every verb to print tables.

#include <cstddef>
#include <string>
#include <string_view>

#include "reports/document/document.hpp"

namespace hbench {

inline constexpr std::size_t kUsualWidth = 80;

/// Columns of the terminal that `file` is, at least 40; `kUsualWidth` where nobody knows how wide it is, and
/// `kAnyWidth` where it is a file or a pipe. `COLUMNS` in the environment is used instead where it is set.
std::size_t terminal_width(int file);

/// The document as wide as the terminal that standard output is, or with every column where `wide` (`--wide`). On a
/// terminal verdicts (regressed, improved, failed) have colours, unless `NO_COLOR` is set.
std::string terminal_text(const Document& document, bool wide = false);

/// Returns what fits in `columns`, all of it where that is `kAnyWidth`. \pre no line break.
std::string first_columns(std::string_view text, std::size_t columns);

/// What `--wide` says in every `--help`.
inline constexpr const char* kWideHelp = "all columns of every table, however wide";

}  // namespace hbench

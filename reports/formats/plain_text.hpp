#pragma once

/// Text that goes into reports: made harmless and measured. Pure functions.

#include <cstddef>
#include <string>
#include <string_view>

namespace hbench {

/// Valid UTF-8 on one line: broken sequences become U+FFFD; control characters and line or paragraph
/// separators become a space. So no format meets a newline, a NUL or a terminal's escape code.
std::string clean_text(std::string_view text);

/// `text` with `&`, `<`, `>` and `"` as entities of XML and HTML, and with `'` as one where `apostrophes` are asked
/// for.
std::string escaped_markup(std::string_view text, bool apostrophes);

/// Code points in clean text: its width on a terminal, near enough.
std::size_t text_width(std::string_view clean);

/// `text` followed (or preceded) by spaces up to `width`.
std::string padded(std::string_view text, std::size_t width, bool right_aligned);

/// Letters, digits, `-` and `_`; everything else becomes `-`. Never empty.
std::string file_stem(std::string_view text);

/// A figure for people: `83.4 %` for the fraction 0.834 when `percent`, else four significant digits.
std::string format_figure(double value, bool percent);

/// `2026-01-02 03:04` of seconds since 1970, UTC.
std::string date_text(double seconds);

}  // namespace hbench

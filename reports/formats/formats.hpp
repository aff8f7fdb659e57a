#pragma once

/// Output formats: one file each, listed in `formats.cpp`.

#include <span>
#include <string>
#include <string_view>

#include "reports/document/document.hpp"

namespace hbench {

/// A way to turn a document into bytes.
struct Format {
  std::string_view name;       ///< `html`
  std::string_view summary;    ///< one line for `hbench list formats`
  std::string_view extension;  ///< `.html`
  std::string_view file;       ///< name in a report's folder: `index.html`; empty: not part of one
  /// Pure: the same document gives the same bytes. Takes any document; prepares it itself.
  std::string (*render)(const Document& document);
};

extern const Format kHtmlFormat, kMarkdownFormat, kCsvFormat, kTextFormat;

/// A document for a terminal of `width` columns (see `text_table`); `kTextFormat` has no limit for its tables.
std::string text_of(const Document& document, std::size_t width);

/// All formats, in the order in which they are listed.
std::span<const Format* const> formats();

/// \throws Error (usage) with a suggestion.
const Format& find_format(std::string_view name);

/// Whether all of `text` is one finite number.
bool is_number(std::string_view text);

/// `text` as a field of every CSV that hbench writes: as in RFC 4180, quoted where that is needed. Text that a
/// spreadsheet would run as a formula (after blanks it begins with one of = + - @ | %, and it is no number) is preceded
/// by an apostrophe.
std::string csv_field(std::string_view text);

}  // namespace hbench

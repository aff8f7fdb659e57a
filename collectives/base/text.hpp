#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hbench {

/// The lines of a text without their ends; what follows the last end is one too, if there is anything.
std::vector<std::string_view> lines_of(std::string_view text);

/// What stands between blanks, tabs and carriage returns.
std::vector<std::string_view> words_of(std::string_view line);

/// Returns whether `text` is one of `texts`.
bool contains(std::span<const std::string> texts, std::string_view text);

/// `text` without white space at its ends.
std::string_view trimmed(std::string_view text);

/// `text` with the small letters of ASCII; other characters stay as they are.
std::string lower_case(std::string text);

/// `text` as the first words of a sentence.
std::string capitalized(std::string_view text);

/// Whether it is of the form `2026-11-21T09:00:00Z`: such texts are in the order of their times.
bool is_utc_time(std::string_view text);

/// `text` without the mark of UTF-8 that editors and spreadsheets put before it.
std::string_view without_byte_order_mark(std::string_view text);

/// `text` as one word of a shell: as it is, in double quotes, or in single ones, whichever reads best.
std::string shell_word(std::string_view text);

/// `1 run`, `3 runs`, `2 launches`.
std::string counted(std::int64_t number, std::string_view noun);

/// `11,585`. \pre `number` >= 0
std::string with_commas(std::int64_t number);

/// The number that a text begins with, and what follows it; none where it begins with none, or with one that is too
/// large.
template <class Number>
std::optional<std::pair<Number, std::string_view>> parse_leading_number(std::string_view text) {
  Number number{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc()) return std::nullopt;
  return std::pair(number, text.substr(static_cast<std::size_t>(end - text.data())));
}

/// A text that is a number of this type and nothing else: no space, no unit, no `+`; none where it is not, or where it
/// is too large. A floating-point number may be `inf` or `nan`.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  const auto leading = parse_leading_number<Number>(text);
  return leading && leading->second.empty() ? std::optional(leading->first) : std::nullopt;
}

/// The digest of no bytes.
inline constexpr std::uint64_t kDigestOfNothing = 0xcbf29ce484222325U;
/// 64-bit FNV-1a (Fowler, Noll, Vo): differs where contents differ, except by chance or by intent. `before` is the
/// digest of what stands before these bytes.
std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t before = kDigestOfNothing);
/// The digest of a text, as 16 hexadecimal digits.
std::string digest_text(std::string_view text);

}  // namespace hbench

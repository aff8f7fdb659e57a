#include "bench/output/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "collectives/base/parse_number.hpp"
#include "reports/formats/formats.hpp"
#include "reports/formats/text_table.hpp"

namespace hbench {
namespace {

constexpr std::size_t kLeast = 40;

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

/// In front of a verdict's word, and behind it.
constexpr std::array kColours{std::pair("regressed", "\033[31m"), std::pair("failed", "\033[31m"),
                              std::pair("improved", "\033[32m")};
constexpr std::string_view kPlain = "\033[0m";

bool is_letter(char character) { return character == '_' || std::isalnum(static_cast<unsigned char>(character)) != 0; }

std::string coloured(std::string text) {
  for (const auto& [word, colour] : kColours) {
    const std::string_view verdict = word;
    for (std::size_t at = 0; (at = text.find(verdict, at)) != text.npos;) {
      const std::size_t end = at + verdict.size();
      const bool whole = (at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]));
      const std::string painted = whole ? fmt::format("{}{}{}", colour, verdict, kPlain) : std::string(verdict);
      text.replace(at, verdict.size(), painted);
      at += painted.size();
    }
  }
  return text;
}

}  // namespace

std::size_t terminal_width(int file) {
  if (is_set("COLUMNS"))
    if (const auto columns = parse_number<int>(std::getenv("COLUMNS")); columns && *columns > 0)
      return std::max(static_cast<std::size_t>(*columns), kLeast);
  if (isatty(file) == 0) return kAnyWidth;
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
  return std::max<std::size_t>(size.ws_col, kLeast);
}

std::string terminal_text(const Document& document, bool wide) {
  std::string text = text_of(document, wide ? kAnyWidth : terminal_width(STDOUT_FILENO));
  return isatty(STDOUT_FILENO) != 0 && !is_set("NO_COLOR") ? coloured(std::move(text)) : text;
}

std::string first_columns(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t column = 0; end < text.size(); ++end) {
    const bool begins_character = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins_character && columns != kAnyWidth && column++ == columns) break;
  }
  return std::string(text.substr(0, end));
}

}  // namespace hbench

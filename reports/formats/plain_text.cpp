#include "reports/formats/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// The bytes of the character at the start of `text`; none where they are not UTF-8 (overlong, surrogate, cut off).
std::optional<std::size_t> character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return std::nullopt;
  char32_t value = byte(0) & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    value = (value << 6) | (byte(i) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kLeast[length] || value > 0x10FFFF || surrogate) return std::nullopt;
  return length;
}

}  // namespace

std::string clean_text(std::string_view text) {
  const std::string line = one_line(text);
  std::string clean;
  clean.reserve(line.size());
  for (std::string_view left = line; !left.empty();) {
    const std::optional<std::size_t> length = character_length(left);
    clean += length ? left.substr(0, *length) : kReplacement;
    left.remove_prefix(length.value_or(1));
  }
  return clean;
}

std::string escaped_markup(std::string_view text, bool apostrophes) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\'' && apostrophes)
      out += "&#39;";
    else
      out += c;
  }
  return out;
}

std::size_t text_width(std::string_view clean) {
  return static_cast<std::size_t>(std::ranges::count_if(clean, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(std::string_view text, std::size_t width, bool right_aligned) {
  const std::size_t used = text_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right_aligned ? space + std::string(text) : std::string(text) + space;
}

std::string file_stem(std::string_view text) {
  std::string stem(text);
  for (char& c : stem) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!plain) c = '-';
  }
  return stem.empty() ? "chart" : stem;
}

std::string format_figure(double value, bool percent) {
  if (!std::isfinite(value)) return "-";
  if (percent) return fmt::format("{:.1f} %", value * 100);
  return std::fabs(value) >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string date_text(double seconds) {
  constexpr double kYear9999 = 253402300799;
  if (!(std::fabs(seconds) <= kYear9999)) return format_figure(seconds, false);
  const auto time = static_cast<std::time_t>(seconds);
  std::tm date{};
  gmtime_r(&time, &date);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday, date.tm_hour,
                     date.tm_min);
}

}  // namespace hbench

#include "reports/formats/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

namespace hbench {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Decoded {
  char32_t value;
  std::size_t length;
};

/// The code point at the start of `text`, or none where the bytes are not UTF-8 (overlong, surrogate, cut off).
std::optional<Decoded> decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return Decoded{byte(0), 1};
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
  return Decoded{value, length};
}

bool breaks_a_line(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029; }

/// These reverse what a reader sees after them.
bool changes_direction(char32_t c) { return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069); }

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const auto decoded = decode(text);
    const std::size_t length = decoded ? decoded->length : 1;
    if (!decoded || changes_direction(decoded->value))
      clean += kReplacement;
    else if (breaks_a_line(decoded->value))
      clean += ' ';
    else
      clean += text.substr(0, length);
    text.remove_prefix(length);
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

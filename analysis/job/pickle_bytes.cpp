#include "analysis/job/pickle_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace hbench {
namespace {

constexpr std::size_t kMostTextBytes = std::size_t{64} << 20;

void append_utf8(std::string& text, std::uint32_t point) {
  const auto part = [&](int shift, std::uint32_t first) {
    text.push_back(static_cast<char>(first | (point >> shift & (first == 0x80 ? 0x3f : 0xff))));
  };
  if (point < 0x80) return part(0, 0);
  if (point < 0x800) return part(6, 0xc0), part(0, 0x80);
  if (point < 0x10000) return part(12, 0xe0), part(6, 0x80), part(0, 0x80);
  part(18, 0xf0), part(12, 0x80), part(6, 0x80), part(0, 0x80);
}

nlohmann::json finite(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

}  // namespace

template <class Number>
Number PickleBytes::parsed(std::string_view text, int base) const {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) fail("a number is damaged");
  return value;
}

int PickleBytes::byte() {
  ++position_;
  const int byte = source_.take();
  if (byte < 0) fail("it ends early");
  return byte;
}

std::uint64_t PickleBytes::number(int size) {
  std::uint64_t value = 0;
  for (int i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(byte()) << (8 * i);
  return value;
}

std::optional<nlohmann::json> PickleBytes::scalar(int code) {
  switch (code) {
    case 'N':
      return nullptr;
    case 0x88:
    case 0x89:
      return code == 0x88;
    case 'J':
      return whole(4);
    case 'K':
      return number(1);
    case 'M':
      return number(2);
    case 0x8a:
      return whole(number(1));
    case 0x8b:
      return whole(number(4));
    case 'G':
      return big_endian_double();
    case 'F':
      return line_double();
    case 'I':
    case 'L':
      return line_whole();
    case 'U':
    case 'C':
    case 0x8c:
      return bytes(number(1));
    case 'X':
    case 'T':
    case 'B':
      return bytes(number(4));
    case 0x8d:
    case 0x8e:
      return bytes(number(8));
    case 'S':
      return line_quoted();
    case 'V':
      return unescaped(line());
    default:
      return std::nullopt;
  }
}

/// A number of `size` bytes with a sign, the lowest first.
std::int64_t PickleBytes::whole(std::uint64_t size) {
  if (size > 8) fail("one of its numbers has more than 64 bits");
  if (size == 0) return 0;
  const int unused = 64 - 8 * static_cast<int>(size);
  return static_cast<std::int64_t>(number(static_cast<int>(size)) << unused) >> unused;
}

nlohmann::json PickleBytes::big_endian_double() {
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits = bits << 8 | static_cast<std::uint64_t>(byte());
  return finite(std::bit_cast<double>(bits));
}

std::string PickleBytes::bytes(std::uint64_t size) {
  if (size > kMostTextBytes - text_bytes_) fail("its texts have more than 64 MiB");
  text_bytes_ += size;
  std::string text;
  // The size may be damaged: memory grows with what is there.
  while (text.size() < size) text.push_back(static_cast<char>(byte()));
  return text;
}

std::uint64_t PickleBytes::line_number() { return parsed<std::uint64_t>(line()); }

/// `12`, `12L`, and the truth values `00` and `01`.
nlohmann::json PickleBytes::line_whole() {
  std::string text = line();
  if (text == "00" || text == "01") return text == "01";
  if (text.ends_with('L')) text.pop_back();
  return parsed<std::int64_t>(text);
}

nlohmann::json PickleBytes::line_double() {
  const std::string text = line();
  double value = NAN;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) fail("a number is damaged");
  return finite(value);
}

std::string PickleBytes::line_quoted() {
  const std::string text = line();
  if (text.size() < 2 || text.front() != text.back() || (text.front() != '\'' && text.front() != '"'))
    fail("a text has no quotes");
  return unescaped(std::string_view(text).substr(1, text.size() - 2));
}

std::string PickleBytes::line() {
  std::string text;
  for (int next = byte(); next != '\n'; next = byte()) {
    if (++text_bytes_ > kMostTextBytes) fail("its texts have more than 64 MiB");
    text.push_back(static_cast<char>(next));
  }
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

std::string PickleBytes::unescaped(std::string_view text) const {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      append_utf8(result, static_cast<unsigned char>(text[i]));
      continue;
    }
    if (++i == text.size()) fail("a text ends in its escape");
    const std::size_t digits = text[i] == 'x' ? 2 : text[i] == 'u' ? 4 : text[i] == 'U' ? 8 : 0;
    if (digits > 0) {
      if (text.size() - i <= digits) fail("a text ends in its escape");
      append_utf8(result, std::min(parsed<std::uint32_t>(text.substr(i + 1, digits), 16), 0x10ffffU));
      i += digits;
    } else {
      result.push_back(text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i] == 'r' ? '\r' : text[i]);
    }
  }
  return result;
}

void PickleBytes::fail(std::string_view why) const {
  throw Error(ExitCode::usage, fmt::format("{}: {} (pickle, at byte {})", source_.file_name(), why, position_),
              "is it as the program wrote it?");
}

}  // namespace hbench

#include "analysis/import/words.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/base/parse_number.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

constexpr std::string_view kDigits = "0123456789", kBlanks = " \t";

bool is_digit(char c) { return kDigits.find(c) != kDigits.npos; }

/// The number of characters of `text` that are the label, where a number matches any number and blanks any blanks; 0
/// where it does not begin with it.
std::size_t length_of_label(std::string_view text, std::string_view label) {
  std::size_t at = 0;
  const auto skip = [&](std::string_view set, std::size_t& in_label) {
    in_label = std::min(label.find_first_not_of(set, in_label), label.size());
    const std::size_t begin = at;
    at = std::min(text.find_first_not_of(set, at), text.size());
    return at > begin;
  };
  for (std::size_t i = 0; i < label.size();) {
    if (is_digit(label[i]) || label[i] == ' ') {
      if (!skip(is_digit(label[i]) ? kDigits : kBlanks, i)) return 0;
    } else if (at < text.size() && text[at] == label[i]) {
      ++at, ++i;
    } else {
      return 0;
    }
  }
  return at;
}

}  // namespace

std::optional<double> finite_number(std::string_view word) {
  const std::optional<double> value = parse_number<double>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string label_before(std::string_view line, std::size_t at) {
  std::string_view before = trimmed(line.substr(0, at));
  while (before.ends_with('#')) before = trimmed(before.substr(0, before.size() - 1));
  return std::string(before);
}

std::string_view without_label(std::string_view line, std::string_view label) {
  const std::string_view rest = trimmed(line);
  return rest.substr(length_of_label(rest, label));
}

std::string without_labels(std::string_view line, std::string_view label) {
  std::string text(line);
  for (std::size_t at = 0; at < text.size(); ++at)
    if (const std::size_t length = length_of_label(std::string_view(text).substr(at), label); length > 0)
      text.replace(at, length, length, ' ');
  return text;
}

}  // namespace hbench

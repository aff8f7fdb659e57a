#include "bench/submit/kubernetes_names.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "collectives/base/parameters.hpp"
#include "collectives/base/parse_number.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr std::size_t kLongestLabel = 63, kLongestSubdomain = 253;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower_or_digit(char c) { return is_lower(c) || is_digit(c); }
bool is_letter_or_digit(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

/// What may stand behind a number.
constexpr std::array kSuffixes{Unit{"", 1},        Unit{"m", 1e-3},    Unit{"k", 1e3},     Unit{"M", 1e6},
                               Unit{"G", 1e9},     Unit{"T", 1e12},    Unit{"P", 1e15},    Unit{"E", 1e18},
                               Unit{"Ki", 0x1p10}, Unit{"Mi", 0x1p20}, Unit{"Gi", 0x1p30}, Unit{"Ti", 0x1p40},
                               Unit{"Pi", 0x1p50}, Unit{"Ei", 0x1p60}};

bool is_label_of_any_length(std::string_view text) {
  return !text.empty() && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

}  // namespace

bool is_kubernetes_label(std::string_view text) { return text.size() <= kLongestLabel && is_label_of_any_length(text); }

bool is_kubernetes_service(std::string_view text) { return is_kubernetes_label(text) && is_lower(text.front()); }

bool is_kubernetes_subdomain(std::string_view text) {
  // Only the whole has a longest length.
  return text.size() <= kLongestSubdomain && std::ranges::all_of(split(text, '.'), is_label_of_any_length);
}

bool is_kubernetes_value(std::string_view text) {
  if (text.empty()) return true;
  return text.size() <= kLongestLabel && is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_kubernetes_key(std::string_view text, bool prefixed) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return !prefixed && !text.empty() && is_kubernetes_value(text);
  const std::string_view name = text.substr(slash + 1);
  return is_kubernetes_subdomain(text.substr(0, slash)) && !name.empty() && is_kubernetes_value(name);
}

std::optional<double> kubernetes_quantity(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const auto [number, suffix] = parse_leading_number<double>(text).value_or(std::pair(0.0, text));
  if (!std::isfinite(number) || number <= 0) return std::nullopt;
  // 1E is an exabyte, 1e9 has an exponent, and nothing has both.
  const bool has_exponent = text.substr(0, text.size() - suffix.size()).find_first_of("eE") != text.npos;
  if (has_exponent && !suffix.empty()) return std::nullopt;
  const auto scale = scale_of(suffix, kSuffixes);
  return scale ? std::optional(number * *scale) : std::nullopt;
}

}  // namespace hbench

#include "analysis/import/nccl_tests_row.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/import/words.hpp"

namespace hbench {

std::optional<PrintedNumber> PrintedNumber::of(std::string_view word) {
  const auto value = finite_number(word);
  if (!value) return std::nullopt;
  const std::string_view mantissa = word.substr(0, word.find_first_of("eE"));
  const std::size_t point = mantissa.find('.');
  const auto decimals = point == mantissa.npos ? 0.0 : static_cast<double>(mantissa.size() - point - 1);
  std::string_view exponent = word.substr(std::min(mantissa.size() + 1, word.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  return PrintedNumber{.value = *value, .slack = 0.51 * std::pow(10, finite_number(exponent).value_or(0) - decimals)};
}

std::optional<double> NcclTestsTiming::wrong_elements() const {
  const auto count = finite_number(wrong);
  if (!count) return std::nullopt;
  return *count >= 1 ? *count : 0;
}

std::vector<const NcclTestsTiming*> NcclTestsRow::timings() const {
  std::vector<const NcclTestsTiming*> all;
  for (const auto* timing : {&out_of_place, &in_place})
    if (timing->has_value()) all.push_back(&**timing);
  return all;
}

std::string operation_of(std::string_view redop) { return redop == "none" ? "" : std::string(redop); }

// NCCL_VERSION_CODE is 10000 X + 100 Y + Z since 2.9, and was 1000 X + 100 Y + Z before.
std::string nccl_version_text(std::string_view code) {
  const auto number = finite_number(code);
  if (!number || *number < 2000 || *number > 999999) return "";
  const int whole = static_cast<int>(*number), major = whole < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", whole / major, whole % major / 100, whole % 100);
}

}  // namespace hbench

#include "analysis/import/number_pattern.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>

#include "analysis/import/format.hpp"
#include "analysis/import/words.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// No line for people, and no pattern by them, is as long.
constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kShownNumbers = 4;

/// What a value of a unit is stored as.
struct NumberUnit {
  std::string_view metric;
  double factor = 1;
  std::string unit;
};

/// None where the unit does not say which value is better, and nothing else does.
std::optional<NumberUnit> unit_kind(const std::string& unit, std::optional<BetterValue> better) {
  const std::optional<MeasuredUnit> known = measured_unit(unit);
  if (!known && !better) return std::nullopt;
  const BetterValue usual = known && known->is_rate ? BetterValue::higher : BetterValue::lower;
  const bool is_time = known && !known->is_rate;
  NumberUnit quantity{metric::kBenchmarkRate, known ? known->factor : 1, known ? known->unit : unit};
  if (better.value_or(usual) == BetterValue::lower)
    quantity.metric = is_time ? metric::kBenchmarkSeconds : metric::kBenchmarkAmount;
  return quantity;
}

[[noreturn]] void refuse(const std::string& what, std::string hint) {
  throw Error(ExitCode::usage, what, std::move(hint));
}

NumberUnit checked_unit(const std::string& unit, const NumberPatternRequest& request) {
  const std::optional<NumberUnit> quantity = unit_kind(unit, request.better);
  if (!quantity)
    refuse(fmt::format("unit '{}' is neither a time nor a rate, so it does not say which value is better", unit),
           "add better = \"lower\" or better = \"higher\"; times are s, ms, us, ns and min, rates end with /s");
  return *quantity;
}

/// By RE2, whose time is linear in the text and whose memory is bounded, whatever the expression is. Of bytes, since
/// what programs print need not be UTF-8.
std::shared_ptr<const RE2> compiled(const std::string& expression) {
  if (expression.size() > kLongestLine)
    refuse(fmt::format("a pattern of {} characters", expression.size()),
           fmt::format("write one of at most {}: a part of the line is enough", kLongestLine));
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  auto regex = std::make_shared<const RE2>(expression, options);
  if (!regex->ok())
    refuse(fmt::format("'{}' is no regular expression: {}", expression, regex->error()),
           R"(write such as 'step time: ([0-9.]+) ms' (RE2's syntax; in TOML in single quotes))");
  return regex;
}

}  // namespace

/// A number, as the text has it.
struct NumberPattern::Found {
  std::string number, unit;
  int line = 0;
};

NumberPattern::NumberPattern(NumberPatternRequest request)
    : request_(std::move(request)), regex_(compiled(request_.expression)) {
  const int groups = regex_->NumberOfCapturingGroups();
  if (groups != 1 && groups != 2)
    refuse(fmt::format("'{}' has {}", request_.expression, counted(groups, "group")),
           "put the number into brackets, and its unit into a second pair where the unit is printed");
  if (groups == 2 && !request_.unit.empty())
    refuse("the unit stands in the second group of the pattern and beside it", "leave one of them out");
  if (groups == 1 && request_.unit.empty())
    refuse("a pattern without a unit", "add such as unit = \"ms\", or take the unit by a second group");
  if (groups == 1) checked_unit(request_.unit, request_);
}

std::vector<NumberPattern::Found> NumberPattern::find(std::string_view text) const {
  std::vector<Found> all;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (line.size() > kLongestLine) continue;
    std::array<re2::StringPiece, 3> match;  // of all, and of its groups
    const int groups = regex_->NumberOfCapturingGroups();
    for (std::size_t from = 0;
         regex_->Match({line.data(), line.size()}, from, line.size(), RE2::UNANCHORED, match.data(), groups + 1);) {
      all.push_back({std::string(match[1]), groups > 1 ? std::string(match[2]) : request_.unit, number});
      from = static_cast<std::size_t>(match[0].data() - line.data()) + std::max<std::size_t>(match[0].size(), 1);
      if (from > line.size()) break;
    }
  }
  return all;
}

ImportedOutput NumberPattern::read(std::string_view text, std::string_view file_name) const {
  std::vector<Found> found = find(text);
  if (found.empty())
    refuse(fmt::format("{}: '{}' is in none of its {}", file_name, request_.expression,
                       counted(std::ssize(lines_of(text)), "line")),
           "is the pattern right, and does the program print to standard output?");
  if (request_.take == TakeNumbers::only && found.size() > 1) {
    std::vector<std::string> shown;
    for (const Found& each : found)
      if (shown.size() < kShownNumbers) shown.push_back(fmt::format("{} in line {}", each.number, each.line));
    refuse(fmt::format("{}: the pattern finds {} numbers: {}{}", file_name, found.size(), fmt::join(shown, ", "),
                       found.size() > kShownNumbers ? ", ..." : ""),
           "add take = \"last\" or take = \"median\", or a pattern that finds one");
  }
  if (request_.take == TakeNumbers::last) found.erase(found.begin(), found.end() - 1);
  ImportedCases cases;
  std::optional<NumberUnit> first;
  for (const Found& each : found) {
    const std::string where = fmt::format("{}:{}", file_name, each.line);
    const std::optional<double> value = finite_number(each.number);
    if (!value || !(*value > 0))
      refuse(fmt::format("{}: '{}' is no finite number above 0", where, each.number),
             "did the program fail, or does the pattern take something else?");
    const NumberUnit quantity = checked_unit(each.unit, request_);
    if (!first) first = quantity;
    if (quantity.unit != first->unit)
      refuse(fmt::format("{}: it is in {}, and the number before it in {}", where, quantity.unit, first->unit),
             "a pattern is of numbers of one kind");
    cases.add(imported_benchmark("pattern", request_.name), quantity.metric, std::array{*value * quantity.factor},
              quantity.unit);
  }
  return {.cases = cases.take()};
}

}  // namespace hbench

#include "analysis/import/number_pattern.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "analysis/statistics/statistics.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// No line for people, and no pattern by them, is as long.
constexpr std::size_t kLongestLine = 4096;
constexpr std::size_t kShownNumbers = 4;
/// No number goes on for as long beside a piece of it.
constexpr std::size_t kFurthest = 64;

[[noreturn]] void refuse(const std::string& what, std::string hint) {
  throw Error(ExitCode::usage, what, std::move(hint));
}

StoredUnit checked_unit(const std::string& unit, const NumberPatternRequest& request) {
  const std::optional<StoredUnit> stored = stored_unit(unit, request.better);
  if (!stored)
    refuse(fmt::format("unit '{}' is neither a time nor a rate, so it does not say which value is better", unit),
           kBetterHint);
  return *stored;
}

constexpr std::string_view kOfNumbers = "0123456789.eE+-,";

constexpr const char* kNoClockTimes = "clock times are not read: print seconds, such as 83.45";

/// A group that takes all of a number; of one that no group can take, what else there is to do.
std::string cure_for(std::string_view number) {
  if (number.find(':') != number.npos) return kNoClockTimes;
  if (number.find_first_not_of(kOfNumbers) != number.npos || !grouped_number(number))
    return "print it as one number, such as 12345.6; a letter behind it belongs to the unit (--unit Ktokens/s), and "
           "where two numbers stand side by side the pattern has both: [0-9]+ ([0-9.]+)";
  const bool exponent = number.find_first_of("eE") != number.npos, minus = number.starts_with('-');
  return fmt::format("let its group take all of it: ([0-9.,{}]+)", exponent ? "eE+-" : minus ? "-" : "");
}

/// Returns whether the letters that a number ends with contradict its unit: `ms` seconds, `K` and `Ktokens/s` tokens/s.
bool is_other_unit(std::string_view letters, const std::string& unit) {
  constexpr std::string_view kFactors = "kmgtb", kLonger = "hd";
  if (letters.empty() || unit.empty()) return false;
  const std::string printed = lower_case(std::string(letters)), asked = lower_case(unit);
  const auto has_factor = [&](const std::string& word) { return kFactors.find(word[0]) != kFactors.npos; };
  if (printed.size() == 1 && (has_factor(printed) || kLonger.find(printed) != kLonger.npos))
    return printed[0] != asked[0];
  const auto of_letters = measured_unit(letters), of_unit = measured_unit(unit);
  if (of_letters && of_unit && (of_letters->is_rate != of_unit->is_rate || of_letters->factor != of_unit->factor))
    return true;
  const auto is_multiple = [&](const std::string& word, const std::string& of) {
    return has_factor(word) && (word.substr(1) == of || (has_factor(of) && word.substr(1) == of.substr(1)));
  };
  return printed != asked && (is_multiple(printed, asked) || is_multiple(asked, printed));
}

/// Returns whether what it finds may go on in the next line.
bool spans_lines(const std::string& expression) {
  return expression.find("(?s") != expression.npos || expression.find("\\n") != expression.npos;
}

/// Says how many lines are too long to be searched; empty where none is.
std::string unsearched(const std::string& expression, std::string_view text) {
  const auto lines = lines_of(text);
  const auto many = std::ranges::count_if(lines, [](std::string_view line) {
    return std::ranges::any_of(split(line, '\r'), [](std::string_view part) { return part.size() > kLongestLine; });
  });
  return many == 0 || spans_lines(expression)
             ? ""
             : fmt::format("; not searched, as longer than {} bytes: {}", kLongestLine, counted(many, "line"));
}

/// By RE2, whose time is linear in the text and whose memory is bounded, whatever the expression is. Of bytes, since
/// what programs print need not be UTF-8.
std::shared_ptr<const RE2> compiled(const std::string& expression) {
  if (expression.size() > kLongestLine)
    refuse(fmt::format("a pattern of {} characters", expression.size()),
           fmt::format("write one of at most {}: a part of the line is enough", kLongestLine));
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  auto regex = std::make_shared<const RE2>((spans_lines(expression) ? "(?m)" : "") + expression, options);
  if (!regex->ok())
    refuse(fmt::format("'{}' is no regular expression: {}", expression, regex->error()),
           R"(write such as 'step time: ([0-9.]+) ms' (RE2's syntax; in TOML in single quotes))");
  return regex;
}

/// Calls `found` with each match until it returns false: of nothing, too, at most once for each position.
template <class Found>
void for_matches(const RE2& regex, std::string_view text, Found found) {
  const int groups = regex.NumberOfCapturingGroups() + 1;
  std::vector<re2::StringPiece> match(static_cast<std::size_t>(groups));
  for (std::size_t from = 0; from <= text.size() && regex.Match({text.data(), text.size()}, from, text.size(),
                                                                RE2::UNANCHORED, match.data(), groups);) {
    TextMatch views;
    for (const re2::StringPiece& each : match) views.emplace_back(each.data(), each.size());
    from = static_cast<std::size_t>(views[0].data() - text.data()) + std::max<std::size_t>(views[0].size(), 1);
    if (!found(views)) return;
  }
}

/// The words of the last line of a text: its name for what follows, without the numbers that count it.
std::string last_words(std::string_view text) {
  static const RE2 word("[A-Za-z]{2,}", RE2::Latin1);
  std::string words;
  for_matches(word, text.substr(text.rfind('\n') + 1), [&](const TextMatch& match) {
    words += fmt::format("{}{}", words.empty() ? "" : " ", match[0]);
    return true;
  });
  return words;
}

/// Extends a piece of a text to the first match, by its last group, that has it and more within [first, last) of it.
void widen(std::string_view& piece, const RE2& regex, std::string_view text, std::size_t first, std::size_t last) {
  const auto begin = static_cast<std::size_t>(piece.data() - text.data()), end = begin + piece.size();
  for_matches(regex, text.substr(first, last - first), [&](const TextMatch& match) {
    const auto from = static_cast<std::size_t>(match.back().data() - text.data()), to = from + match.back().size();
    if (from < end && to > begin && (from < begin || to > end)) piece = match.back();
    return to < end;
  });
}

/// The clock time that a piece of a text is of, unless a unit behind it says that it is a number behind a colon; else
/// that piece.
std::string_view clock_time_of(std::string_view piece, std::string_view text, std::size_t first, std::size_t last) {
  static const RE2 clocks(R"((?:^|[^0-9A-Za-z.,:_-])([0-9]{1,3}(?::[0-5][0-9]){1,2}(?:[.,][0-9]+)?)(?:[^0-9:]|$))",
                          RE2::Latin1);
  std::string_view clock = piece;
  widen(clock, clocks, text, first, last);
  const auto end = static_cast<std::size_t>(clock.data() + clock.size() - text.data());
  const std::vector<std::string_view> behind = words_of(text.substr(end, last - std::min(last, end)));
  return !behind.empty() && measured_unit(behind.front()) ? piece : clock;
}

/// A number that is written in another way than hbench reads, `1_234`, `12 345`, `4m19.1s` or `17.9K`, of which `match`
/// takes a piece; that piece where it is none. What the expression has beside its group it tells from the number.
std::string_view in_another_way(std::string_view text, const TextMatch& match, const std::string& unit) {
  // The bytes are those of the typographic apostrophe and of blanks that do not break lines.
  static const RE2 groups(
      R"((?:^|[^0-9A-Za-z.,:/_#-])([1-9][0-9]{0,2}(?:(?:[_' ]|\xe2\x80[\x89\x99\xaf]|\xc2\xa0)[0-9]{3})+)"
      R"((?:[.,][0-9]+)?)(?:[^0-9]|$))",
      RE2::Latin1),
      times(R"((?:^|[^0-9A-Za-z.,_-])((?:[0-9]+[dhm])+[0-9.]+(?:ms?|s)))", RE2::Latin1),
      points(R"((?:^|[^0-9A-Za-z.,_-])([1-9][0-9]{0,2}(?:\.[0-9]{3})+,[0-9]+)(?:[^0-9.,]|$))", RE2::Latin1);
  std::string_view piece = match[1];
  const auto begin = static_cast<std::size_t>(piece.data() - text.data()), end = begin + piece.size();
  const std::size_t left = begin - std::min(begin, kFurthest), right = std::min(end + kFurthest, text.size());
  widen(piece, groups, text, match[0].begin() < piece.begin() ? begin : left,
        match[0].end() > piece.end() ? end : right);
  widen(piece, times, text, left, right);
  widen(piece, points, text, left, match[0].end() > piece.end() ? end : right);
  if (piece != match[1]) return piece;
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '/' || c > 127; };
  const std::string_view rest = text.substr(end, right - end);
  const std::string_view letters(rest.begin(), std::ranges::find_if_not(rest, is_letter));
  return is_other_unit(letters, unit) ? text.substr(begin, piece.size() + letters.size()) : piece;
}

/// Returns whether the first of some values is far from the others, as one that was made while something warmed up.
bool warms_up(const std::vector<double>& values) {
  constexpr double kFar = 3;
  if (values.size() < 3) return false;
  const double others = median({values.begin() + 1, values.end()});
  return values.front() > kFar * others || values.front() < others / kFar;
}

}  // namespace

/// A number, as the text has it.
struct NumberPattern::Found {
  std::string_view number;
  std::string unit;
  std::string_view whole;  ///< the number that it is a piece of; else itself
  int line = 0;
  std::string words;    ///< of the text before it in its line, from the number before it on
  std::string heading;  ///< the words of the line above, where that is none of its own kind
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

/// The number that the piece of a text that a match takes belongs to: with all of its digits, thousands, fraction and
/// exponent, and a minus that stands behind no word. A comma that the expression has beside its group stands between
/// two numbers.
std::string_view NumberPattern::whole_number(std::string_view text, const TextMatch& match,
                                             const std::string& unit) const {
  // Rulers and ellipses first, which belong to no number.
  static const RE2 number(
      R"(--+|\.\.+|(?:\B-)?(?:(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\B\.[0-9]+)(?:[eE][-+]?[0-9]+)?)");
  const auto of_numbers = [&](std::string_view separator) {
    return kOfNumbers.substr(0, kOfNumbers.size() - (request_.expression.find(separator) == std::string::npos ? 0 : 1));
  };
  std::string_view piece = match[1];
  const std::size_t begin = static_cast<std::size_t>(piece.data() - text.data()), end = begin + piece.size();
  const std::size_t left = begin - std::min(begin, kFurthest), right = std::min(end + kFurthest, text.size());
  if (const std::string_view clock = clock_time_of(piece, text, left, right); clock != piece) return clock;
  const std::size_t before = text.substr(left, begin - left).find_last_not_of(of_numbers(",("));
  // The character before the piece says whether a minus is a sign.
  const std::size_t first = before == text.npos ? left : left + before;
  const std::size_t last = std::min(text.substr(0, right).find_first_not_of(of_numbers("),"), end), right);
  widen(piece, number, text, first, last);
  return piece == match[1] ? in_another_way(text, match, unit) : piece;
}

std::vector<NumberPattern::Found> NumberPattern::find(std::string_view text) const {
  std::vector<Found> all;
  const auto find_in = [&](std::string_view part, int first_line, std::string heading) {
    const char *counted_to = part.data(), *end = part.data();
    for_matches(*regex_, part, [&](const TextMatch& match) {
      const char* at = match[1].data() == nullptr ? match[0].data() : match[1].data();
      first_line += static_cast<int>(std::count(counted_to, std::max(at, counted_to), '\n'));
      counted_to = std::max(at, counted_to);
      const std::string unit = match.size() > 2 ? std::string(match[2]) : request_.unit;
      all.push_back({.number = match[1],
                     .unit = unit,
                     .whole = match[1].empty() ? "" : whole_number(part, match, unit),
                     .line = first_line,
                     .words = last_words(std::string_view(std::min(end, at), at)),
                     .heading = std::exchange(heading, "")});
      end = match[0].data() + match[0].size();
      return true;
    });
  };
  if (spans_lines(request_.expression)) {
    find_in(text, 1, "");
    return all;
  }
  int number = 0;
  std::string_view above;
  for (const std::string_view line : lines_of(text)) {
    // An indented line belongs to one above that is not: `Benchmark 1: NAME` of hyperfine.
    const bool belongs =
        line.starts_with(' ') && !above.empty() && above.front() != ' ' && above.size() <= kLongestLine;
    ++number;
    // Progress bars write one state over another.
    for (const std::string_view part : split(line, '\r'))
      if (part.size() <= kLongestLine) find_in(part, number, belongs ? last_words(above) : "");
    above = line;
  }
  return all;
}

/// Adds headings to words: they are names of commands where each number has one of its own; lines of a log may stand
/// above others.
void NumberPattern::add_headings(std::vector<Found>& found) {
  std::set<std::string> headings;
  for (const Found& each : found)
    if (each.heading.empty() || !headings.insert(each.heading).second) return;
  for (Found& each : found) each.words = fmt::format("{} {}", each.heading, each.words);
}

ImportedOutput NumberPattern::read(std::string_view printed, std::string_view file_name) const {
  const std::string text = without_colours(printed);
  std::vector<Found> found = find(text);
  add_headings(found);
  if (found.empty())
    refuse(
        fmt::format("{}: '{}' is in none of its {}{}", file_name, request_.expression,
                    counted(std::ssize(lines_of(text)), "line"), unsearched(request_.expression, text)),
        "is the pattern right, and does the program print to standard output? Over several lines it begins with (?s)");
  for (const Found& each : found)
    if (each.whole != each.number)
      refuse(
          fmt::format("{}:{}: the pattern takes '{}' of the number {}", file_name, each.line, each.number, each.whole),
          cure_for(each.whole));
  if (request_.take == TakeNumbers::only && found.size() > 1) {
    std::vector<std::string> shown;
    for (const Found& each : found)
      if (shown.size() < kShownNumbers) shown.push_back(fmt::format("{} in line {}", each.number, each.line));
    refuse(fmt::format("{}: the pattern finds {} numbers: {}{}", file_name, found.size(), fmt::join(shown, ", "),
                       found.size() > kShownNumbers ? ", ..." : ""),
           "add take = \"last\" or take = \"median\", or a pattern that finds one");
  }
  const std::string& name = found.front().words;
  const auto other = std::ranges::find_if(
      found, [&](const Found& each) { return !name.empty() && !each.words.empty() && each.words != name; });
  if (request_.take == TakeNumbers::median && other != found.end())
    refuse(
        fmt::format("{}:{}: this number is of '{}', and one before it of '{}', so no median is of both", file_name,
                    other->line, other->words, name),
        "begin the pattern with the words before one of them (after (?s) those of lines above), and track the others "
        "by commands of their own");
  if (request_.take == TakeNumbers::last) found.erase(found.begin(), found.end() - 1);
  std::vector<double> values;
  std::optional<StoredUnit> first;
  for (const Found& each : found) {
    const std::string where = fmt::format("{}:{}", file_name, each.line);
    const std::optional<double> value = grouped_number(each.number);
    if (!value || !(*value > 0))
      refuse(fmt::format("{}: '{}' is no finite number above 0", where, each.number),
             each.number.find(':') != std::string::npos ? kNoClockTimes
             : each.number.find(',') == std::string::npos
                 ? "did the program fail, or does the pattern take something else?"
                 : "a comma stands before each three digits (18,149), and a point before the fraction (1.5)");
    const StoredUnit quantity = checked_unit(each.unit, request_);
    if (!first) first = quantity;
    if (quantity.unit != first->unit)
      refuse(fmt::format("{}: it is in {}, and the number before it in {}", where, quantity.unit, first->unit),
             "a pattern is of numbers of one kind");
    values.push_back(*value * quantity.factor);
  }
  ImportedOutput output;
  if (request_.take == TakeNumbers::median && warms_up(values)) {
    output.left_out.push_back(
        fmt::format("the first, {} in line {}, looks like warm-up", found.front().number, found.front().line));
    values.erase(values.begin());
  }
  ImportedCases cases;
  cases.add(imported_benchmark("pattern", request_.name), first->metric, values, first->unit);
  output.cases = cases.take();
  return output;
}

std::vector<TextMatch> matches_of(std::string_view expression, std::string_view text, std::size_t most) {
  std::vector<TextMatch> all;
  for_matches(*compiled(std::string(expression)), text, [&](TextMatch& match) {
    all.push_back(std::move(match));
    return all.size() < most;
  });
  return all;
}

}  // namespace hbench

#include "analysis/import/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// The digits of a text with a place for each: `dddd-dd-dd`. None where another character stands.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int value = 0;
  const char* end = text.data() + at + count;
  const auto [stop, status] = std::from_chars(text.data() + at, end, value);
  if (status != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

/// Minutes east of UTC: `+01:00`, `Z`, nothing. None for other ends.
std::optional<int> offset_of(std::string_view zone) {
  if (zone.empty() || zone == "Z") return 0;
  const auto hours = digits(zone, 1, 2), minutes = digits(zone, 4, 2);
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':' || !hours || !minutes)
    return std::nullopt;
  return (zone[0] == '-' ? -1 : 1) * (60 * *hours + *minutes);
}

constexpr Unit kTimes[] = {{"s", 1},
                           {"sec", 1},
                           {"secs", 1},
                           {"second", 1},
                           {"seconds", 1},
                           {"ms", 1e-3},
                           {"msec", 1e-3},
                           {"milliseconds", 1e-3},
                           {"us", 1e-6},
                           {"usec", 1e-6},
                           {"microseconds", 1e-6},
                           {"\xc2\xb5s", 1e-6},  // the micro sign
                           {"\xce\xbcs", 1e-6},  // the Greek letter
                           {"ns", 1e-9},
                           {"ps", 1e-12},
                           {"min", 60}};

/// What is counted or carried in a time: with one behind it, as in `gb_s`, a name is of a rate.
constexpr std::array kAmounts{"byte", "bytes", "kb",    "kib",   "mb",    "mib",    "gb",    "gib",   "tb",
                              "bit",  "bits",  "kbit",  "mbit",  "gbit",  "tbit",   "kbits", "mbits", "gbits",
                              "flop", "flops", "mflop", "gflop", "tflop", "gflops", "tflops"};
constexpr std::array kRates{"bps",    "kbps", "mbps", "gbps", "tbps", "gibps",  "mibps",  "gbitps",
                            "mbitps", "fps",  "qps",  "rps",  "iops", "gflops", "tflops", "pflops"};
/// Plurals: whether `tokens_s` is a rate or a time nobody knows.
constexpr std::array kCounted{"tokens",   "samples",  "images",  "items", "sequences",
                              "examples", "requests", "queries", "words", "frames"};

template <class List>
bool is_in(const List& list, std::string_view word) {
  return std::ranges::find(list, lower_case(std::string(word)),
                           [](const char* each) { return std::string_view(each); }) != list.end();
}

std::optional<double> seconds_of(std::string_view unit) {
  if (const auto seconds = scale_of(unit, kTimes)) return seconds;
  if (unit == "minute") return 60;
  if (unit == "hour" || unit == "h") return 3600;
  return std::nullopt;
}

MeasuredUnit rate(std::string unit) { return {.is_rate = true, .factor = 1, .unit = std::move(unit)}; }

std::string_view last_word(std::string_view name) { return name.substr(name.find_last_of("_ ") + 1); }

/// `tokens` per `ms` is a rate, and `ms` per `step` a time.
std::optional<MeasuredUnit> quotient(std::string_view above, std::string_view below) {
  const std::string_view counted = last_word(above);
  if (seconds_of(below)) {
    constexpr std::array<std::string_view, 5> kSeconds{"s", "sec", "secs", "second", "seconds"};
    const bool second = std::ranges::find(kSeconds, below) != kSeconds.end();
    return rate(std::string(counted.empty() ? "1" : counted) + "/" + std::string(second ? "s" : below));
  }
  if (const auto seconds = seconds_of(counted)) return MeasuredUnit{.is_rate = false, .factor = *seconds, .unit = "s"};
  return std::nullopt;
}

/// `tokens_per_s_per_gpu` and `img/s/GPU` without their last part.
std::string_view without_share(std::string_view name) {
  const std::string lower = lower_case(std::string(name));
  for (const std::string_view end :
       {"_per_gpu", "_per_device", "_per_rank", "_per_node", "/gpu", "/device", "/rank", "/node"})
    if (lower.ends_with(end)) return name.substr(0, name.size() - end.size());
  return name;
}

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

std::string utc_of(std::string_view written) {
  using namespace std::chrono;
  // Year, month, day, hour, minute and second, whatever stands between them.
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> kPlaces{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  constexpr std::size_t kLength = 19;
  std::array<int, kPlaces.size()> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto part = digits(written, kPlaces[i].first, kPlaces[i].second);
    if (!part) return "";
    parts[i] = *part;
  }
  const auto offset = offset_of(written.substr(kLength));
  const year_month_day day{std::chrono::year(parts[0]), month(static_cast<unsigned>(parts[1])),
                           std::chrono::day(static_cast<unsigned>(parts[2]))};
  if (!offset || !day.ok() || parts[3] > 23 || parts[4] > 59 || parts[5] > 60) return "";
  const sys_seconds time = sys_days(day) + hours(parts[3]) + minutes(parts[4]) + seconds(parts[5]) - minutes(*offset);
  // By its parts: fmt takes a time through nanoseconds, of which 64 bits end in the year 2262.
  const sys_days date = floor<days>(time);
  const year_month_day utc{date};
  const hh_mm_ss clock{time - date};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(utc.year()),
                     static_cast<unsigned>(utc.month()), static_cast<unsigned>(utc.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

std::optional<MeasuredUnit> measured_unit(std::string_view unit) {
  if (const auto seconds = scale_of(unit, kTimes))
    return MeasuredUnit{.is_rate = false, .factor = *seconds, .unit = "s"};
  if (is_in(kRates, unit)) return rate(std::string(unit));
  constexpr std::string_view kPer = " per ";
  if (const std::size_t per = unit.find(kPer); per != unit.npos)
    return measured_unit(fmt::format("{}/{}", unit.substr(0, per), unit.substr(per + kPer.size())));
  if (const std::string_view all = without_share(unit); all.size() < unit.size()) {
    std::optional<MeasuredUnit> of_all = measured_unit(all);
    if (of_all && of_all->is_rate) of_all->unit += unit.substr(all.size());
    return of_all;
  }
  const std::size_t slash = unit.rfind('/');
  if (slash == unit.npos || slash == 0) return std::nullopt;
  return quotient(unit.substr(0, slash), unit.substr(slash + 1));
}

std::optional<MeasuredUnit> unit_of_name(std::string_view whole) {
  std::string_view name = without_share(whole);
  constexpr std::string_view kPer = "per_";
  if (const std::size_t slash = name.rfind('/'); slash != name.npos) {
    // A quotient, or a group of names such as `train/step_ms`.
    if (slash == 0 || measured_unit(name)) return measured_unit(name);
    name = name.substr(slash + 1);
  }
  const std::string_view end = last_word(name);
  if (is_in(kRates, end)) return rate(std::string(end));
  const std::string_view before = end.size() < name.size() ? name.substr(0, name.size() - end.size() - 1) : "";
  if (last_word(before) == "per")
    return quotient(before.size() > kPer.size() - 1 ? before.substr(0, before.size() - kPer.size()) : "", end);
  if (end == "min" || end == "h" || end == "hour" || end == "minute" || end == "ps")
    return std::nullopt;  // `latency_min` is the least one, and `steps_ps` are a second's
  if (seconds_of(end) && is_in(kAmounts, last_word(before))) return quotient(before, end);
  if (is_in(kCounted, last_word(before))) return std::nullopt;
  return measured_unit(end);
}

std::optional<double> finite_number(std::string_view word) {
  const std::optional<double> value = parse_number<double>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<double> grouped_number(std::string_view word) {
  constexpr std::size_t kGroup = 3;
  std::string plain(word);
  const std::size_t end = std::min(word.find('.'), word.size());
  for (std::size_t comma = word.rfind(','), after = end; comma != word.npos; comma = word.rfind(',', comma - 1)) {
    if (comma == 0 || after != comma + kGroup + 1) return std::nullopt;
    plain.erase(comma, 1);
    after = comma;
  }
  const std::size_t first = word.find(',');
  if (first != word.npos && (first > kGroup || !std::ranges::all_of(word.substr(0, first), is_digit)))
    return std::nullopt;
  return finite_number(plain);
}

std::optional<StoredUnit> stored_unit(const std::string& unit, std::optional<BetterValue> better) {
  const std::optional<MeasuredUnit> known = measured_unit(unit);
  if (!known && !better) return std::nullopt;
  const BetterValue usual = known && known->is_rate ? BetterValue::higher : BetterValue::lower;
  const bool is_time = known && !known->is_rate;
  StoredUnit stored{metric::kBenchmarkRate, known ? known->factor : 1, known ? known->unit : unit};
  if (better.value_or(usual) == BetterValue::lower)
    stored.metric = is_time ? metric::kBenchmarkSeconds : metric::kBenchmarkAmount;
  return stored;
}

std::string without_colours(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at, 2) != "\x1b[") {
      plain += text[at];
      continue;
    }
    // Parameters, and the letter that ends them; of a sequence that is cut off nothing is left.
    at = std::min(text.find_first_not_of("0123456789;:?", at + 2), text.size());
  }
  return plain;
}

std::string without_ci_prefixes(std::string_view text) {
  std::string plain;
  for (std::string_view line : lines_of(text)) {
    constexpr std::size_t kTime = 19, kLongest = 30;  // `2024-07-04T10:05:04`, with a fraction and a Z
    const std::size_t zone = line.substr(0, kLongest).find("Z ");
    if (zone != line.npos && !utc_of(line.substr(0, kTime)).empty()) line.remove_prefix(zone + 2);
    const std::size_t number = line.find_first_not_of(kDigits);
    if (number != line.npos && number > 0 && line.substr(number).starts_with(": ")) line.remove_prefix(number + 2);
    (plain += line) += '\n';
  }
  return plain;
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

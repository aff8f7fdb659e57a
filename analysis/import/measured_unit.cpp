#include "analysis/import/measured_unit.hpp"

#include <algorithm>
#include <array>

#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr Unit kTimes[] = {{"s", 1},
                           {"sec", 1},
                           {"seconds", 1},
                           {"ms", 1e-3},
                           {"us", 1e-6},
                           {"\xc2\xb5s", 1e-6},  // the micro sign
                           {"\xce\xbcs", 1e-6},  // the Greek letter
                           {"ns", 1e-9},
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
  if (unit == "second" || unit == "secs") return 1;
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
    constexpr std::array<std::string_view, 4> kSeconds{"s", "sec", "second", "seconds"};
    const bool second = std::ranges::find(kSeconds, below) != kSeconds.end();
    return rate(std::string(counted.empty() ? "1" : counted) + "/" + std::string(second ? "s" : below));
  }
  if (const auto seconds = seconds_of(counted)) return MeasuredUnit{.is_rate = false, .factor = *seconds, .unit = "s"};
  return std::nullopt;
}

/// `tokens_per_s_per_gpu` without its last part.
std::string_view without_share(std::string_view name) {
  for (const std::string_view end : {"_per_gpu", "_per_device", "_per_rank", "_per_node", "/gpu", "/device"})
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return name;
}

}  // namespace

std::optional<MeasuredUnit> measured_unit(std::string_view unit) {
  if (const auto seconds = scale_of(unit, kTimes))
    return MeasuredUnit{.is_rate = false, .factor = *seconds, .unit = "s"};
  if (is_in(kRates, unit)) return rate(std::string(unit));
  const std::size_t slash = unit.rfind('/');
  if (slash == unit.npos || slash == 0) return std::nullopt;
  return quotient(unit.substr(0, slash), unit.substr(slash + 1));
}

std::optional<MeasuredUnit> unit_of_name(std::string_view whole) {
  const std::string_view name = without_share(whole);
  constexpr std::string_view kPer = "per_";
  if (name.find('/') != name.npos) return measured_unit(name);
  const std::string_view end = last_word(name);
  if (is_in(kRates, end)) return rate(std::string(end));
  const std::string_view before = end.size() < name.size() ? name.substr(0, name.size() - end.size() - 1) : "";
  if (before == "per" || before.ends_with("_per"))
    return quotient(before.size() > kPer.size() - 1 ? before.substr(0, before.size() - kPer.size()) : "", end);
  if (end == "min" || end == "h" || end == "hour" || end == "minute")
    return std::nullopt;  // `latency_min` is the least one
  if (seconds_of(end) && is_in(kAmounts, last_word(before))) return quotient(before, end);
  if (is_in(kCounted, last_word(before))) return std::nullopt;
  return measured_unit(end);
}

}  // namespace hbench

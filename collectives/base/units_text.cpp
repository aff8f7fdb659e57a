#include "collectives/base/units_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

constexpr std::array kTimes{Unit{"s", 1},     Unit{"ms", 1e-3}, Unit{"us", 1e-6},
                            Unit{"µs", 1e-6}, Unit{"ns", 1e-9}, Unit{"min", 60}};
constexpr std::array kSizes{Unit{"B", 1},    Unit{"kB", 1e3},     Unit{"KB", 1e3},     Unit{"MB", 1e6},
                            Unit{"GB", 1e9}, Unit{"KiB", 1024.0}, Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30}};
constexpr std::array kRates{Unit{"bit/s", 1.0 / 8},  Unit{"kbit/s", 1e3 / 8},  Unit{"Mbit/s", 1e6 / 8},
                            Unit{"Gbit/s", 1e9 / 8}, Unit{"Tbit/s", 1e12 / 8}, Unit{"B/s", 1},
                            Unit{"kB/s", 1e3},       Unit{"MB/s", 1e6},        Unit{"GB/s", 1e9},
                            Unit{"TB/s", 1e12}};

constexpr std::array kNone{Unit{"", 1}};

/// What a text stands for, and how to write one.
struct Kind {
  std::string_view name;
  std::span<const Unit> units;
  std::string_view list;  ///< of the units that people should write
  std::string_view example;
  double most;  ///< in the base unit
};

/// Beyond a year it is a slip of the pen; clocks of 64 bits count 292 years in nanoseconds.
constexpr Kind kDuration{"duration", kTimes, "s, ms, us, ns or min", "30 s", 366 * 86400.0};
constexpr Kind kSize{"size", kSizes, "B, KiB, MiB, GiB, kB, MB or GB", "64 MiB", std::numeric_limits<double>::max()};
constexpr Kind kRate{"rate", kRates, "bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, B/s, kB/s, MB/s, GB/s or TB/s",
                     "25 Gbit/s", std::numeric_limits<double>::max()};

double parse(std::string_view text, const Kind& kind) {
  const std::string hint = fmt::format("write it like {}", kind.example);
  const auto amount = parse_amount(text, kind.units);
  if (!amount)
    throw Error(ExitCode::usage,
                fmt::format("invalid {} '{}': {}expected a number and {}", kind.name, text,
                            parse_amount(text, kNone) ? "it has no unit; " : "", kind.list),
                hint);
  if (std::fabs(*amount) > kind.most) throw Error(ExitCode::usage, fmt::format("'{}' is out of range", text), hint);
  return *amount;
}

struct Step {
  double at_least;
  double scale;
  std::string_view name;
};

/// Three significant digits in the first unit that leaves a number of at least 1; no exponent.
std::string format_in(double value, std::span<const Step> steps) {
  const double size = std::fabs(value);
  const Step* chosen = &steps.back();
  for (const Step& step : steps) {
    // 0.9995 rounds up to the next unit's 1.00
    if (size >= step.at_least * 0.9995) {
      chosen = &step;
      break;
    }
  }
  const double scaled = value / chosen->scale;
  const int digits = std::fabs(scaled) >= 99.95 ? 0 : std::fabs(scaled) >= 9.995 ? 1 : 2;
  std::string number = fmt::format("{:.{}f}", scaled, digits);
  if (number.find('.') != std::string::npos) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
  }
  return fmt::format("{} {}", number, chosen->name);
}

}  // namespace

std::optional<double> scale_of(std::string_view name, std::span<const Unit> units) {
  const auto unit = std::ranges::find(units, name, &Unit::name);
  return unit == units.end() ? std::nullopt : std::optional(unit->scale);
}

std::optional<double> parse_amount(std::string_view text, std::span<const Unit> units) {
  const auto leading = parse_leading_number<double>(trimmed(text));
  const auto scale = leading ? scale_of(trimmed(leading->second), units) : std::nullopt;
  return scale && std::isfinite(leading->first) ? std::optional(leading->first * *scale) : std::nullopt;
}

Seconds parse_seconds(std::string_view text) { return Seconds(parse(text, kDuration)); }
Bytes parse_bytes(std::string_view text) { return Bytes(parse(text, kSize)); }
BytesPerSecond parse_rate(std::string_view text) { return BytesPerSecond(parse(text, kRate)); }

std::string format(Seconds time) {
  static constexpr std::array kSteps{Step{1, 1, "s"}, Step{1e-3, 1e-3, "ms"}, Step{1e-6, 1e-6, "us"},
                                     Step{0, 1e-9, "ns"}};
  return format_in(time.value, kSteps);
}

std::string format(Bytes size) {
  static constexpr std::array kSteps{Step{0x1p30, 0x1p30, "GiB"}, Step{0x1p20, 0x1p20, "MiB"}, Step{1024, 1024, "KiB"},
                                     Step{0, 1, "B"}};
  return format_in(size.value, kSteps);
}

std::string exact_text(Bytes size) {
  for (const auto& [name, scale] : {Unit{"GiB", 0x1p30}, Unit{"MiB", 0x1p20}, Unit{"KiB", 1024}})
    if (size.value >= scale && std::fmod(size.value, scale) == 0)
      return fmt::format("{:.0f}{}", size.value / scale, name);
  return fmt::format("{:.0f}B", size.value);
}

std::string format(BytesPerSecond rate) {
  static constexpr std::array kSteps{Step{1.25e11, 1.25e11, "Tbit/s"}, Step{1.25e8, 1.25e8, "Gbit/s"},
                                     Step{1.25e5, 1.25e5, "Mbit/s"}, Step{125, 125, "kbit/s"}, Step{0, 0.125, "bit/s"}};
  return format_in(rate.value, kSteps);
}

std::string microseconds(double seconds) {
  const double us = seconds * 1e6;
  return us < 100 ? fmt::format("{:.2f}", us) : us < 1000 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us);
}

}  // namespace hbench

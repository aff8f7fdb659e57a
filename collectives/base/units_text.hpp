#pragma once

/// Text forms of quantities: the one place that parses and formats them.
///
/// Sizes are binary when they say so (KiB, MiB, GiB) and decimal otherwise (kB, MB, GB); rates are
/// decimal, in bits (`25 Gbit/s`) or bytes (`12 GB/s`) per second; times are min, s, ms, us or ns.
/// A number without a unit is an error: it has cost too many people too much time.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "collectives/base/units.hpp"

namespace hbench {

/// A unit, and how many of the base unit it is.
struct Unit {
  std::string_view name;
  double scale;
};
/// The scale of a unit; none where it is not among `units`.
std::optional<double> scale_of(std::string_view name, std::span<const Unit> units);
/// `4.5 h`: a number and one of `units` behind it, in the base unit. None where it is of another form, or not finite.
std::optional<double> parse_amount(std::string_view text, std::span<const Unit> units);

/// `"15 us"` -> 15e-6 s, of either sign and at most 366 days. \throws Error (usage) that quotes `text` and lists the
/// units.
Seconds parse_seconds(std::string_view text);

/// `"64MiB"` -> 67108864 B. \throws Error (usage).
Bytes parse_bytes(std::string_view text);

/// `"25 Gbit/s"` -> 3.125e9 B/s. \throws Error (usage).
BytesPerSecond parse_rate(std::string_view text);

/// `"12.3 ms"`: three significant digits and the unit that suits.
std::string format(Seconds time);
/// `"64 MiB"`, binary.
std::string format(Bytes size);
/// `"16KiB"`: the largest binary unit of which `size` is a whole number; `parse_bytes` gives the same size back.
std::string exact_text(Bytes size);
/// `"23.9 Gbit/s"`, decimal.
std::string format(BytesPerSecond rate);

/// `4.00`, `128.31`, `1234567`: four digits or so, for a column of microseconds.
std::string microseconds(double seconds);

}  // namespace hbench

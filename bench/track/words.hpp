#pragma once

/// Figures of tracked cases for people.

#include <string>
#include <string_view>

#include "analysis/percent.hpp"
#include "analysis/statistics.hpp"

namespace hbench {

/// `+4.1 to +5.9 %`.
std::string interval_text(const Interval& interval);
/// Four digits in the unit that fits: `12.34 ms`.
std::string time_text(double seconds);
/// The same of a value in `s`, `B/s` or another unit.
std::string value_text(double value, std::string_view unit);

}  // namespace hbench

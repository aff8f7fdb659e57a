#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace hbench {

/// The time that was `age` before `now`, as runs store theirs (ISO 8601, UTC). `age` is a number above 0 with h, d
/// (days) or w (weeks), at most 100 years. Pure. \throws Error (usage) that names `flag`.
std::string time_before(std::chrono::sys_seconds now, std::string_view age, std::string_view flag);

}  // namespace hbench

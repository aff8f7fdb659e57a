#pragma once

/// Lines beside a command's output: progress, warnings, what is left out.

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace hbench {

/// Writes on standard error. Whoever read it may have gone, as after `2>&1 | head -1`: the work goes on all the same,
/// where `fmt::print` would throw.
template <class... Values>
void inform(fmt::format_string<Values...> format, Values&&... values) {
  std::fputs(fmt::format(format, std::forward<Values>(values)...).c_str(), stderr);
}

}  // namespace hbench

#pragma once

/// How errors of predictions are written.

#include <string>

namespace hbench {

/// `4.9 %`; three digits from 10,000 % on, as errors may be huge where a figure is wrong. \pre share >= 0
std::string percent(double share);
/// `+4.9 %`
std::string signed_percent(double share);

}  // namespace hbench

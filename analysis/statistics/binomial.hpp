#pragma once

#include <cstddef>

namespace hbench {

/// Returns the probability that chance alone gives `successes` or more in `trials` independent trials, each of which
/// succeeds with probability `chance`: with a half the sign test (Dixon & Mood, "The statistical sign test", 1946).
/// \pre 0 < chance < 1, successes <= trials
double binomial_tail(std::size_t successes, std::size_t trials, double chance);

}  // namespace hbench

#pragma once

#include <cstddef>

namespace hbench {

/// How often chance alone gives `successes` or more in so many independent trials, each of which succeeds with
/// probability `chance`: with a half the sign test (Dixon & Mood, "The statistical sign test", 1946). \pre
/// 0 < chance < 1, successes <= trials
double binomial_tail(std::size_t successes, std::size_t trials, double chance);

}  // namespace hbench

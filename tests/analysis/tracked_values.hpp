#pragma once

/// Made-up launches for the tests of the judge.

#include <vector>

#include "analysis/track/judge.hpp"

namespace hbench {

/// Six runs of five launches whose medians are `level` times 1 - `run`, 1 and 1 + `run` twice; launches of a run lie
/// 0.2 % apart.
inline std::vector<Launch> runs(double level = 1, double run = 0.002, int count = 6) {
  std::vector<Launch> all;
  for (int i = 0; i < count; ++i) {
    const double middle = level * (1 + run * (i % 3 - 1));
    all.push_back({middle * 0.996, middle * 0.998, middle, middle * 1.002, middle * 1.004});
  }
  return all;
}

/// Launches about `level`, as far apart.
inline Launch head(double level, int launches = 10) {
  Launch all;
  for (int i = 0; i < launches; ++i) all.push_back(level * (1 + 0.002 * (i % 5 - 2)));
  return all;
}

inline TrackJudgement judged(const TrackedCase& tracked, const TrackRule& rule = {}) {
  return judge({tracked}, rule).at(0);
}

}  // namespace hbench

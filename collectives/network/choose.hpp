#pragma once

/// The chooser: which all-reduce serves which size, from modelled or from measured times, and why. What `--algorithm
/// auto` resolves to. Pure.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/network/profile.hpp"

namespace hbench {

/// The time of one all-reduce of `bytes` per rank. `algorithm` as `AlgorithmChoice::text`.
struct AlgorithmTime {
  std::string algorithm;
  std::int64_t bytes = 0;
  Seconds time;
};

/// What is known at one size.
struct SizeChoice {
  std::int64_t bytes = 0;
  AlgorithmTime best;
  AlgorithmTime runner_up;  ///< without a name where there is no second
  std::string chosen;       ///< by the rule: the best, or what served the size below and is as good (`kAsGood`)

  /// How much longer the runner-up takes, relative to the best.
  double margin() const { return runner_up.time / best.time - 1; }
};

struct AlgorithmAdvice {
  AlgorithmRule rule;
  std::vector<SizeChoice> sizes;  ///< ascending
};

/// An algorithm keeps the next size as well while it is at most so much slower than the best there: a difference that
/// neither a model nor a measurement can be held to, and a rule with fewer changes.
inline constexpr double kAsGood = 0.02;

/// What a user writes in the place of an algorithm to have one chosen.
inline constexpr std::string_view kAuto = "auto";

/// 1 KiB, 4 KiB ... 256 MiB.
std::vector<std::int64_t> usual_sizes();

/// From a table of times, each size with one or more algorithms. The rule changes at the first size where another is
/// better. \throws Error (usage) when it is empty, or names what cannot be part of a rule.
AlgorithmAdvice choose_algorithm(std::span<const AlgorithmTime> times);

/// From simulated times of every all-reduce with a schedule that takes `workers` workers without servers, float32, on
/// an idle network; hierarchies have `direct` inside nodes and each other algorithm across. The rule changes at the
/// power of two where the next algorithm becomes the better one. `sizes` ascend. \throws Error (usage) without sizes.
AlgorithmAdvice choose_algorithm(const Profile& profile, int workers, std::span<const std::int64_t> sizes);

/// The most transfers of any schedule that `choose_algorithm` builds for this: what it needs memory for.
std::int64_t transfers_to_choose(const Profile& profile, int workers, std::span<const std::int64_t> sizes);

}  // namespace hbench

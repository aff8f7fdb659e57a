#pragma once

/// Which settings `hbench tune` compares.

#include <cstdint>
#include <string>
#include <vector>

#include "bench/sweep/request.hpp"
#include "bench/verbs/tune_options.hpp"

namespace hbench {

constexpr std::size_t kMostMeasured = 24;

/// Returns at most `most` settings for gradients of `bytes`. A policy stands for its grid, a policy with parameters for
/// itself: the same one twice is raced against itself. \throws Error (usage)
std::vector<std::string> tuned_settings(const TuneOptions& options, std::int64_t bytes, std::size_t most);

/// Returns as many settings as can be raced within `budget` seconds, where a launch takes `cost` seconds.
/// \throws Error (usage) when not even two can.
std::vector<std::string> affordable_settings(const TuneOptions& options, std::int64_t bytes, double cost,
                                             double budget);

/// Returns a case for each setting. \throws Error (usage) when nothing can be tuned.
Plan tune_plan(const TuneOptions& options, const std::vector<std::string>& fusions, const Data& data,
               const LocalMachine& machine);

/// Returns the case of a setting. \throws Error (usage) when it was left out.
const Case& case_of(const Plan& plan, const std::string& fusion);

}  // namespace hbench

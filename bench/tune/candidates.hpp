#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/fusion/fusion.hpp"

namespace hbench {

/// Settings of a fusion policy to try: its default first, then a grid with equal ratios between neighbours, at most
/// `most` in all, as canonical texts without repeats. Sizes go up to that of all gradients (`bytes`), beyond which
/// nothing changes; times and rates lie around the default.
std::vector<std::string> tune_candidates(const Fusion& fusion, std::int64_t bytes, std::size_t most);

}  // namespace hbench

#pragma once

/// The doubts about an alternative: what is not known for sure of it, and which measurement would decide it. Pure.

#include <string>
#include <vector>

#include "analysis/prediction/choose.hpp"

namespace hbench {

/// One thing that widens the band of an alternative, or moves it.
struct Doubt {
  std::string what;         ///< `what its TCP streams carry is known within a factor of 4`
  std::string measurement;  ///< that would decide it
};

/// By what factor the speed of one GPU may be off, where that is more than usual; else 1.
double uncertain_rate(const Choice& choice, const Profile& profile);

/// All of `alternative`, which is one of `choice`: of its network, of what nobody states, of its GPU.
std::vector<Doubt> doubts_of(const Choice& choice, const Alternative& alternative);

}  // namespace hbench

#pragma once

/// What predictions are made from: cluster profiles and recorded timelines.

#include <functional>
#include <map>
#include <string>

#include "collectives/network/profile.hpp"
#include "workloads/step/trace.hpp"

namespace hbench {

/// The profiles and timelines that come with the program, and files of the user's own.
struct Data {
  ProfileLibrary profiles;
  TraceLibrary traces;
};

/// The profiles and timelines that a plan's cases name.
struct Catalog {
  std::map<std::string, Profile, std::less<>> profiles;
  std::map<std::string, Trace, std::less<>> traces;
};

}  // namespace hbench

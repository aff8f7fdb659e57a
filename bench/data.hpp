#pragma once

#include <functional>
#include <map>
#include <string>

#include "collectives/network/profile.hpp"
#include "workloads/trace.hpp"

namespace hbench {

/// The data that comes with the program.
struct Data {
  ProfileLibrary profiles;
  TraceLibrary traces;
};

/// The profiles and traces that a plan's cases name.
struct Catalog {
  std::map<std::string, Profile, std::less<>> profiles;
  std::map<std::string, Trace, std::less<>> traces;
};

/// From where it is installed (`installation.hpp`). \throws Error (environment) when that is gone.
Data load_data();

}  // namespace hbench

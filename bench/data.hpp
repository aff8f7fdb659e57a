#pragma once

#include <filesystem>

#include "collectives/network/profile.hpp"
#include "workloads/trace.hpp"

namespace hbench {

/// The data that comes with the program.
struct Data {
  ProfileLibrary profiles;
  TraceLibrary traces;
};

/// From the clone the program was built in. \throws Error (environment) when that is gone.
Data load_data();

}  // namespace hbench

#pragma once

/// What CUDA says of this machine, and what follows from it.

#include <string>

#include "collectives/base/library.hpp"

namespace hbench::cuda {

/// Versions are CUDA's: 1000 x major + 10 x minor.
struct Facts {
  int toolkit = 0;      ///< that this program was built with
  int driver = 0;       ///< the newest that the driver can serve; 0: there is no driver
  int devices = 0;      ///< GPUs that the process sees
  std::string failure;  ///< CUDA's words where it did not even count them; empty where it did
};

/// Asks the driver.
Facts facts();

Availability availability_of(const Facts& facts);

}  // namespace hbench::cuda

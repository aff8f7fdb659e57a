#pragma once

#include <string>
#include <string_view>

#include "collectives/base/error.hpp"

namespace hbench {

/// Whether a backend can be used here; if not, why, and what to do about it.
struct Availability {
  bool available = true;
  std::string reason;
  std::string cure;

  /// `hbench was built without MPI (fix: install one)`: for where there is one line.
  std::string in_words() const;
  /// What those end with who need it (environment): `<doing>: <reason>`, or the reason alone.
  Error error(std::string_view doing = {}) const;
};

}  // namespace hbench

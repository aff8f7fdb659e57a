#include "collectives/base/availability.hpp"

#include <fmt/format.h>

namespace hbench {

std::string Availability::in_words() const { return fmt::format("{} (fix: {})", reason, cure); }

Error Availability::error(std::string_view doing) const {
  return {ExitCode::environment, doing.empty() ? reason : fmt::format("{}: {}", doing, reason), cure};
}

}  // namespace hbench

#pragma once

/// Whether the figures of a profile can be true: what a reader who knows the hardware would question. Pure.

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/network/profile.hpp"

namespace hbench {

/// One questionable figure.
struct ProfileFinding {
  Severity severity = Severity::note;
  std::string place;  ///< `my.toml:12`; the file alone for what is missing
  std::string what;   ///< the figure, what is wrong with it, and how to mend it, on one line
};

/// Errors first, then warnings, then notes. `file_name` names it where a figure is missing, `today` tells how old
/// prices are.
std::vector<ProfileFinding> check_profile(const Profile& profile, std::string_view file_name,
                                          std::chrono::sys_days today);

/// `my.toml:12: error: ...`, a line for each.
std::string findings_text(const std::vector<ProfileFinding>& findings);

}  // namespace hbench

#pragma once

/// The all-reduces that a link is fitted to: `hbench collective` in a process of its own, as people run it.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/fit/link_fit.hpp"

namespace hbench {

struct LinkRequest {
  std::string program;   ///< path of hbench-worker
  std::string executor;  ///< by name
  int ranks = 2;
  bool on_gpu = false;  ///< larger sizes then
};

/// The arguments of the child.
std::vector<std::string> link_arguments(const LinkRequest& request);

/// What `hbench collective --json` printed, as medians in place, in its order. \throws Error with the reason of a case
/// that failed, (internal) for text that is no such JSON.
std::vector<TimedSize> timed_sizes(std::string_view json);

/// A link, and what it was fitted to.
struct MeasuredLink {
  LinkFit fit;
  std::vector<TimedSize> timed;
};

/// Times a ring and fits it; up to three times while the times are no curve, as on a machine that is busy for a short
/// time. \throws Error as the child complained, or as `fit_link` does of the last times.
MeasuredLink measure_link(const LinkRequest& request);

}  // namespace hbench

#include "analysis/percent.hpp"

#include <fmt/format.h>

#include <cmath>

namespace hbench {

std::string percent(double share) {
  return share < 100 ? fmt::format("{:.1f} %", 100 * share) : fmt::format("{:.3g} %", 100 * share);
}

std::string signed_percent(double share) { return (share < 0 ? "-" : "+") + percent(std::fabs(share)); }

}  // namespace hbench

#include "workloads/engine/loss_scale.hpp"

#include <algorithm>

namespace hbench {
namespace {

/// Outside of these there is nothing to gain: 1 is no scaling, and float32's range bounds the scaled loss.
constexpr double kLeast = 1;
constexpr double kMostScale = 16777216;

}  // namespace

bool LossScale::update(bool gradients_are_finite) {
  if (!scales_) return true;
  if (!gradients_are_finite) {
    value_ = std::max(value_ / 2, kLeast);
    good_steps_ = 0;
    return false;
  }
  if (++good_steps_ == kGrowAfter) {
    value_ = std::min(value_ * 2, kMostScale);
    good_steps_ = 0;
  }
  return true;
}

}  // namespace hbench

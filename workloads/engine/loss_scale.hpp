#pragma once

/// Loss scaling for half precision (Micikevicius et al., Mixed Precision Training, ICLR 2018, section 3.2; dynamic, as
/// in section 3.2 of NVIDIA's Training with Mixed Precision guide).
///
/// Small gradients vanish in half precision, so the loss is multiplied by a scale and the gradients divided by it. The
/// scale is halved when a gradient overflows, and that step changes nothing; it is doubled after many steps without.

#include <algorithm>

#include "collectives/base/state_walk.hpp"

namespace hbench {

class LossScale {
 public:
  /// Without scaling the scale is 1 for good, and every step counts.
  explicit LossScale(bool scales) : scales_(scales), value_(scales ? kFirst : 1.0) {}

  bool scales() const { return scales_; }
  double value() const { return value_; }
  /// Goes through what the next step depends on.
  void walk(StateWalk& state) {
    state.number("loss scale", value_);
    state.number("steps without overflow", good_steps_);
  }
  /// After each step; whether its gradients are to be applied. All ranks hold the same sums, and so decide alike.
  bool update(bool gradients_are_finite) {
    if (!scales_) return true;
    if (!gradients_are_finite) {
      value_ = std::max(value_ / 2, kLeast);
      good_steps_ = 0;
      return false;
    }
    if (++good_steps_ == kGrowAfter) {
      value_ = std::min(value_ * 2, kMost);
      good_steps_ = 0;
    }
    return true;
  }

 private:
  /// Outside of these there is nothing to gain: 1 is no scaling, and float32's range bounds the scaled loss.
  static constexpr double kLeast = 1, kMost = 16777216;
  static constexpr double kFirst = 65536;
  static constexpr int kGrowAfter = 2000;  ///< steps without overflow

  bool scales_;
  double value_;
  int good_steps_ = 0;
};

}  // namespace hbench

#pragma once

/// LibTorch's autocast for as long as an object lives. Includes LibTorch headers.

#include <ATen/autocast_mode.h>

namespace hbench {

/// Of the calling thread. Operations on `device` then run in `type` where they may; what was cast is forgotten at the
/// end, as the parameters change.
class Autocast {
 public:
  Autocast(c10::DeviceType device, c10::ScalarType type);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  c10::DeviceType device_;
};

}  // namespace hbench

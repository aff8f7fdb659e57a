#include "workloads/engine/autocast.hpp"

namespace hbench {
namespace {

/// LibTorch 2.4 and newer take the device as an argument; before, each had functions of its own. Everything is a
/// template's, so that only what this LibTorch has is looked up.
template <class Device, class Switch, class Type>
void set(Device device, Switch enabled, Type type) {
  using namespace at::autocast;
  if constexpr (requires { set_autocast_enabled(device, enabled); }) {
    set_autocast_dtype(device, type);
    set_autocast_enabled(device, enabled);
  } else if (device == c10::DeviceType::CPU) {
    set_autocast_cpu_dtype(type);
    set_cpu_enabled(enabled);
  } else {
    set_autocast_gpu_dtype(type);
    set_enabled(enabled);
  }
}

}  // namespace

Autocast::Autocast(c10::DeviceType device, c10::ScalarType type) : device_(device) {
  at::autocast::increment_nesting();
  set(device, true, type);
}

Autocast::~Autocast() {
  set(device_, false, c10::ScalarType::BFloat16);
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
}

}  // namespace hbench

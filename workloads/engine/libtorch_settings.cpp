#include "workloads/engine/libtorch_settings.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <malloc.h>

#include <mutex>

namespace hbench {
namespace {

/// Every step allocates and frees the same tensors. By default the C library returns large ones to the kernel each
/// time, which clears their pages for the next step: 3 to 8 % of a step of ResNet-18. PyTorch's tuning guide recommends
/// other allocators for the same reason.
void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
}

/// LibTorch 2.4 and newer take the device as an argument; before, each had functions of its own. Everything is a
/// template's, so that only what this LibTorch has is looked up.
template <class Device, class Switch, class Type>
void set_autocast(Device device, Switch enabled, Type type) {
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

void set_up_process(int threads) {
  at::set_num_threads(threads);
  // LibTorch lets this be said once per process.
  static std::once_flag once;
  std::call_once(once, [] {
    keep_freed_memory();
    if (at::get_num_interop_threads() != 1) at::set_num_interop_threads(1);
  });
}

void set_up_gpus(Precision precision) {
  at::globalContext().setBenchmarkCuDNN(true);
  at::globalContext().setAllowTF32CuDNN(precision == Precision::tf32);
  at::globalContext().setAllowTF32CuBLAS(precision == Precision::tf32);
}

Autocast::Autocast(c10::DeviceType device, c10::ScalarType type) : device_(device) {
  at::autocast::increment_nesting();
  set_autocast(device, true, type);
}

Autocast::~Autocast() {
  set_autocast(device_, false, c10::ScalarType::BFloat16);
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
}

std::string first_line_of(const c10::Error& error) {
  const std::string_view words = error.what_without_backtrace();
  return std::string(words.substr(0, words.find('\n')));
}

bool is_of_memory(const c10::Error& error) { return first_line_of(error).find("out of memory") != std::string::npos; }

}  // namespace hbench

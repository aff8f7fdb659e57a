#pragma once

/// What hbench sets in LibTorch for a process and for a thread, and what its errors become. Included by files that
/// include LibTorch alone.

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <string>

#include "collectives/base/error.hpp"
#include "workloads/step/precision.hpp"

namespace hbench {

/// The number of threads of the calling thread's operations; and for the whole process, once, that memory which was
/// freed is kept.
void set_up_process(int threads);
/// What LibTorch keeps of GPUs for the whole process; the same for all replicas of a job.
void set_up_gpus(Precision precision);

/// LibTorch's autocast of the calling thread, for as long as this lives. Operations on `device` then run in `type`
/// where they may; what was cast is forgotten at the end, as the parameters change.
class Autocast {
 public:
  Autocast(c10::DeviceType device, c10::ScalarType type);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  c10::DeviceType device_;
};

/// LibTorch's message without its stack of C++ frames.
std::string first_line_of(const c10::Error& error);
bool is_of_memory(const c10::Error& error);

/// Returns what `work` does. \throws Error (environment) for LibTorch's.
template <class Work>
auto translated(Work work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    throw Error(ExitCode::environment, fmt::format("LibTorch: {}", first_line_of(error)),
                is_of_memory(error) ? "give a smaller --batch, or a --precision of fewer bits" : "");
  }
}

}  // namespace hbench

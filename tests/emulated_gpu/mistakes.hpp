#pragma once

/// Small programs for the emulated GPU, each with one mistake, or with none.

#include <cuda_runtime_api.h>

#include <optional>
#include <span>
#include <string_view>

#include "tests/emulated_gpu/reports.hpp"

namespace hbench::emulated_gpu {

/// Given to every program: three streams of GPU 0, one of GPU 1, buffers of 256 numbers and an event. Both buffers
/// are zeros, `fresh` was never written.
struct Desk {
  Desk();
  ~Desk();
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  unsigned* make(cudaStream_t stream) const;

  cudaStream_t stream = nullptr, other = nullptr, third = nullptr, of_peer = nullptr;
  cudaMemPool_t pool = nullptr;
  cudaEvent_t event = nullptr;
  unsigned *numbers = nullptr, *results = nullptr, *fresh = nullptr;
  unsigned host[256] = {};
};

struct WrongProgram {
  std::string_view name;
  Mistake mistake;
  void (*run)(Desk& desk);
  std::optional<Mistake> otherwise = std::nullopt;  ///< what it is in another order of the streams
};
std::span<const WrongProgram> wrong_programs();

struct RightProgram {
  std::string_view name;
  void (*run)(Desk& desk);
};
std::span<const RightProgram> right_programs();

}  // namespace hbench::emulated_gpu

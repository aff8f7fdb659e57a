#pragma once

/// The 32 lanes of a warp, as far as they exchange values. Lanes run apart until they meet, the weakest order that CUDA
/// allows.

#include <array>
#include <cstdint>

#include "tests/emulated_gpu/kernel.hpp"

namespace hbench::emulated_gpu {

class Warp {
 public:
  static constexpr unsigned kLanes = 32;

  /// A warp of the first `lanes` lanes, none of which has arrived anywhere.
  void begin(unsigned lanes);
  /// The lane waits for the others of `mask`. Reports lanes that meet at different operations.
  void arrive(unsigned lane, WarpOperation operation, unsigned mask, const WarpArgument& argument, Site site);
  void end(unsigned lane) { alive_ &= ~(1U << lane); }
  /// True once all lanes that are waited for have arrived.
  bool is_complete() const;
  /// Computes what each lane gets, and returns the lanes that had arrived. \pre is_complete()
  std::uint32_t complete();
  std::uint64_t result(unsigned lane) const { return results_[lane]; }

 private:
  unsigned source_of(unsigned lane) const;

  std::uint32_t alive_ = 0, arrived_ = 0;
  WarpOperation operation_{};
  unsigned mask_ = 0;
  Site site_{};
  std::array<WarpArgument, kLanes> arguments_;
  std::array<std::uint64_t, kLanes> results_;
};

}  // namespace hbench::emulated_gpu

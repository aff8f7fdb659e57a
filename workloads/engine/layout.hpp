#pragma once

/// How the gradients of a model, and its parameters, lie in flat buffers.

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/base/units.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/transport/transport.hpp"
#include "workloads/methods/step_plan.hpp"

namespace hbench {

/// Tensors in backward order: the order in which rank 0's gradients became ready. Tensor `i` of the job is
/// the model's parameter `parameters[i]` and occupies [offset(i), offset(i + 1)) of the buffer.
struct GradientLayout {
  std::vector<int> parameters;
  std::vector<std::int64_t> elements;

  int tensors() const { return static_cast<int>(elements.size()); }
  std::int64_t total() const;
  std::vector<std::int64_t> offsets() const;  ///< `tensors() + 1` of them
  std::vector<std::int64_t> bytes() const;    ///< as float32

  friend bool operator==(const GradientLayout&, const GradientLayout&) = default;
};

/// The buffers of one rank, all laid out alike.
struct ModelMemory {
  std::span<float> gradients;
  std::span<float> parameters;   ///< empty where nothing carries them: then they lie where the model wants them
  std::span<float> means = {};   ///< of parameters with some other ranks, which lie aside; empty where there are none
  std::span<float> deltas = {};  ///< empty where they lie as gradients do

  std::span<float> of(Carried carried) const {
    if (carried == Carried::parameters) return parameters;
    return carried == Carried::deltas && !deltas.empty() ? deltas : gradients;
  }
};

/// Gives every rank rank 0's layout. `own` is this rank's, null on a dedicated server.
/// \throws Error: wrong_data when this worker's tensors have other sizes; lost_rank.
GradientLayout share_layout(const GradientLayout* own, Transport& transport, Seconds timeout);

/// Whether the tensors of `bucket` are neighbours in the buffer, in order.
bool contiguous(const Bucket& bucket);

/// Returns where a bucket lies in a buffer with these `GradientLayout::offsets`; what is one piece of it is one range.
std::vector<ElementRange> ranges_of(const Bucket& bucket, std::span<const std::int64_t> offsets);

}  // namespace hbench

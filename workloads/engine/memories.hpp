#pragma once

/// What a rank carries from step to step beside the model: residuals and momenta of lossy compressors.
///
/// How the gradients of a model, and its parameters, lie in flat buffers.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "collectives/base/units.hpp"
#include "collectives/exchange/exchange.hpp"
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

/// The seed of draws for one place of the model, which have nothing in common with those for another.
inline std::uint64_t seed_at(std::uint64_t seed, std::uint64_t place) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;  // of SplitMix64: sums with small numbers are far apart
  return seed + place * kOdd;
}

/// Memory of a device for what is used at once, and again by the next: the device does one thing after another.
class Scratch {
 public:
  explicit Scratch(Device& device) : device_(device) {}
  /// Until the next call; its content is undefined.
  std::span<float> of(std::size_t elements);
  Device& device() const { return device_; }

 private:
  Device& device_;
  DeviceMemory memory_;
  std::size_t elements_ = 0;
};

/// Buckets may differ from step to step (with Horovod they follow the clock), tensors and their pieces do not. So
/// residuals and momenta belong to these, and follow them into whichever bucket they travel in. The factors of low-rank
/// compressors, and what the sum of a part has lost, belong to a bucket: `refuse_strategy` sees to it that buckets stay
/// the same.
class GradientMemories {
 public:
  /// Everything given outlives it. Gradients lie where `device` reaches them. Ranks give the same `seed`.
  GradientMemories(const CompressorChoice& compressor, const GradientLayout& layout, std::uint64_t seed,
                   Device& device = host_device());

  /// For the exchange of `bucket`, the `exchange`-th of this rank. Null where nothing is carried over or drawn. Valid
  /// as long as this object lives, and for one exchange of a tensor at a time.
  std::shared_ptr<ExchangeMemory> of(const Bucket& bucket, std::int32_t exchange);
  /// \pre no exchange is in flight
  void walk(StateWalk& state);

 private:
  /// Of a tensor, or of a piece of it.
  struct Part {
    std::unique_ptr<GradientMemory> memory;
    std::int64_t elements = 0;
  };

  std::unique_ptr<GradientMemory> of_parts(const Bucket& bucket);
  Part& part(int tensor, std::int64_t begin, std::int64_t elements);
  std::shared_ptr<ExchangeMemory>& of_fixed(const Bucket& bucket);
  const CompressorChoice& compressor_;
  const GradientLayout& layout_;
  std::uint64_t seed_;
  Scratch scratch_;
  std::map<std::pair<int, std::int64_t>, Part> parts_;         ///< by tensor and first byte
  std::map<Bucket, std::shared_ptr<ExchangeMemory>> buckets_;  ///< of those that must stay the same
};

}  // namespace hbench

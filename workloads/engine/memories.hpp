#pragma once

/// What a rank carries from step to step beside the model: residuals and momenta of lossy compressors.

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "collectives/exchange/exchange_request.hpp"
#include "workloads/engine/layout.hpp"

namespace hbench {

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

 private:
  std::unique_ptr<GradientMemory> of_parts(const Bucket& bucket);
  const CompressorChoice& compressor_;
  const GradientLayout& layout_;
  std::uint64_t seed_;
  Scratch scratch_;
  std::map<std::pair<int, std::int64_t>, std::unique_ptr<GradientMemory>> parts_;  ///< by tensor and first byte
  std::map<Bucket, std::shared_ptr<ExchangeMemory>> buckets_;                      ///< of those that must stay the same
};

}  // namespace hbench

#pragma once

/// What the lanes that share a piece of signs do together. On the device only.

#include "collectives/cuda/launch.cuh"
#include "collectives/cuda/signed_pieces.cuh"

namespace hbench::cuda {

constexpr unsigned kSignLanes = EncodeSign::kLanes;

/// In the order of lanes; the same for all of them.
__device__ inline double added_up(double of_lane) {
  double sum = 0;
  for (unsigned lane = 0; lane < kSignLanes; ++lane) sum += __shfl_sync(kAllLanes, of_lane, lane, kSignLanes);
  return sum;
}

/// The same for all lanes.
struct SignedPart {
  Signed<double> sums;
  unsigned negatives;
};

/// Adds up a part and stores its signs. Two halves of a warp have a part each, and take as many turns as the longer.
__device__ inline SignedPart encode_part(const EncodeSign& work, const EncodeSign::Part& part, unsigned lane) {
  const unsigned mine = EncodeSign::batches(part);
  const unsigned batches = max(__shfl_sync(kAllLanes, mine, 0), __shfl_sync(kAllLanes, mine, kSignLanes));
  Signed<float> sum{0, 0};
  unsigned negatives = 0;
  for (unsigned batch = 0; batch < batches; ++batch) {
    const EncodeSign::Taken taken = work.take(part, batch, lane);
    EncodeSign::add(taken, sum);
    std::uint32_t of_lane = 0;
    HBENCH_UNROLL
    for (unsigned i = 0; i < EncodeSign::kRows; ++i) {
      const std::uint32_t votes = __ballot_sync(kAllLanes, EncodeSign::minus(taken.at[i]));
      if (lane == i) of_lane = votes;
    }
    of_lane = threadIdx.x % kWarp < kSignLanes ? of_lane & 0xffff : of_lane >> kSignLanes;
    negatives += count_bits(of_lane);
    work.give(part, batch, lane, of_lane);
  }
  for (unsigned distance = kSignLanes / 2; distance > 0; distance /= 2)
    negatives += __shfl_xor_sync(kAllLanes, negatives, distance);
  const Signed<double> wide = work.wide(part, lane, sum);
  return {{added_up(wide.positive), added_up(wide.negative)}, negatives};
}

}  // namespace hbench::cuda

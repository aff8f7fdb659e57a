#pragma once

#include <memory>

#include "collectives/compressors/low_rank.hpp"
#include "collectives/device/device.hpp"

namespace hbench {

/// PowerSGD's products on a GPU. `expand` and `renew_lost_columns` give the host's bits. The others add in another
/// order, which depends on the shape alone: a sum of n products is within (n / 256 + 16) 2^-24 of the sum of their
/// magnitudes (`multiply`), or (256 + n / 256) 2^-24 of it (`multiply_transposed`); `orthonormalise` is the host's to
/// float32's rounding.
///
/// \pre the device outlives them. \throws Error (internal) when it does not come from make_cuda_device
std::unique_ptr<LowRankProducts> make_cuda_low_rank_products(Device& device);

}  // namespace hbench

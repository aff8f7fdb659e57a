#pragma once

/// The check of lossy compressors: normally distributed data, and how near a result comes to the exact one.

#include <optional>
#include <span>

#include "collectives/arithmetic/data_type.hpp"
#include "collectives/base/units.hpp"
#include "collectives/compressors/compressor.hpp"

namespace hbench {

/// Standard normal values, others for every rank; the same in every run.
void fill_normal(Rank rank, std::span<float> buffer);

/// A result against the exact one, in the Euclidean norm.
struct Closeness {
  double relative_error = 0;  ///< |result - exact| / |exact|; NaN when the result holds one
  double cosine = 1;
};

/// Of `result` to the sum (or average) of all `workers`' `fill_normal`.
Closeness closeness(ReduceOp op, int workers, std::span<const float> result);

/// The largest relative error that an all-reduce of `workers` may have by what the compressor declares: every encoding
/// of a partial sum adds one declared error at most, and there are as many as workers. None where nothing is declared
/// for these parameters.
std::optional<double> allowed_error(const CompressorChoice& compressor, int workers);

}  // namespace hbench

#pragma once

/// The pieces of a low-rank all-reduce (PowerSGD: Vogels, Karimireddy, Jaggi, PowerSGD: Practical Low-Rank Gradient
/// Compression for Distributed Optimization, NeurIPS 2019, algorithm 1).
///
/// A gradient of n elements is read as a near-square matrix M, row by row, the last row filled up with zeros. The sum
/// of all ranks' matrices is replaced by P Q^T, where P (rows x rank) and Q (columns x rank) come out of one step of
/// subspace iteration that begins with the Q of the step before. An executor runs, on every rank:
///
///     state.begin(gradient);    // adds the residual to the gradient; left() = M Q
///     all-reduce (sum) of state.left()
///     state.middle(gradient);   // left() = orthonormalised; right() = M^T left(); keeps the residual
///     all-reduce (sum) of state.right()
///     state.end(gradient);      // gradient = left() right()^T, the sum over all ranks
///
/// The all-reduces must leave the same bits on all ranks, as those of this program do; then so does the whole.

#include <cstdint>
#include <memory>
#include <span>

#include "collectives/compressors/compressor.hpp"
#include "collectives/device/device.hpp"

namespace hbench {

/// More would be no compression of any gradient.
inline constexpr std::int64_t kLargestRank = 65536;

/// How `elements` elements are read as a matrix, and the rank of its approximation.
struct LowRankShape {
  std::int64_t elements = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t rank = 0;  ///< at most min(rows, columns)

  std::int64_t left_elements() const { return rows * rank; }
  std::int64_t right_elements() const { return columns * rank; }
};

/// columns = the square root of `elements`, rounded up; rows = as many as are needed. \pre rank >= 1
LowRankShape low_rank_shape(std::int64_t elements, std::int64_t rank);

/// The products of PowerSGD, on the device where a rank's data lie. A device may return before the work is done, and
/// does it in order; equal input gives equal bits on all ranks. Used by one thread at a time. Matrices are in row
/// order, factors in column order; `matrix` has `shape.elements` elements. \throws Error (environment) where the device
/// fails.
class LowRankProducts {
 public:
  virtual ~LowRankProducts() = default;
  /// Columns of zeros would stay so for ever, and so would those that are not finite: they are drawn anew, uniformly
  /// from (-1, 1), by the seed and step of `draw`. The first step's columns are all drawn so.
  virtual void renew_lost_columns(const LowRankShape& shape, const Draw& draw, std::span<float> right) = 0;
  /// left = M right.
  virtual void multiply(const LowRankShape& shape, std::span<const float> matrix, std::span<const float> right,
                        std::span<float> left) = 0;
  /// right = M^T left.
  virtual void multiply_transposed(const LowRankShape& shape, std::span<const float> matrix,
                                   std::span<const float> left, std::span<float> right) = 0;
  /// matrix = left right^T.
  virtual void expand(const LowRankShape& shape, std::span<const float> left, std::span<const float> right,
                      std::span<float> matrix) = 0;
  /// Makes the columns, of `rows` elements each, orthonormal: modified Gram-Schmidt, twice (Giraud, Langou, Rozloznik,
  /// The loss of orthogonality in the Gram-Schmidt orthogonalization process, 2005). A column that depends on those
  /// before it becomes zero.
  virtual void orthonormalise(std::int64_t rows, std::span<float> columns) = 0;
};

/// In host memory.
std::unique_ptr<LowRankProducts> host_low_rank_products();

/// One rank's state for one buffer; lives as long as the training does. Used by its rank alone.
class LowRankState {
 public:
  /// Ranks with the same `seed` begin with the same Q. All memory lies where `device` has it, which outlives the state
  /// and does its work. \pre rank >= 1; the device has low-rank products
  LowRankState(std::int64_t elements, std::int64_t rank, bool error_feedback, std::uint64_t seed,
               Device& device = host_device());

  const LowRankShape& shape() const { return shape_; }
  /// P and Q, each column contiguous. Their memory stays where it is as long as the state lives and does not move.
  std::span<float> left() { return left_.floats; }
  std::span<float> right() { return right_.floats; }

  /// \pre gradient.size() == shape().elements, here and below; the same memory in all three.
  void begin(std::span<float> gradient);
  void middle(std::span<const float> gradient);
  void end(std::span<float> gradient);

  /// What this rank's gradients had and its factors did not; empty without error feedback. For tests.
  std::span<const float> residual() const { return residual_.floats; }
  /// Goes through what the next step begins with.
  void walk(StateWalk& state);

 private:
  LowRankShape shape_;
  std::uint64_t seed_;
  std::int32_t step_ = 0;
  Device* device_;
  std::unique_ptr<LowRankProducts> products_;
  DeviceFloats left_;
  DeviceFloats right_;
  DeviceFloats residual_;
};

/// The state for a buffer of `elements`, as `choice` says (`ef:powersgd` keeps a residual, and is the paper's
/// algorithm; `powersgd` forgets what was lost). \throws Error (usage) when the choice is not a low-rank compressor.
LowRankState make_low_rank_state(const CompressorChoice& choice, std::int64_t elements, std::uint64_t seed = 1,
                                 Device& device = host_device());

}  // namespace hbench

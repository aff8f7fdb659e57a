#include "collectives/compressors/low_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/compressors/random.hpp"

namespace hbench {
namespace {

/// As many partial sums as the widest vector has elements, so that the order of additions, and with it the result, is
/// the same on every machine.
constexpr std::size_t kLanes = 16;

template <class Sum>
Sum dot(std::span<const float> a, std::span<const float> b) {
  std::array<Sum, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += static_cast<Sum>(a[i + lane]) * static_cast<Sum>(b[i + lane]);
  for (; i < a.size(); ++i) sums[i % kLanes] += static_cast<Sum>(a[i]) * static_cast<Sum>(b[i]);
  return std::accumulate(sums.begin(), sums.end(), Sum(0));
}

void add_scaled(float factor, std::span<const float> x, std::span<float> y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += factor * x[i];
}

/// Row `row`; the last one may be shorter.
template <class T>
std::span<T> row_of(const LowRankShape& shape, std::span<T> matrix, std::int64_t row) {
  const std::int64_t begin = row * shape.columns;
  return matrix.subspan(static_cast<std::size_t>(begin),
                        static_cast<std::size_t>(std::min(shape.columns, shape.elements - begin)));
}

template <class T>
std::span<T> column_of(std::span<T> factor, std::int64_t length, std::int64_t column) {
  return factor.subspan(static_cast<std::size_t>(column * length), static_cast<std::size_t>(length));
}

double norm(std::span<const float> column) { return std::sqrt(dot<double>(column, column)); }

class HostProducts final : public LowRankProducts {
 public:
  void multiply(const LowRankShape& shape, std::span<const float> matrix, std::span<const float> right,
                std::span<float> left) override {
    for (std::int64_t i = 0; i < shape.rows; ++i) {
      const auto row = row_of(shape, matrix, i);
      for (std::int64_t k = 0; k < shape.rank; ++k)
        left[static_cast<std::size_t>(k * shape.rows + i)] =
            dot<float>(row, column_of(right, shape.columns, k).first(row.size()));
    }
  }

  void multiply_transposed(const LowRankShape& shape, std::span<const float> matrix, std::span<const float> left,
                           std::span<float> right) override {
    std::ranges::fill(right, 0.0F);
    for (std::int64_t i = 0; i < shape.rows; ++i) {
      const auto row = row_of(shape, matrix, i);
      for (std::int64_t k = 0; k < shape.rank; ++k)
        add_scaled(left[static_cast<std::size_t>(k * shape.rows + i)], row, column_of(right, shape.columns, k));
    }
  }

  void expand(const LowRankShape& shape, std::span<const float> left, std::span<const float> right,
              std::span<float> matrix) override {
    for (std::int64_t i = 0; i < shape.rows; ++i) {
      const auto row = row_of(shape, matrix, i);
      std::ranges::fill(row, 0.0F);
      for (std::int64_t k = 0; k < shape.rank; ++k)
        add_scaled(left[static_cast<std::size_t>(k * shape.rows + i)],
                   column_of(right, shape.columns, k).first(row.size()), row);
    }
  }

  void orthonormalise(std::int64_t rows, std::span<float> columns) override {
    /// A float32 column that has lost this much of its length is made of rounding errors.
    constexpr double kDependent = 1e-5;
    const std::int64_t rank = rows == 0 ? 0 : std::ssize(columns) / rows;
    for (std::int64_t k = 0; k < rank; ++k) {
      const auto column = column_of(columns, rows, k);
      const double before = norm(column);
      for (int pass = 0; pass < 2; ++pass)
        for (std::int64_t j = 0; j < k; ++j) {
          const auto other = column_of(columns, rows, j);
          add_scaled(static_cast<float>(-dot<double>(other, column)), other, column);
        }
      const double after = norm(column);
      const double scale = after > kDependent * before ? 1 / after : std::isnan(after) ? after : 0;
      for (float& x : column) x = static_cast<float>(x * scale);
    }
  }

  void renew_lost_columns(const LowRankShape& shape, const Draw& draw, std::span<float> right) override {
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(shape.columns));
    for (std::int64_t k = 0; k < shape.rank; ++k) {
      const auto column = column_of(right, shape.columns, k);
      const double length = norm(column);
      if (length > 0 && std::isfinite(length)) continue;
      random_bits(shared_key_of(draw), k * shape.columns, bits);
      // Any distribution without a preferred direction will do.
      for (std::size_t i = 0; i < column.size(); ++i)
        column[i] = static_cast<float>(static_cast<std::int32_t>(bits[i])) * 0x1p-31F;
    }
  }
};

}  // namespace

LowRankShape low_rank_shape(std::int64_t elements, std::int64_t rank) {
  LowRankShape shape{.elements = elements};
  if (elements == 0) return shape;
  shape.columns = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(elements))));
  shape.rows = (elements + shape.columns - 1) / shape.columns;
  shape.rank = std::min({rank, shape.rows, shape.columns});
  return shape;
}

std::unique_ptr<LowRankProducts> host_low_rank_products() { return std::make_unique<HostProducts>(); }

LowRankState::LowRankState(std::int64_t elements, std::int64_t rank, bool error_feedback, std::uint64_t seed,
                           Device& device)
    : shape_(low_rank_shape(elements, rank)),
      seed_(seed),
      device_(&device),
      products_(device.low_rank_products()),
      left_(make_floats(device, static_cast<std::size_t>(shape_.left_elements()))),
      right_(make_floats(device, static_cast<std::size_t>(shape_.right_elements()))),
      residual_(make_floats(device, static_cast<std::size_t>(error_feedback ? elements : 0))) {}

void LowRankState::begin(std::span<float> gradient) {
  products_->renew_lost_columns(shape_, {.seed = seed_, .step = step_}, right());
  if (!residual().empty())
    device_->accumulate(DataType::float32, ReduceOp::sum, std::as_bytes(residual()), std::as_writable_bytes(gradient));
  products_->multiply(shape_, gradient, right(), left());
}

void LowRankState::middle(std::span<const float> gradient) {
  products_->orthonormalise(shape_.rows, left());
  products_->multiply_transposed(shape_, gradient, left(), right());
  if (residual().empty()) return;
  products_->expand(shape_, left(), right(), residual_.floats);
  device_->keep_rest(gradient, residual_.floats);
}

void LowRankState::end(std::span<float> gradient) {
  products_->expand(shape_, left(), right(), gradient);
  ++step_;
}

void LowRankState::walk(StateWalk& state) {
  state.number("low-rank step", step_);
  walk_floats(state, "right factor", *device_, right_.floats);
  walk_floats(state, "residual", *device_, residual_.floats);
}

LowRankState make_low_rank_state(const CompressorChoice& choice, std::int64_t elements, std::uint64_t seed,
                                 Device& device) {
  if (choice.compressor->exchange != Exchange::low_rank)
    throw Error(ExitCode::usage, fmt::format("compressor '{}' has no low-rank factors", choice.compressor->name),
                "use powersgd");
  const std::int64_t rank = parse_whole(choice.compressor->name, "rank", choice.parameters, 1, kLargestRank);
  return {elements, rank, choice.error_feedback, seed, device};
}

}  // namespace hbench

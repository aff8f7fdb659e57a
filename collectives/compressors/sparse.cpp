#include "collectives/compressors/sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "collectives/base/error.hpp"
#include "collectives/compressors/payload.hpp"

namespace hbench {
namespace {

std::uint32_t position_at(std::span<const std::byte> positions, std::size_t i) {
  std::uint32_t position;
  std::memcpy(&position, positions.data() + i * sizeof position, sizeof position);
  return position;
}

void expect_ascending(std::span<const std::byte> positions, std::size_t count, std::size_t elements) {
  std::uint64_t least = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t position = position_at(positions, i);
    if (position < least || position >= elements) refuse_payload("its positions make no sense");
    least = std::uint64_t{position} + 1;
  }
}

}  // namespace

void expect_short_positions(std::int64_t elements) {
  if (elements >= std::numeric_limits<std::uint32_t>::max())
    throw Error(ExitCode::usage, fmt::format("{} elements are too many for a sparse compressor", elements),
                "split the buffer: positions have 32 bits");
}

std::int64_t share_of(std::int64_t elements, double ratio) {
  const auto share = static_cast<std::int64_t>(std::ceil(ratio * static_cast<double>(elements)));
  return std::min(share, elements);
}

std::int64_t encode_sparse(std::span<const float> in, std::span<const std::uint32_t> positions,
                           std::span<std::byte> out) {
  put(static_cast<std::uint32_t>(positions.size()), out);
  if (!positions.empty()) std::memcpy(out.data(), positions.data(), positions.size_bytes());
  std::byte* values = out.data() + positions.size_bytes();
  for (std::size_t i = 0; i < positions.size(); ++i)
    std::memcpy(values + i * sizeof(float), &in[positions[i]], sizeof(float));
  return sparse_bytes(std::ssize(positions));
}

void decode_sparse(std::span<const std::byte> in, TransferKind kind, std::span<float> out) {
  const std::span whole = in;
  const auto count = take<std::uint32_t>(in);
  expect_size(whole, sparse_bytes(count));
  expect_ascending(in, count, out.size());
  if (kind == TransferKind::copy) std::ranges::fill(out, 0.0F);
  const std::byte* values = in.data() + count * sizeof(std::uint32_t);
  for (std::size_t i = 0; i < count; ++i) {
    float value;
    std::memcpy(&value, values + i * sizeof value, sizeof value);
    out[position_at(in, i)] += value;
  }
}

}  // namespace hbench

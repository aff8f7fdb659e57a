#include "collectives/compressors/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "collectives/base/error.hpp"
#include "collectives/compressors/payload.hpp"
#include "collectives/compressors/random.hpp"

// This file is compiled once for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collectives/compressors/select.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace hbench::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Few vectors hold a large element: most cost a load, a comparison and a branch. (Compressing in a register and
/// storing all of it: storing under a mask is several times slower on AMD's Zen 4.)
std::size_t collect_piece(std::span<const float> in, std::uint32_t least, std::uint32_t base,
                          std::uint32_t* positions) {
  constexpr hn::ScalableTag<std::int32_t> kIntegers;
  constexpr hn::RebindToUnsigned<decltype(kIntegers)> kUnsigned;
  const std::size_t lanes = hn::Lanes(kIntegers);
  const auto below = hn::Set(kIntegers, static_cast<std::int32_t>(least) - 1);
  const auto mask = hn::Set(kIntegers, static_cast<std::int32_t>(kMagnitudeMask));
  const auto* bits = reinterpret_cast<const std::int32_t*>(in.data());
  std::size_t count = 0;
  std::size_t i = 0;
  for (; i + lanes <= in.size(); i += lanes) {
    const auto large = hn::Gt(hn::And(hn::LoadU(kIntegers, bits + i), mask), below);
    if (HWY_LIKELY(hn::AllFalse(kIntegers, large))) continue;
    const auto at = hn::Iota(kUnsigned, base + static_cast<std::uint32_t>(i));
    const auto found = hn::RebindMask(kUnsigned, large);
    hn::StoreU(hn::Compress(at, found), kUnsigned, positions + count);
    count += hn::CountTrue(kIntegers, large);
  }
  for (; i < in.size(); ++i)
    if ((std::bit_cast<std::uint32_t>(in[i]) & kMagnitudeMask) >= least)
      positions[count++] = base + static_cast<std::uint32_t>(i);
  return count;
}

}  // namespace
}  // namespace hbench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hbench {
namespace {

HWY_EXPORT(collect_piece);

constexpr std::size_t kPiece = 1024;

std::uint32_t magnitude_of(float x) { return std::bit_cast<std::uint32_t>(x) & kMagnitudeMask; }

/// Keeps the `count` largest of `positions`, which ascend. One number compares magnitude first, then position.
void keep_largest(std::span<const float> in, std::vector<std::uint32_t>& positions, std::size_t count) {
  const auto order = [&](std::uint32_t position) {
    return std::uint64_t{magnitude_of(in[position])} << 32 | (0xffff'ffffu - position);
  };
  if (count == 0) positions.clear();
  if (count >= positions.size()) return;
  std::vector<std::uint64_t> orders(positions.size());
  std::ranges::transform(positions, orders.begin(), order);
  const auto last = orders.begin() + static_cast<std::ptrdiff_t>(count) - 1;
  std::ranges::nth_element(orders, last, std::ranges::greater());
  std::erase_if(positions, [&, least = *last](std::uint32_t position) { return order(position) < least; });
}

std::vector<std::uint32_t> all_positions(std::size_t elements) {
  std::vector<std::uint32_t> positions(elements);
  std::iota(positions.begin(), positions.end(), 0u);
  return positions;
}

/// A magnitude that somewhat more than `count` elements reach, by all probability: the right one of a sample, four
/// standard deviations lower.
std::uint32_t likely_threshold(std::span<const float> in, std::size_t count, std::size_t sampled) {
  std::vector<std::uint32_t> random(sampled);
  random_bits({}, 0, random);
  // One of each `sampled`-th of the buffer, which is read from its beginning to its end.
  for (std::size_t i = 0; i < sampled; ++i) {
    const std::size_t begin = in.size() * i / sampled;
    const std::size_t width = in.size() * (i + 1) / sampled - begin;
    random[i] = magnitude_of(in[begin + (width * random[i] >> 32)]);
  }
  const double expected = static_cast<double>(count) * static_cast<double>(sampled) / static_cast<double>(in.size());
  const auto rank = static_cast<std::size_t>(std::ceil(expected + 4 * std::sqrt(expected) + 4));
  if (rank >= sampled) return 0;
  std::ranges::nth_element(random, random.begin() + static_cast<std::ptrdiff_t>(rank), std::ranges::greater());
  return random[rank];
}

/// Returns the elements that reach a likely threshold; nothing when those are too few, or too many to be of help.
std::optional<std::vector<std::uint32_t>> by_sample(std::span<const float> in, std::size_t count) {
  constexpr std::size_t kSampled = 1 << 16;
  const std::uint32_t threshold = likely_threshold(in, count, kSampled);
  const std::size_t most = std::min(in.size(), 4 * count + kSampled);
  const auto memory = std::make_unique_for_overwrite<std::uint32_t[]>(most + kCollectSlack);
  const std::size_t found = collect(in, threshold, 0, {memory.get(), most + kCollectSlack});
  if (found < count || found > most) return std::nullopt;
  std::vector<std::uint32_t> positions(memory.get(), memory.get() + found);
  keep_largest(in, positions, count);
  return positions;
}

/// The `count`-th largest magnitude, and how many larger ones there are: digit by digit, from counts of each digit.
struct Rank {
  std::uint32_t magnitude = 0;
  std::size_t above = 0;
};
Rank rank_of(std::span<const float> in, std::size_t count) {
  constexpr int kHighDigit = 16;
  constexpr int kLowDigit = 15;
  Rank rank;
  for (const auto& [shift, digits] : {std::pair(kLowDigit, kHighDigit), std::pair(0, kLowDigit)}) {
    const std::uint32_t mask = (1u << digits) - 1;
    const int known = shift + digits;
    std::vector<std::size_t> counts(mask + 1);
    for (const float x : in) {
      const std::uint32_t magnitude = magnitude_of(x);
      if (magnitude >> known == rank.magnitude >> known) ++counts[magnitude >> shift & mask];
    }
    std::uint32_t digit = mask;
    for (; rank.above + counts[digit] < count; --digit) rank.above += counts[digit];
    rank.magnitude |= digit << shift;
  }
  return rank;
}

/// For whatever distribution: three passes.
std::vector<std::uint32_t> by_digits(std::span<const float> in, std::size_t count) {
  const Rank rank = rank_of(in, count);
  std::size_t equal = count - rank.above;
  std::vector<std::uint32_t> positions;
  positions.reserve(count);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint32_t magnitude = magnitude_of(in[i]);
    if (magnitude < rank.magnitude || (magnitude == rank.magnitude && equal == 0)) continue;
    if (magnitude == rank.magnitude) --equal;
    positions.push_back(static_cast<std::uint32_t>(i));
  }
  return positions;
}

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

std::size_t collect(std::span<const float> in, std::uint32_t least, std::uint32_t base,
                    std::span<std::uint32_t> positions) {
  const std::size_t most = positions.size() - kCollectSlack;
  std::size_t count = 0;
  for (std::size_t i = 0; i < in.size() && count <= most; i += kPiece)
    count += HWY_DYNAMIC_DISPATCH(collect_piece)(in.subspan(i, std::min(kPiece, in.size() - i)), least,
                                                 base + static_cast<std::uint32_t>(i), positions.data() + count);
  return count;
}

std::vector<std::uint32_t> largest_elements(std::span<const float> in, std::int64_t count) {
  /// Up to here sorting is quicker than sampling.
  constexpr std::size_t kFew = 1 << 16;
  const auto wanted = static_cast<std::size_t>(count);
  if (in.size() > kFew && wanted < in.size() / 4) {
    if (auto found = by_sample(in, wanted)) return *std::move(found);
  } else if (in.size() <= kFew) {
    std::vector<std::uint32_t> positions = all_positions(in.size());
    keep_largest(in, positions, wanted);
    return positions;
  }
  return by_digits(in, wanted);
}

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
#endif

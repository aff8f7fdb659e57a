// What every compressor must do, over the table.

#include "collectives/compressors/compressor.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <set>

#include "tests/collectives/codecs.hpp"

namespace hbench::compressors_test {
namespace {

using namespace ::hbench::support;

/// Around the sizes of vectors, bytes of packed elements, blocks, buckets and pieces.
constexpr std::size_t kSizes[] = {0,   1,   2,   3,   7,   8,   9,    15,   16,   17,
                                  255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4099};

/// Normal numbers from all over a half's normal range.
std::vector<float> spread_values(std::size_t count) {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> exponent(-13.9F, 15.9F);
  std::vector<float> values(count);
  for (float& value : values) value = (random() % 2 == 0 ? 1.0F : -1.0F) * std::exp2(exponent(random));
  return values;
}

TEST(EveryCompressor, KeepsItsDeclaredErrorPerElement) {
  const std::vector<float> values = spread_values(10007);
  for (const CompressorChoice& choice : every_compressor()) {
    const double most = choice.compressor->relative_error;
    if (most < 0) continue;
    const std::vector<float> back = round_trip(*choice.codec, values);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_LE(std::abs(back[i] - values[i]), most * std::abs(values[i])) << choice.text();
  }
}

TEST(EveryCompressor, HasTheL2ErrorThatItDeclares) {
  const std::vector<float> values = gaussian(100'003);
  for (const Compressor* compressor : compressors()) {
    std::vector<float> lost = round_trip(*parse_compressor(compressor->name).codec, values);
    for (std::size_t i = 0; i < values.size(); ++i) lost[i] -= values[i];
    const double error = support::norm(lost) / support::norm(values);
    EXPECT_NEAR(error, compressor->relative_l2_error, 0.1 * compressor->relative_l2_error) << compressor->name;
  }
}

TEST(EveryCompressor, WritesWhatItSaysAndNothingBehindIt) {
  for (const CompressorChoice& choice : every_compressor()) {
    for (const std::size_t size : kSizes) {
      const std::vector<float> values = gaussian(size);
      const auto bound = static_cast<std::size_t>(choice.codec->max_wire_bytes(std::ssize(values)));
      std::vector<std::byte> wire(bound + 8, std::byte{0xab});
      const std::int64_t written = choice.codec->encode(values, {}, std::span(wire).first(bound));
      ASSERT_LE(written, std::ssize(wire) - 8) << choice.text() << " of " << size;
      if (!choice.compressor->bytes_vary) {
        EXPECT_EQ(written, std::ssize(wire) - 8) << choice.text() << " of " << size;
      }
      for (std::size_t i = bound; i < wire.size(); ++i) ASSERT_EQ(wire[i], std::byte{0xab}) << choice.text();
    }
  }
}

TEST(EveryCompressor, WritesNothingForNothing) {
  for (const CompressorChoice& choice : every_compressor()) {
    // Sparse ones say that there are 0 of them.
    EXPECT_LE(encoded(*choice.codec, {}).size(), 4u) << choice.text();
    EXPECT_EQ(choice.codec->max_wire_bytes(0) % 4, 0) << choice.text();
    EXPECT_TRUE(round_trip(*choice.codec, {}).empty()) << choice.text();
  }
}

/// The largest of one element is the element; a single one has no neighbours to be confused with.
TEST(EveryCompressor, KeepsASingleElement) {
  for (const CompressorChoice& choice : every_compressor()) {
    const double error = std::abs(round_trip(*choice.codec, std::vector{-2.0F}).front() + 2.0F);
    EXPECT_LE(error, 2 * 0x1p-14) << choice.text();  // int8's scale has 16 significant bits
  }
}

TEST(EveryCompressor, WorksAtAnyAddress) {
  for (const CompressorChoice& choice : every_compressor()) {
    for (const std::size_t size : kSizes) {
      const std::vector<float> values = gaussian(size);
      const std::vector<std::byte> straight = encoded(*choice.codec, values);
      const auto bound = static_cast<std::size_t>(choice.codec->max_wire_bytes(std::ssize(values)));
      for (const std::size_t shift : {1, 2, 3}) {
        std::vector<float> moved(size + shift);
        std::ranges::copy(values, moved.begin() + static_cast<std::ptrdiff_t>(shift));
        std::vector<std::byte> wire(shift + bound);
        const std::span odd = std::span(wire).subspan(shift);
        const std::int64_t bytes = choice.codec->encode(std::span(moved).subspan(shift), {}, odd);
        ASSERT_TRUE(std::ranges::equal(straight, odd.first(static_cast<std::size_t>(bytes)))) << choice.text();
        std::vector<float> back(size + shift);
        choice.codec->decode(odd.first(static_cast<std::size_t>(bytes)), TransferKind::copy,
                             std::span(back).subspan(shift));
        back.erase(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(shift));
        ASSERT_EQ(bits_of(back), bits_of(decoded(*choice.codec, straight, size))) << choice.text();
      }
    }
  }
}

TEST(EveryCompressor, AddsWhenItDecodesAReduce) {
  for (const CompressorChoice& choice : every_compressor()) {
    for (const std::size_t size : kSizes) {
      const std::vector<float> values = gaussian(size);
      const std::vector<std::byte> wire = encoded(*choice.codec, values);
      const std::vector<float> alone = decoded(*choice.codec, wire, size);
      std::vector<float> sum(size, 100.0F);
      choice.codec->decode(wire, TransferKind::reduce, sum);
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(sum[i], 100.0F + alone[i]) << choice.text();
    }
  }
}

TEST(EveryCompressor, GivesTheSameBitsWithEveryInstructionSet) {
  for (const CompressorChoice& choice : every_compressor()) {
    for (const std::size_t size : {257, 1025, 70'001}) {
      const std::vector<float> values = gaussian(size);
      std::vector<std::vector<std::byte>> wires;
      std::vector<std::vector<std::uint32_t>> results;
      support::on_every_target([&](const std::string&) {
        wires.push_back(encoded(*choice.codec, values));
        results.push_back(bits_of(decoded(*choice.codec, wires.back(), size)));
      });
      for (std::size_t i = 1; i < wires.size(); ++i) {
        EXPECT_EQ(wires[i], wires[0]) << choice.text();
        EXPECT_EQ(results[i], results[0]) << choice.text();
      }
    }
  }
}

/// Ranks that forward what they decoded must not change it: see messages.hpp.
TEST(EveryPerHopCompressor, LeavesWhatItDecodedAsItIs) {
  std::vector<std::vector<float>> inputs{support::random_patterns(4099), spread_values(3001), std::vector(300, 0.1F)};
  for (const float deviation : {1e-44F, 1e-41F, 1e-38F, 1e-20F, 1.0F, 1e20F, 1e37F})
    for (unsigned seed = 0; seed < 20; ++seed) inputs.push_back(gaussian(513, seed, 0, deviation));
  // Ranges of few and of very few floats, across a power of two, too.
  for (const float mean : {1000.0F, 1024.0F, -1.0F, 3e38F})
    for (const float deviation : {1e-8F, 3e-6F, 1e-5F, 3e-5F, 1e-4F, 1e-2F})
      for (unsigned seed = 0; seed < 20; ++seed)
        inputs.push_back(gaussian(300, seed, mean, std::abs(mean) * deviation));
  for (const CompressorChoice& choice : every_compressor()) {
    if (choice.compressor->exchange != Exchange::per_hop) continue;
    for (const std::vector<float>& values : inputs) {
      const std::vector<float> once = round_trip(*choice.codec, values);
      const std::vector<float> twice = round_trip(*choice.codec, once, {.seed = 2});
      for (std::size_t i = 0; i < once.size(); ++i) {
        // Which NaN it is, is open.
        ASSERT_TRUE(twice[i] == once[i] || (std::isnan(once[i]) && std::isnan(twice[i])))
            << choice.text() << ": " << values[i] << " -> " << once[i] << " -> " << twice[i];
      }
    }
  }
}

TEST(EveryCompressor, GivesTheSameBytesForTheSameDraw) {
  const std::vector<float> values = gaussian(5000);
  const Draw draw{.seed = 77, .rank = 3, .step = 9, .offset = 1000};
  for (const CompressorChoice& choice : every_compressor())
    EXPECT_EQ(encoded(*choice.codec, values, draw), encoded(*choice.codec, values, draw)) << choice.text();
}

std::string text_of(std::span<const std::byte> wire) {
  return {reinterpret_cast<const char*>(wire.data()), wire.size()};
}

TEST(EveryRandomCompressor, GivesOtherBytesForOtherDraws) {
  const std::vector<float> values = gaussian(5000);
  for (const CompressorChoice& choice : every_compressor()) {
    if (!choice.compressor->unbiased) continue;
    std::set<std::string> different;
    for (const Draw& draw : {Draw{}, Draw{.seed = 2}, Draw{.step = 1}, Draw{.offset = 5000}, Draw{.seed = 1ULL << 40}})
      different.insert(text_of(encoded(*choice.codec, values, draw)));
    EXPECT_EQ(different.size(), 5u) << choice.text();
    const bool shared = choice.compressor->name == "randomk";  // whose ranks draw the same positions
    EXPECT_EQ(encoded(*choice.codec, values, {.rank = 1}) == encoded(*choice.codec, values, {}), shared)
        << choice.text();
  }
}

/// With T draws the mean of an element is off by its deviation over the root of T, and by 6 of those once in 10^9.
TEST(EveryUnbiasedCompressor, IsRightOnAverage) {
  constexpr int kDraws = 20'000;
  std::vector<float> values = gaussian(97);
  values[3] = 0;
  values[4] = 1e-3F;
  for (const CompressorChoice& choice : every_compressor()) {
    if (!choice.compressor->unbiased) continue;
    std::vector<double> sums(values.size()), squares(values.size());
    for (int t = 0; t < kDraws; ++t) {
      const std::vector<float> back = round_trip(*choice.codec, values, {.seed = static_cast<std::uint64_t>(t)});
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto x = static_cast<double>(back[i]);
        sums[i] += x;
        squares[i] += x * x;
      }
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double mean = sums[i] / kDraws;
      const double deviation = std::sqrt(std::max(0.0, squares[i] / kDraws - mean * mean));
      // Levels are drawn with 16 bits: 2^-17 of a level, and no level here is above 4.
      EXPECT_NEAR(mean, values[i], 6 * deviation / std::sqrt(kDraws) + 4 * 0x1p-17 + 1e-6) << choice.text() << ' ' << i;
    }
  }
}

// The powers of two around it are 2^127 and 2^128, which is infinite: it is 2^127 whatever is drawn.
TEST(Natural, StaysFiniteBelowTwoToThe128) {
  const CompressorChoice natural = parse_compressor("natural");
  const std::vector<float> values(5000, std::numeric_limits<float>::max());
  for (const float x : round_trip(*natural.codec, values)) ASSERT_EQ(x, 0x1p127F);
}

/// 1 and the floats after it.
std::vector<float> neighbours(std::size_t count) {
  std::vector<float> values{1.0F};
  while (values.size() < count) values.push_back(std::nextafter(values.back(), 2.0F));
  return values;
}

// A byte counts 256 neighbours exactly. 257 are too many: 255 steps lead from the first to the last.
TEST(MinMax8, Counts256NeighboursExactly) {
  const CompressorChoice minmax = parse_compressor("minmax8");
  EXPECT_EQ(round_trip(*minmax.codec, neighbours(256)), neighbours(256));
  const std::vector<float> more = neighbours(257), back = round_trip(*minmax.codec, more);
  EXPECT_NE(back, more);
  EXPECT_EQ(back.front(), more.front());
  EXPECT_EQ(back.back(), more.back());
  for (std::size_t i = 0; i < more.size(); ++i) EXPECT_NEAR(back[i], more[i], 0x1p-23F) << "one float";
}

}  // namespace
}  // namespace hbench::compressors_test

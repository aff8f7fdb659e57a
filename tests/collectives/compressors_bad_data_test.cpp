// What becomes of values that are not finite, of damaged bytes, and of parameters that make no sense.

#include <limits>

#include "collectives/base/error.hpp"
#include "tests/collectives/codecs.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::compressors_bad_data_test {
namespace {

using namespace ::hbench::support;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(CompressorsOfBadData, DoesWithNotFiniteValuesWhatItSays) {
  constexpr std::size_t kBuffer = 5000;
  constexpr std::size_t kAt = 700;
  for (const Compressor* compressor : compressors()) {
    const NotFinite& expected = compressor->not_finite;
    EXPECT_FALSE(expected.what.empty()) << compressor->name;
    const std::size_t block = expected.block == 0 ? kBuffer : static_cast<std::size_t>(expected.block);
    for (const float bad : {kInfinity, -kInfinity, kNan}) {
      std::vector<float> values = gaussian(kBuffer);
      values[kAt] = bad;
      const std::vector<float> back = round_trip(*parse_compressor(compressor->name).codec, values);
      const std::size_t begin = kAt / block * block;
      for (std::size_t i = 0; i < back.size(); ++i) {
        const bool may_be_bad = i >= begin && i < begin + block;
        ASSERT_TRUE(may_be_bad || std::isfinite(back[i])) << compressor->name << ' ' << i;
      }
      if (expected.kept) {
        EXPECT_TRUE(std::isnan(bad) ? std::isnan(back[kAt]) : back[kAt] == bad) << compressor->name;
      } else if (compressor->name != "randomk") {  // which draws it, or not
        EXPECT_FALSE(std::isfinite(back[kAt])) << compressor->name;
      }
    }
  }
}

/// One to four bytes changed, or the end cut off or made longer.
std::vector<std::byte> damaged(std::vector<std::byte> wire, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  if (below(4) == 0) wire.resize(below(wire.size() + 40));
  for (std::size_t changes = below(5); changes > 0 && !wire.empty(); --changes)
    wire[below(2) == 0 ? below(wire.size()) : below(std::min<std::size_t>(16, wire.size()))] =
        static_cast<std::byte>(below(256));
  wire.shrink_to_fit();
  return wire;
}

/// Run under sanitizers, this shows that nothing is read or written out of bounds.
TEST(CompressorsOfBadData, RefusesDamagedBytesOrDecodesThem) {
  std::mt19937 random(1);
  for (const CompressorChoice& choice : every_compressor()) {
    for (const std::size_t size : {0, 1, 9, 300, 1500}) {
      const std::vector<std::byte> wire = encoded(*choice.codec, gaussian(size));
      for (int i = 0; i < 400; ++i) {
        const std::vector<std::byte> mutant = damaged(wire, random);
        try {
          decoded(*choice.codec, mutant, size);
        } catch (const Error& error) {
          ASSERT_EQ(error.code(), ExitCode::wrong_data) << choice.text();
        }
      }
    }
  }
}

TEST(CompressorsOfBadData, RefusesBytesThatAreTooFewOrTooMany) {
  for (const CompressorChoice& choice : every_compressor()) {
    for (const int change : {-1, 1, 4}) {
      std::vector<std::byte> wire = encoded(*choice.codec, gaussian(100));
      wire.resize(wire.size() + static_cast<std::size_t>(change));
      EXPECT_THROW(decoded(*choice.codec, wire, 100), Error) << choice.text();
    }
  }
}

TEST(SparseCompressors, RefusePositionsOutsideOrOutOfOrder) {
  const std::vector<float> values = gaussian(100);
  const CompressorChoice topk = parse_compressor("topk:0.03");
  for (const auto& [at, position] : {std::pair(4, 100u), {4, 0xffff'ffffu}, {8, 0u}, {12, 0u}}) {
    std::vector<std::byte> wire = encoded(*topk.codec, values);
    std::memcpy(wire.data() + at, &position, sizeof position);
    EXPECT_THROW(decoded(*topk.codec, wire, 100), Error) << at;
  }
}

std::string refusal(const char* text) {
  try {
    parse_compressor(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage) << text;
    EXPECT_FALSE(error.hint().empty()) << text;
    return error.what();
  }
  ADD_FAILURE() << text << " was accepted";
  return {};
}

TEST(Compressors, RefuseParametersInWords) {
  for (const char* text : {"topk:0", "topk:1.01", "topk:-1", "topk:nan", "topk:1%", "randomk:0", "dgc:2"})
    EXPECT_THAT(refusal(text), HasSubstr("ratio of compressor '")) << text;
  for (const char* text : {"qsgd:1", "qsgd:128", "qsgd:1.5", "qsgd:-7"})
    EXPECT_THAT(refusal(text), HasSubstr("levels of compressor 'qsgd' is '")) << text;
  for (const char* text : {"powersgd:0", "powersgd:-1", "powersgd:65537", "powersgd:four"})
    EXPECT_THAT(refusal(text), HasSubstr("rank of compressor 'powersgd' is '")) << text;
  for (const char* text : {"threshold:-1", "threshold:inf", "threshold:nan", "threshold:x"})
    EXPECT_THAT(refusal(text), HasSubstr("magnitude of compressor 'threshold' is '")) << text;
  EXPECT_THAT(refusal("dgc:0.01:1"), HasSubstr("momentum of compressor 'dgc' is '1'"));
  EXPECT_THAT(refusal("dgc:0.01:0.9:-1"), HasSubstr("warm-up of compressor 'dgc' is '-1'"));
  EXPECT_THAT(refusal("dgc:0.01:0.9:0:-1"), HasSubstr("clip of compressor 'dgc' is '-1'"));
  EXPECT_THAT(refusal("fp16:3"), HasSubstr("takes no parameters"));
  EXPECT_THAT(refusal("topk:0.1:2"), HasSubstr("takes 1 parameter"));
  EXPECT_THAT(refusal("tokp"), HasSubstr("did you mean 'topk'?"));
}

TEST(SparseCompressors, RefuseBuffersThatPositionsDoNotReach) {
  for (const char* text : {"topk", "randomk", "threshold", "dgc"})
    EXPECT_THROW(parse_compressor(text).codec->max_wire_bytes(std::int64_t{1} << 32), Error) << text;
}

}  // namespace
}  // namespace hbench::compressors_bad_data_test

// What is carried over from step to step: error feedback, DGC's momentum, PowerSGD's factors.

#include <limits>

#include "collectives/base/error.hpp"
#include "collectives/compressors/low_rank.hpp"
#include "tests/collectives/codecs.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::gradient_memory_test {
namespace {

using namespace ::hbench::support;

constexpr std::size_t kElements = 2000;

std::vector<std::string> with_feedback() {
  std::vector<std::string> texts;
  for (const Compressor* compressor : compressors()) {
    if (compressor->exchange == Exchange::gather && compressor->make_memory == nullptr &&
        compressor->relative_l2_error < 1)
      texts.push_back("ef:" + std::string(compressor->name));
  }
  return texts;
}

/// One step of one rank: what it sends.
std::vector<float> send(const CompressorChoice& choice, GradientMemory& memory, std::vector<float>& gradient,
                        std::int32_t step) {
  memory.compensate(gradient);
  const std::vector<std::byte> wire = encoded(*choice.codec, gradient, {.step = step});
  memory.update(gradient, wire, *choice.codec);
  return decoded(*choice.codec, wire, gradient.size());
}

std::vector<float> residual(GradientMemory& memory) {
  std::vector<float> zeros(kElements, 0.0F);
  memory.compensate(zeros);
  return zeros;
}

/// Bit for bit: one subtraction, rounded once. That is as near as float32 comes to residual + sent = input.
TEST(ErrorFeedback, KeepsExactlyWhatWasNotSent) {
  for (const std::string& text : with_feedback()) {
    const CompressorChoice choice = parse_compressor(text);
    const auto memory = choice.make_memory(kElements);
    for (int step = 0; step < 5; ++step) {
      std::vector<float> gradient = gaussian(kElements, static_cast<unsigned>(step));
      const std::vector<float> sent = send(choice, *memory, gradient, step);
      const std::vector<float> kept = residual(*memory);
      for (std::size_t i = 0; i < kElements; ++i) {
        ASSERT_EQ(kept[i], gradient[i] - sent[i]) << text;
        const double sum = static_cast<double>(kept[i]) + static_cast<double>(sent[i]);
        const double largest = std::max({std::abs(kept[i]), std::abs(sent[i]), std::abs(gradient[i])});
        ASSERT_NEAR(sum, gradient[i], largest * 0x1p-24) << text;
      }
    }
  }
}

TEST(ErrorFeedback, SendsEverythingInTheEnd) {
  for (const std::string& text : with_feedback()) {
    const CompressorChoice choice = parse_compressor(text);
    const auto memory = choice.make_memory(kElements);
    const std::vector<float> first = gaussian(kElements);
    std::vector<double> sent(kElements);
    for (int step = 0; step < 200; ++step) {
      std::vector<float> gradient = step == 0 ? first : std::vector<float>(kElements, 0.0F);
      const std::vector<float> now = send(choice, *memory, gradient, step);
      for (std::size_t i = 0; i < kElements; ++i) sent[i] += static_cast<double>(now[i]);
    }
    const std::vector<float> left = residual(*memory);
    // 200 steps of 1 % send everything once; quantisers shrink what is left in every step.
    EXPECT_LT(support::norm(left), 0.6 * support::norm(first)) << text;
    for (std::size_t i = 0; i < kElements; ++i)
      ASSERT_NEAR(sent[i] + static_cast<double>(left[i]), first[i], 1e-4) << text;
  }
}

TEST(ErrorFeedback, ForgetsWhatIsNotFinite) {
  for (const std::string& text : with_feedback()) {
    const CompressorChoice choice = parse_compressor(text);
    const auto memory = choice.make_memory(kElements);
    std::vector<float> bad = gaussian(kElements);
    bad[5] = std::numeric_limits<float>::infinity();
    bad[6] = std::numeric_limits<float>::quiet_NaN();
    send(choice, *memory, bad, 0);
    for (const float x : residual(*memory)) ASSERT_TRUE(std::isfinite(x)) << text;
  }
}

TEST(ErrorFeedback, IsRefusedWhereItMakesNoSense) {
  for (const char* name : {"none", "fp16", "bf16", "int8", "minmax8", "natural", "terngrad", "randomk", "dgc"}) {
    expect_error([&] { parse_compressor("ef:" + std::string(name)); }, ExitCode::usage,
                 HasSubstr("error feedback cannot be combined with compressor '" + std::string(name)), ::testing::_);
  }
  EXPECT_EQ(parse_compressor("ef:topk").text(), "ef:topk:0.01");
  EXPECT_EQ(parse_compressor("ef2:onebit").text(), "ef2:onebit");
  EXPECT_THROW(parse_compressor("ef2:powersgd"), Error) << "it has no parts";
  EXPECT_EQ(parse_compressor("topk").make_memory(3), nullptr);
}

/// Algorithm 4 of the paper, written down as it stands there.
TEST(Dgc, CorrectsAndMasksMomentum) {
  const CompressorChoice choice = parse_compressor("dgc:0.05:0.9");
  const auto memory = choice.make_memory(kElements);
  std::vector<float> u(kElements), v(kElements);
  for (int step = 0; step < 20; ++step) {
    std::vector<float> gradient = gaussian(kElements, static_cast<unsigned>(step));
    for (std::size_t i = 0; i < kElements; ++i) {
      u[i] = 0.9F * u[i] + gradient[i];
      v[i] += u[i];
    }
    const std::vector<float> sent = send(choice, *memory, gradient, step);
    ASSERT_EQ(bits_of(gradient), bits_of(v));
    EXPECT_EQ(std::ranges::count_if(sent, [](float x) { return x != 0; }), 100);
    for (std::size_t i = 0; i < kElements; ++i)
      if (sent[i] != 0) u[i] = v[i] = 0;
  }
}

// One of 100 elements is sent in each step: the first. The second: gradient 1, velocity 1, unsent 1; then -1.5,
// 0.5 - 1.5 = -1, 1 - 1 = 0, which is not sent though nothing is left; then 0, 0.5 x -1 = -0.5, -0.5.
TEST(Dgc, KeepsTheVelocityOfAnElementThatCancelsOut) {
  const CompressorChoice choice = parse_compressor("dgc:0.01:0.5");
  const auto memory = choice.make_memory(100);
  const float second[] = {1.0F, -1.5F, 0.0F}, compensated[] = {1.0F, 0.0F, -0.5F};
  for (int step = 0; step < 3; ++step) {
    std::vector<float> gradient(100);
    gradient[0] = 100;
    gradient[1] = second[step];
    send(choice, *memory, gradient, step);
    EXPECT_EQ(gradient[1], compensated[step]) << step;
  }
}

TEST(Dgc, ClipsTheGradientOfOneRank) {
  const CompressorChoice choice = parse_compressor("dgc:0.01:0.9:0:2");
  std::vector<float> gradient = gaussian(kElements);
  choice.make_memory(kElements)->compensate(gradient);
  EXPECT_NEAR(support::norm(gradient), 2, 1e-5);
}

/// 25 %, 6.25 %, 1.5625 %, 0.4 %, then the ratio; 3 steps on each stair.
TEST(Dgc, WarmsUp) {
  const CompressorChoice choice = parse_compressor("dgc:0.001:0.9:3");
  const std::vector<float> values = gaussian(100'000);
  const std::int64_t counts[] = {25'000, 6'250, 1'563, 400, 100, 100};
  for (int step = 0; step < 18; ++step)
    EXPECT_EQ(encoded(*choice.codec, values, {.step = step}).size(), 4u + 8u * static_cast<unsigned>(counts[step / 3]));
  EXPECT_EQ(choice.codec->max_wire_bytes(100'000), 4 + 8 * 25'000);
}

std::vector<float> sum_of(const std::vector<std::span<float>>& parts) {
  std::vector<float> sum(parts.front().size());
  for (const std::span<float> part : parts)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
  return sum;
}

/// An executor's two all-reduces, by hand.
void all_reduce(const std::vector<std::span<float>>& parts) {
  const std::vector<float> sum = sum_of(parts);
  for (const std::span<float> part : parts) std::ranges::copy(sum, part.begin());
}

void step(std::vector<LowRankState>& ranks, std::vector<std::vector<float>>& gradients) {
  std::vector<std::span<float>> left, right;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    ranks[r].begin(gradients[r]);
    left.push_back(ranks[r].left());
    right.push_back(ranks[r].right());
  }
  all_reduce(left);
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].middle(gradients[r]);
  all_reduce(right);
  for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r].end(gradients[r]);
}

std::vector<LowRankState> three_ranks(const char* text, std::int64_t elements) {
  std::vector<LowRankState> ranks;
  for (int r = 0; r < 3; ++r) ranks.push_back(make_low_rank_state(parse_compressor(text), elements));
  return ranks;
}

TEST(PowerSgd, IsExactForASumOfLowRank) {
  // 40 x 40, the last row 39 long: rank r's matrix has r + 1 in every element of row r.
  constexpr std::int64_t kSize = 1599;
  std::vector<LowRankState> ranks = three_ranks("powersgd:3", kSize);
  std::vector<std::vector<float>> gradients(3, std::vector<float>(kSize));
  for (std::size_t r = 0; r < 3; ++r)
    std::fill_n(gradients[r].begin() + static_cast<std::ptrdiff_t>(40 * r), 40, static_cast<float>(r + 1));
  const std::vector<float> sum = sum_of({gradients[0], gradients[1], gradients[2]});
  step(ranks, gradients);
  for (const auto& result : gradients) {
    EXPECT_EQ(bits_of(result), bits_of(gradients[0]));
    for (std::size_t i = 0; i < result.size(); ++i) ASSERT_NEAR(result[i], sum[i], 1e-5);
  }
}

TEST(PowerSgd, ComesNearerFromStepToStepWithTheSameGradient) {
  std::vector<LowRankState> ranks = three_ranks("powersgd:4", 10'000);
  const std::vector<float> noise = gaussian(10'000);
  double before = 1;
  for (int i = 0; i < 4; ++i) {
    std::vector<std::vector<float>> gradients(3, noise);
    step(ranks, gradients);
    std::vector<float> lost = gradients[0];
    for (std::size_t j = 0; j < lost.size(); ++j) lost[j] -= 3 * noise[j];
    const double error = support::norm(lost) / (3 * support::norm(noise));
    EXPECT_LT(error, before);
    before = error;
  }
}

TEST(PowerSgd, KeepsWhatItsFactorsLackWithErrorFeedback) {
  LowRankState state = make_low_rank_state(parse_compressor("ef:powersgd:2"), 5000);
  for (unsigned i = 0; i < 4; ++i) {
    std::vector<float> gradient = gaussian(5000, i);
    state.begin(gradient);
    const std::vector<float> compensated = gradient;
    state.middle(gradient);
    state.end(gradient);
    for (std::size_t j = 0; j < gradient.size(); ++j) ASSERT_EQ(state.residual()[j], compensated[j] - gradient[j]);
  }
  EXPECT_TRUE(make_low_rank_state(parse_compressor("powersgd"), 5000).residual().empty());
}

TEST(PowerSgd, RecoversFromZerosAndFromWhatIsNotFinite) {
  const std::vector<float> good = gaussian(2500);
  for (const float bad : {0.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    LowRankState state = make_low_rank_state(parse_compressor("ef:powersgd:2"), 2500);
    for (const std::vector<float>& next : {std::vector<float>(2500, bad), good}) {
      std::vector<float> gradient = next;
      state.begin(gradient);
      state.middle(gradient);
      state.end(gradient);
      if (next == good) {
        EXPECT_GT(support::norm(gradient), 1);
      }
    }
    EXPECT_LT(support::norm(state.residual()), support::norm(good));
  }
}

TEST(PowerSgd, TakesBuffersOfFewElements) {
  EXPECT_EQ(low_rank_shape(0, 4).left_elements(), 0);
  for (std::int64_t elements = 0; elements < 20; ++elements) {
    const LowRankShape shape = low_rank_shape(elements, 4);
    EXPECT_GE(shape.rows * shape.columns, elements);
    EXPECT_LT((shape.rows - 1) * shape.columns, std::max<std::int64_t>(elements, 1));
    EXPECT_LE(shape.rank, std::min(shape.rows, shape.columns));
    LowRankState state = make_low_rank_state(parse_compressor("powersgd:4"), elements);
    std::vector<float> gradient(static_cast<std::size_t>(elements), 1.0F);
    state.begin(gradient);
    state.middle(gradient);
    state.end(gradient);
    for (const float x : gradient) EXPECT_NEAR(x, 1, 1e-6);
  }
}

TEST(PowerSgd, OrthonormalisesColumnsThatNearlyDepend) {
  constexpr std::size_t kRows = 500;
  std::vector<float> columns = gaussian(4 * kRows);
  // The second is the first and a little, the fourth is the third.
  for (std::size_t i = 0; i < kRows; ++i) {
    columns[kRows + i] = columns[i] + 1e-3F * columns[kRows + i];
    columns[3 * kRows + i] = columns[2 * kRows + i];
  }
  host_low_rank_products()->orthonormalise(kRows, columns);
  const auto product = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t i = 0; i < kRows; ++i)
      sum += static_cast<double>(columns[a * kRows + i]) * static_cast<double>(columns[b * kRows + i]);
    return sum;
  };
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) EXPECT_NEAR(product(a, b), a == b ? 1 : 0, 1e-6) << a << ' ' << b;
  EXPECT_EQ(product(3, 3), 0);
}

TEST(PowerSgd, RefusesOtherCompressors) { EXPECT_THROW(make_low_rank_state(parse_compressor("fp16"), 10), Error); }

}  // namespace
}  // namespace hbench::gradient_memory_test

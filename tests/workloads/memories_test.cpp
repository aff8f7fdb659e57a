#include "workloads/engine/memories.hpp"

#include <cstring>

#include "tests/collectives/lazy_device.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::memories_test {
namespace {

using testing::FloatEq;

/// Keeps the whole part of every element: what is lost is easy to see.
class WholePart final : public Codec {
 public:
  std::int64_t max_wire_bytes(std::int64_t elements) const override { return elements; }
  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = static_cast<std::byte>(in[i]);
    return std::ssize(in);
  }
  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<float>(std::to_integer<int>(in[i])) + (kind == TransferKind::reduce ? out[i] : 0);
  }
};

class Residual final : public GradientMemory {
 public:
  explicit Residual(std::int64_t elements) : lost_(static_cast<std::size_t>(elements)) {}
  void compensate(std::span<float> gradient) override {
    for (std::size_t i = 0; i < lost_.size(); ++i) gradient[i] += lost_[i];
  }
  void update(std::span<const float> compensated, std::span<const std::byte> encoded, const Codec& codec) override {
    codec.decode(encoded, TransferKind::copy, lost_);
    for (std::size_t i = 0; i < lost_.size(); ++i) lost_[i] = compensated[i] - lost_[i];
  }
  void walk(StateWalk& state) override { walk_floats(state, "lost", host_device(), lost_); }

 private:
  std::vector<float> lost_;
};

constexpr Compressor kWholePart{
    .name = "whole-part",
    .exchange = Exchange::gather,
    .memory_traffic = 1,
    .make_memory = [](std::string_view, std::int64_t elements) -> std::unique_ptr<GradientMemory> {
      return std::make_unique<Residual>(elements);
    },
};

class Memories : public ::testing::Test {
 protected:
  /// One step: `gradient` is what the bucket's elements are, the result what is to be sent of them.
  std::vector<float> send(const Bucket& bucket, std::vector<float> gradient) {
    const auto memory = memories_.of(bucket, step_++);
    memory->gradient->compensate(gradient);
    std::vector<std::byte> encoded(gradient.size());
    choice_.codec->encode(gradient, {}, encoded);
    memory->gradient->update(gradient, encoded, *choice_.codec);
    return gradient;
  }

  CompressorChoice choice_{.compressor = &kWholePart, .codec = std::make_shared<WholePart>()};
  GradientLayout layout_{.parameters = {2, 1, 0}, .elements = {2, 1, 4}};
  GradientMemories memories_{choice_, layout_, 1};
  int step_ = 0;
};

// What tensor 0 lost when it travelled with tensor 1 (0.25 and 0.5) and what tensor 1 lost (0.75) comes back when they
// travel alone or with others.
TEST_F(Memories, FollowTensorsIntoWhicheverBucketTheyTravelIn) {
  EXPECT_THAT(send({0, 1}, {1.25, 2.5, 3.75}), ElementsAre(1.25, 2.5, 3.75));
  EXPECT_THAT(send({1, 2}, {1, 1, 1, 1, 1}), ElementsAre(1.75, 1, 1, 1, 1));
  EXPECT_THAT(send({0}, {1, 1}), ElementsAre(1.25, 1.5));
}

TEST_F(Memories, BelongToPiecesOfTensors) {
  send(Bucket::piece(2, 0, 8), {0.5, 0.25});
  send(Bucket::piece(2, 8, 16), {0.125, 0});
  EXPECT_THAT(send(Bucket::piece(2, 0, 8), {1, 1}), ElementsAre(1.5, 1.25));
  EXPECT_THAT(send(Bucket::piece(2, 8, 16), {1, 1}), ElementsAre(1.125, 1));
}

TEST_F(Memories, LetBucketsDrawDifferentlyInAStepAndCountTrainingSteps) {
  EXPECT_NE(memories_.of({0}, 3)->seed, memories_.of({1}, 3)->seed);
  EXPECT_NE(memories_.of(Bucket::piece(2, 0, 8), 3)->seed, memories_.of(Bucket::piece(2, 8, 16), 3)->seed);
  EXPECT_EQ(memories_.of({0}, 3)->seed, memories_.of({0}, 4)->seed);
  EXPECT_EQ(memories_.of({0}, 3)->step, 3);
}

TEST_F(Memories, AreNotNeededWhereNothingIsCarriedOver) {
  for (const char* text : {"none", "fp16"}) {
    const CompressorChoice choice = parse_compressor(text);
    EXPECT_EQ(GradientMemories(choice, layout_, 1).of({0}, 0), nullptr) << text;
  }
}

TEST_F(Memories, KeepFactorsForEachBucket) {
  const CompressorChoice choice = parse_compressor("powersgd");
  GradientMemories memories(choice, layout_, 1);
  EXPECT_EQ(memories.of({0, 1}, 0), memories.of({0, 1}, 1));
  EXPECT_NE(memories.of({0, 1}, 0), memories.of({2}, 0));
}

/// What is sent in each of some steps, for a gradient of as many elements as the bucket has, where `device` has it.
std::vector<std::vector<float>> sent_on(Device& device, const CompressorChoice& choice) {
  const GradientLayout layout{.parameters = {3, 2, 1, 0}, .elements = {20, 10, 40, 30}};
  GradientMemories memories(choice, layout, 1, device);
  const std::shared_ptr<const Codec> codec = device.codec_of(choice);
  std::vector<std::vector<float>> all;
  for (const Bucket& bucket : {Bucket{{0, 1}}, Bucket{{1, 2}}, Bucket{{0}}, Bucket::piece(3, 0, 80),
                               Bucket::piece(3, 0, 80), Bucket{{1, 2}}}) {
    const auto step = static_cast<std::int32_t>(all.size());
    std::vector<float> floats(static_cast<std::size_t>(bucket.bytes(layout.bytes())) / sizeof(float));
    for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>((i * 7 + all.size()) % 11) - 4.5F;
    const std::size_t wire_bytes = static_cast<std::size_t>(codec->max_wire_bytes(std::ssize(floats)));
    const std::size_t bytes = floats.size() * sizeof(float);
    const DeviceMemory memory = device.allocate(bytes), wire = device.allocate(wire_bytes);
    const std::span<float> gradient(reinterpret_cast<float*>(memory.get()), floats.size());
    device.write(std::as_bytes(std::span(floats)), std::as_writable_bytes(gradient));
    const auto carried = memories.of(bucket, step);
    carried->gradient->compensate(gradient);
    codec->encode(gradient, {.step = step}, {wire.get(), wire_bytes});
    carried->gradient->update(gradient, {wire.get(), wire_bytes}, *codec);
    device.read(std::as_bytes(gradient), std::as_writable_bytes(std::span(floats)));
    all.push_back(std::move(floats));
  }
  return all;
}

TEST(MemoriesOnDevices, CarryOverWhatThoseInHostMemoryDo) {
  for (const char* text : {"ef:topk:0.1", "ef:sign"}) {
    support::LazyDevice device(3);
    const CompressorChoice choice = parse_compressor(text);
    const auto right = sent_on(host_device(), choice);
    EXPECT_EQ(sent_on(device, choice), right) << text;
    // Element 1 is 2.5 in step 0 and 4.5 in step 2: larger ones were sent instead of it, or all as their mean.
    EXPECT_NE(right[2][1], 4.5F) << text;
  }
}

}  // namespace
}  // namespace hbench::memories_test

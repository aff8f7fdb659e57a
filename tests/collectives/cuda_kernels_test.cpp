// Kernels against the loops of the host: run on the host thread by thread, and on a GPU.

#include <gtest/gtest.h>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/compressors/low_rank.hpp"
#include "tests/collectives/cuda_compression.hpp"
#include "tests/collectives/cuda_device.hpp"
#include "tests/collectives/cuda_factors.hpp"
#include "tests/collectives/cuda_tensors.hpp"

namespace hbench::cuda_kernels_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

TEST_P(CudaReductions, AccumulateAsTheHostDoesForEveryTypeAndOperation) {
  for_each_type_and_operation([&](DataType type, ReduceOp op) {
    for (const std::size_t elements : kCounts)
      for (const auto& [in_off, inout_off] : kOffsets) {
        const std::vector<std::byte> given = random_elements(type, elements, random);
        std::vector<std::byte> right = random_elements(type, elements, random);
        GuardedMemory in(*device, {in_off * size_of(type), given.size()});
        GuardedMemory inout(*device, {inout_off * size_of(type), right.size()});
        in.put(given);
        inout.put(right);
        accumulate(type, op, given, right);
        device->accumulate(type, op, in.span(), inout.span());
        ASSERT_TRUE(same_elements(type, inout.get(), right)) << in_off << ", " << inout_off;
        ASSERT_TRUE(same_elements(type, in.get(), given));
      }
  });
}

TEST_P(CudaReductions, FillAndFinishAsTheHostDoesForEveryTypeAndOperation) {
  for_each_type_and_operation([&](DataType type, ReduceOp op) {
    for (const std::size_t elements : kCounts)
      for (const std::size_t off : {0, 1, 3}) {
        std::vector<std::byte> right(elements * size_of(type));
        fill_neutral(type, op, right);
        GuardedMemory buffer(*device, {off * size_of(type), right.size()});
        device->fill_neutral(type, op, buffer.span());
        ASSERT_TRUE(same_elements(type, buffer.get(), right));
        right = random_elements(type, elements, random);
        buffer.put(right);
        for (const int workers : {1, 3, 8}) {
          finish(type, op, workers, right);
          device->finish(type, op, workers, buffer.span());
          ASSERT_TRUE(same_elements(type, buffer.get(), right)) << workers;
        }
      }
  });
}

TEST_P(CudaReductions, KeepTheRestAsTheHostDoes) {
  for (const std::size_t elements : kCounts)
    for (const auto& [whole_off, part_off] : kOffsets) {
      const std::vector<std::byte> given = random_elements(DataType::float32, elements, random);
      std::vector<std::byte> right = random_elements(DataType::float32, elements, random);
      GuardedMemory whole(*device, {whole_off * sizeof(float), given.size()});
      GuardedMemory part(*device, {part_off * sizeof(float), right.size()});
      whole.put(given);
      part.put(right);
      keep_rest(as_floats(std::as_bytes(std::span(given))), as_floats(std::span(right)));
      device->keep_rest(as_floats(std::as_bytes(whole.span())), as_floats(part.span()));
      ASSERT_EQ(part.get(), right) << whole_off << ", " << part_off;
    }
}

TEST_P(CudaReductions, ChangeNumbersAsTheHostDoes) {
  for (const NumbersChange::Kind kind : kChanges)
    for (const std::size_t elements : kCounts)
      for (const auto& [a_off, x_off] : kOffsets) {
        const std::vector<std::byte> first = random_elements(DataType::float32, elements, random);
        const std::vector<std::byte> second = random_elements(DataType::float32, elements, random);
        std::vector<std::byte> right = random_elements(DataType::float32, elements, random);
        GuardedMemory a(*device, {a_off * sizeof(float), first.size()}),
            b(*device, {a_off * sizeof(float), first.size()});
        GuardedMemory x(*device, {x_off * sizeof(float), right.size()});
        a.put(first);
        b.put(second);
        x.put(right);
        NumbersChange by{.kind = kind,
                         .factor = 0.3F,
                         .a = as_floats(std::as_bytes(std::span(first))),
                         .b = as_floats(std::as_bytes(std::span(second))),
                         .root = 0.7F,
                         .epsilon = 1e-3F};
        change(by, as_floats(std::span(right)));
        by.a = as_floats(std::as_bytes(a.span()));
        by.b = as_floats(std::as_bytes(b.span()));
        device->change(by, as_floats(x.span()));
        ASSERT_TRUE(same_elements(DataType::float32, x.get(), right)) << a_off << ", " << x_off;
      }
}

TEST_P(CudaReductions, TakeElementsAtAnyAddress) {
  for (const DataTypeEntry* type : data_types()) {
    const std::vector<std::byte> given = random_elements(type->type, 5000, random);
    std::vector<std::byte> right = random_elements(type->type, 5000, random);
    GuardedMemory in(*device, {1, given.size()});
    GuardedMemory inout(*device, {7, right.size()});
    in.put(given);
    inout.put(right);
    accumulate(type->type, ReduceOp::sum, given, right);
    device->accumulate(type->type, ReduceOp::sum, in.span(), inout.span());
    ASSERT_TRUE(same_elements(type->type, inout.get(), right)) << type->name;
  }
}

TEST_P(CudaCodecs, EncodeAndDecodeAsTheHostDoes) {
  for_each_codec_and_place([&](const CompressorChoice& choice, std::size_t elements, const CodecPlaces& places) {
    const std::shared_ptr<const Codec> codec = device->codec_of(choice);
    const std::vector<float> floats = hard_floats(elements, random);
    const std::vector<std::byte> right = encoded(choice, floats);
    GuardedMemory in(*device, places.floats);
    GuardedMemory wire(*device, places.wire);
    in.put(std::as_bytes(std::span(floats)));
    ASSERT_EQ(codec->encode(in.floats(), kDraw, wire.span()), std::ssize(right));
    ASSERT_EQ(wire.get(), right);
    for (const TransferKind kind : {TransferKind::copy, TransferKind::reduce}) {
      std::vector<float> sum = hard_floats(elements, random);
      GuardedMemory out(*device, places.floats);
      if (kind == TransferKind::reduce) out.put(std::as_bytes(std::span(sum)));
      choice.codec->decode(right, kind, sum);
      codec->decode(wire.span(), kind, out.floats());
      ASSERT_TRUE(same_elements(DataType::float32, out.get(), std::as_bytes(std::span(sum))));
    }
  });
}

TEST_P(CudaPacking, CopyEveryTensorToItsPlaceAndBack) {
  std::vector<std::unique_ptr<GuardedMemory>> memories;
  std::vector<std::span<std::byte>> spans;
  std::vector<std::byte> right;
  for (const auto& [bytes, off] : tensor_places()) {
    memories.push_back(std::make_unique<GuardedMemory>(*device, Placed{off, bytes}));
    spans.push_back(memories.back()->span());
    const std::vector<std::byte> given = random_elements(DataType::uint8, bytes, random);
    memories.back()->put(given);
    right.insert(right.end(), given.begin(), given.end());
  }
  const std::unique_ptr<Packing> tensors = device->packing(spans);
  GuardedMemory buffer(*device, {0, right.size()});
  tensors->pack(buffer.span());
  ASSERT_TRUE(buffer.get() == right);
  for (const auto& memory : memories) memory->put(std::vector<std::byte>(memory->span().size(), kPoison));
  tensors->unpack(buffer.span());
  std::size_t offset = 0;
  for (std::size_t i = 0; i < memories.size(); ++i) {
    const std::vector<std::byte> found = memories[i]->get();
    ASSERT_TRUE(std::ranges::equal(found, std::span(right).subspan(offset, found.size()))) << "tensor " << i;
    offset += found.size();
  }
}

TEST_P(CudaPacking, DoesNothingForNoTensors) {
  const std::unique_ptr<Packing> tensors = device->packing({});
  tensors->pack({});
  tensors->unpack({});
}

/// Floats off by one from an aligned address, as factors may be.
class Floats {
 public:
  Floats(Device& device, std::span<const float> values) : memory_(device, {4, values.size_bytes()}) {
    memory_.put(std::as_bytes(values));
  }
  static Floats poisoned(Device& device, std::int64_t elements) {
    return {device, std::vector<float>(static_cast<std::size_t>(elements), -1e30F)};
  }
  std::span<float> span() { return memory_.floats(); }
  std::vector<float> get() {
    const std::vector<std::byte> bytes = memory_.get();
    return {as_floats(bytes).begin(), as_floats(bytes).end()};
  }

 private:
  GuardedMemory memory_;
};

TEST_P(CudaProducts, AreThoseOfTheHostOrWithinRounding) {
  const auto products = device->low_rank_products();
  for (const auto& [elements, rank] : kFactorSizes) {
    SCOPED_TRACE(std::to_string(elements) + " elements, rank " + std::to_string(rank));
    const LowRankShape shape = low_rank_shape(elements, rank);
    const std::vector<float> matrix = normal_floats(elements, random);
    const std::vector<float> left = normal_floats(shape.left_elements(), random);
    const std::vector<float> right = normal_floats(shape.right_elements(), random);
    Floats matrix_there(*device, matrix);
    Floats left_there(*device, left);
    Floats right_there(*device, right);
    Floats left_found = Floats::poisoned(*device, shape.left_elements());
    products->multiply(shape, matrix_there.span(), right_there.span(), left_found.span());
    EXPECT_TRUE(left_sums(shape, matrix, right).near(left_found.get(), left_units(shape)));
    Floats right_found = Floats::poisoned(*device, shape.right_elements());
    products->multiply_transposed(shape, matrix_there.span(), left_there.span(), right_found.span());
    EXPECT_TRUE(right_sums(shape, matrix, left).near(right_found.get(), right_units(shape)));
    std::vector<float> expanded(matrix.size());
    host_low_rank_products()->expand(shape, left, right, expanded);
    Floats found = Floats::poisoned(*device, elements);
    products->expand(shape, left_there.span(), right_there.span(), found.span());
    EXPECT_EQ(found.get(), expanded);
  }
}

// An infinity stays in its row and column; what is behind the end of the last row makes no NaN: 9 rows of 10, and 85
// elements, of which the last row has 5.
TEST_P(CudaProducts, KeepInfinitiesWhereTheyAre) {
  const auto host = host_low_rank_products(), products = device->low_rank_products();
  for (const LowRankShape& shape : {low_rank_shape(90, 2), low_rank_shape(85, 2)}) {
    const std::vector<float> matrix = normal_floats(shape.elements, random);
    std::vector<float> right = normal_floats(shape.right_elements(), random);
    std::vector<float> left = normal_floats(shape.left_elements(), random);
    right[9] = left[8] = std::numeric_limits<float>::infinity();
    std::vector<float> left_right(left.size()), right_right(right.size());
    host->multiply(shape, matrix, right, left_right);
    host->multiply_transposed(shape, matrix, left, right_right);
    Floats matrix_there(*device, matrix), left_there(*device, left), right_there(*device, right);
    Floats left_found(*device, left), right_found(*device, right);
    products->multiply(shape, matrix_there.span(), right_there.span(), left_found.span());
    products->multiply_transposed(shape, matrix_there.span(), left_there.span(), right_found.span());
    const auto alike = [](float found, float of_host) { return std::isfinite(found) == std::isfinite(of_host); };
    EXPECT_TRUE(std::ranges::equal(left_found.get(), left_right, alike));
    EXPECT_TRUE(std::ranges::equal(right_found.get(), right_right, alike));
  }
}

TEST_P(CudaProducts, MakeColumnsOrthonormalAsTheHostDoes) {
  const auto products = device->low_rank_products();
  for (const auto& [rows, rank] : {std::pair(1, 1), {5, 4}, {1000, 4}, {30'001, 9}}) {
    std::vector<float> columns = hard_columns(rows, rank, random);
    Floats there(*device, columns);
    products->orthonormalise(rows, there.span());
    host_low_rank_products()->orthonormalise(rows, columns);
    EXPECT_TRUE(near_columns(there.get(), columns)) << rows << ", " << rank;
  }
}

TEST_P(CudaProducts, RenewLostColumnsToTheBitsOfTheHost) {
  const LowRankShape shape = low_rank_shape(90'000, 4);
  std::vector<float> right = normal_floats(shape.right_elements(), random);
  std::fill_n(right.begin(), shape.columns, 0.0F);
  right[static_cast<std::size_t>(2 * shape.columns + 3)] = std::numeric_limits<float>::infinity();
  right.back() = std::nanf("");
  Floats there(*device, right);
  const Draw draw{.seed = 5, .step = 6};
  device->low_rank_products()->renew_lost_columns(shape, draw, there.span());
  host_low_rank_products()->renew_lost_columns(shape, draw, right);
  EXPECT_EQ(there.get(), right);
}

}  // namespace
}  // namespace hbench::cuda_kernels_test

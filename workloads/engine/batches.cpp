#include "workloads/engine/batches.hpp"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "collectives/base/error.hpp"
#include "workloads/engine/samples.hpp"

namespace hbench {
namespace {

/// Batches that take turns.
constexpr int kPool = 4;

/// Memory for `samples` samples of a shape.
Batch empty_batch(const SampleShape& shape, std::int64_t samples) {
  std::vector<std::int64_t> sizes{samples};
  sizes.insert(sizes.end(), shape.sizes.begin(), shape.sizes.end());
  return {at::empty(sizes, shape.vocabulary > 0 ? at::kLong : at::kFloat), at::empty({samples}, at::kLong)};
}

/// The numbers of one sample of a batch.
template <class Number>
std::span<Number> sample_of(const Batch& batch, std::size_t index) {
  const auto values = static_cast<std::size_t>(batch.samples.numel() / batch.samples.size(0));
  return {batch.samples.data_ptr<Number>() + index * values, values};
}

at::Tensor fitted(const at::Tensor& samples, const SampleShape& to) {
  if (samples.dim() != 4) return samples;
  const at::Tensor x = samples.expand({-1, to.sizes[0], -1, -1});
  const std::int64_t down = to.sizes[1] - x.size(2), right = to.sizes[2] - x.size(3);
  if (down + right == 0) return x;
  return at::constant_pad_nd(x, {right / 2, right - right / 2, down / 2, down - down / 2}, 0);
}

Batch dealt_batch(const Dataset& data, const LabelledSamples& of, const SampleShape& input,
                  std::span<const std::int64_t> indices) {
  Batch batch = empty_batch(data.shape, std::ssize(indices));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    data.fill(of, indices[i], sample_of<float>(batch, i));
    batch.labels.data_ptr<std::int64_t>()[i] = of.labels[static_cast<std::size_t>(indices[i])];
  }
  return {fitted(batch.samples, input), batch.labels};
}

class DrawnBatches final : public BatchSource {
 public:
  DrawnBatches(const SampleShape& shape, int classes, const WorkersShare& share, const PlaceBatch& place) {
    for (int i = 0; i < kPool; ++i) {
      const auto first = static_cast<std::uint64_t>(i * share.workers + share.rank);
      pool_.push_back(
          place(drawn_batch(shape, classes, share.seed, first * static_cast<std::uint64_t>(share.batch), share.batch)));
    }
  }
  Batch batch(int number) override { return pool_[static_cast<std::size_t>(number % kPool)]; }

 private:
  std::vector<Batch> pool_;
};

class DealtBatches final : public BatchSource {
 public:
  DealtBatches(const Dataset& data, SampleShape input, const WorkersShare& share, PlaceBatch place)
      : data_(data),
        input_(std::move(input)),
        order_(data.train.count(), share.workers, share.rank, share.batch, share.seed),
        place_(std::move(place)) {}
  Batch batch(int number) override { return place_(dealt_batch(data_, data_.train, input_, order_.batch(number))); }

 private:
  const Dataset& data_;
  SampleShape input_;
  EpochOrder order_;
  PlaceBatch place_;
};

}  // namespace

std::unique_ptr<BatchSource> drawn_batches(const SampleShape& shape, int classes, const WorkersShare& share,
                                           const PlaceBatch& place) {
  return std::make_unique<DrawnBatches>(shape, classes, share, place);
}

Batch drawn_batch(const SampleShape& shape, int classes, unsigned seed, std::uint64_t first, int samples) {
  Batch batch = empty_batch(shape, samples);
  for (int i = 0; i < samples; ++i) {
    const auto index = static_cast<std::size_t>(i);
    if (shape.vocabulary > 0)
      fill_tokens(seed, first + index, sample_of<std::int64_t>(batch, index), shape.vocabulary);
    else
      fill_image(seed, first + index, sample_of<float>(batch, index));
    batch.labels.data_ptr<std::int64_t>()[i] = label_of(seed, first + index, classes);
  }
  return batch;
}

std::unique_ptr<BatchSource> dealt_batches(const Dataset& data, const SampleShape& input, const WorkersShare& share,
                                           PlaceBatch place) {
  return std::make_unique<DealtBatches>(data, input, share, std::move(place));
}

void each_test_batch(const Dataset& data, const SampleShape& input, const std::function<void(const Batch&)>& use) {
  constexpr std::int64_t kAtOnce = 500;
  const std::int64_t all = data.test.count();
  for (std::int64_t begin = 0; begin < all; begin += kAtOnce) {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(kAtOnce, all - begin)));
    std::iota(indices.begin(), indices.end(), begin);
    use(dealt_batch(data, data.test, input, indices));
  }
}

SampleShape input_for(const ModelEntry& entry, const Dataset& data) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::usage, fmt::format("{} {}", entry.name, why), "hbench list models, hbench list data");
  };
  const auto& sizes = data.shape.sizes;
  const bool series = sizes[0] == 1 && sizes[1] == 1;
  if (entry.classes < data.classes)
    refuse(fmt::format("names {} classes, and the data have {}", entry.classes, data.classes));
  if (entry.series > 0 ? !series || sizes[2] != entry.series : series)
    refuse(fmt::format("takes {}, and a sample of the data is {}",
                       entry.series > 0 ? fmt::format("series of {} numbers", entry.series) : "pictures",
                       data.shape.text()));
  if (sizes[0] != entry.channels && sizes[0] != 1)
    refuse(fmt::format("takes pictures of {} channels, and the data have {}", entry.channels, sizes[0]));
  if (series) return data.shape;
  const auto least = std::int64_t{entry.smallest_image};
  return {{entry.channels, std::max(sizes[1], least), std::max(sizes[2], least)}, 0};
}

}  // namespace hbench

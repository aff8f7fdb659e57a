#include "analysis/published/largest_batch.hpp"

#include <fmt/format.h>

#include <array>

namespace hbench {

std::span<const KnownBatch> known_batches() {
  static constexpr std::array kKnown{
      KnownBatch{"resnet50", 8192, "linear scaling of the learning rate, 5 epochs of warm-up",
                 "Goyal et al., Accurate, Large Minibatch SGD, arXiv:1706.02677, 2017"},
      KnownBatch{"resnet50", 32768, "LARS", "You et al., ImageNet Training in Minutes, ICPP 2018"},
      KnownBatch{"resnet50", 67456, "LARS, 76.2 % top-1 where 75.9 % are asked for",
                 "MLPerf Training v2.0, NVIDIA, dgxa100_n527_ngc22.04_mxnet"},
      KnownBatch{"bert_large", 65536, "LAMB; of sequences of 512 tokens 32768",
                 "You et al., Large Batch Optimization for Deep Learning, ICLR 2020"}};
  return kKnown;
}

std::string warn_of_batch(const Case& asked) {
  const auto samples = static_cast<std::int64_t>(asked.workers()) * asked.batch_per_gpu;
  const KnownBatch* largest = nullptr;
  for (const KnownBatch& known : known_batches())
    if (known.workload == asked.workload && (largest == nullptr || known.samples > largest->samples)) largest = &known;
  if (largest == nullptr || samples <= largest->samples) return "";
  return fmt::format("a step of {} samples; {} is known to converge with up to {} ({}: {})", samples, asked.workload,
                     largest->samples, largest->how, largest->source);
}

}  // namespace hbench

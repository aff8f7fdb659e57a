#include "workloads/refusal.hpp"

#include <fmt/format.h>

#include "collectives/executors/exchange.hpp"

namespace hbench {

std::string refuse_strategy(const AlgorithmRule& algorithm, const CompressorChoice& compressor,
                            const FusionChoice& fusion, const World& world, Precision precision) {
  for (const AlgorithmChoice& choice : algorithm.choices()) {
    std::string why = refuse_exchange(choice, compressor, DataType::float32, ReduceOp::sum, world);
    if (!why.empty()) return why;
  }
  if (compressor.compressor->exchange == Exchange::low_rank && fusion.fusion->varies)
    return fmt::format(
        "{} carries factors from step to step for each bucket, and the buckets of {} differ from step to step; take "
        "ddp, "
        "mg-wfbp, byteps or none",
        compressor.text(), fusion.fusion->name);
  if (precision == Precision::fp16 && (compressor.error_feedback || compressor.compressor->make_memory != nullptr))
    return fmt::format("{} carries gradients over to the next step, where fp16 may scale the loss otherwise; take bf16",
                       compressor.text());
  return {};
}

}  // namespace hbench

#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

constexpr NumberField kTensorFields[] = {{.name = "group", .standard = 8, .largest = 1024}};

constexpr NumberField kPipelineFields[] = {{.name = "stages", .standard = 4, .largest = 1024},
                                           {.name = "micro-batches", .standard = 8, .largest = 10'000},
                                           {.name = "chunks", .standard = 1, .largest = 64}};

}  // namespace

extern constinit const Method kTensor{
    .name = "tensor",
    .summary = "neighbours share each layer, and what lies between layers (sequence parallelism); goes with others",
    .citation =
        "Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, MLSys 2023, "
        "arXiv:2205.05198",
    .fields = kTensorFields,
    .divide = [](const std::vector<double>& values, ModelDivision& division) {
      division.tensor = static_cast<int>(values[0]);
    }};

extern constinit const Method kPipeline{
    .name = "pipeline",
    .summary = "stages of layers, one forward one backward, with chunks of layers interleaved; goes with others",
    .citation =
        "Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, SC 2021, "
        "arXiv:2104.04473",
    .fields = kPipelineFields,
    .divide = [](const std::vector<double>& values, ModelDivision& division) {
      division.stages = static_cast<int>(values[0]);
      division.micro_batches = static_cast<int>(values[1]);
      division.chunks = static_cast<int>(values[2]);
    }};

}  // namespace hbench

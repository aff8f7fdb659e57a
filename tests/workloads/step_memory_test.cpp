// What a step keeps on a GPU, beside published figures and peaks that were measured.

#include "workloads/step/step_memory.hpp"

#include <gtest/gtest.h>

#include <array>

#include "collectives/base/table.hpp"

namespace hbench::step_memory_test {
namespace {

const NumberBytes kFloat = number_bytes(Precision::tf32, nullptr), kHalf = number_bytes(Precision::bf16, nullptr);
constexpr double kGiB = 1024.0 * 1024 * 1024;

/// Layers whose activations the first stage of a pipeline holds, over all layers (Korthikanti et al., section 4.2.3).
double in_flight(int stages, int chunks) { return chunks > 1 ? 1 + (stages - 1) / (1.0 * stages * chunks) : 1; }

// Figure 1 of Korthikanti et al., as calculon/llm/validation.py has it: 8-way tensor parallelism, GiB.
TEST(StepMemory, OfLayersIsWhatKorthikantiEtAlPublish) {
  struct Published {
    const char* model;
    int batch, stages, chunks;
    double all, selective_and_sequence;
  };
  constexpr std::array<Published, 4> kModels{{{"gpt-22b", 4, 1, 1, 59.25, 9.5625},
                                              {"gpt3-175b", 1, 8, 3, 66.84375, 12.3515625},
                                              {"gpt-530b", 1, 35, 3, 114.0234375, 23.076171875},
                                              {"gpt-1t", 1, 64, 1, 131.25, 26.5625}}};
  for (const Published& each : kModels) {
    const TransformerShape shape = *computed_trace(each.model).shape;
    const auto gib = [&](Recomputation recomputation, bool sequence) {
      return layer_activations(shape, each.batch, kMegatronActivations, recomputation,
                               {.tensor_parallel = 8, .sequence_parallel = sequence})
                 .value /
             kGiB * in_flight(each.stages, each.chunks);
    };
    EXPECT_NEAR(gib(Recomputation::none, false) / each.all, 1, 0.01) << each.model;
    EXPECT_NEAR(gib(Recomputation::selective, true) / each.selective_and_sequence, 1, 0.01) << each.model;
  }
}

// Figure 7 of the same: percent of what tensor parallelism alone keeps.
TEST(StepMemory, OfRecomputationIsWhatKorthikantiEtAlPublish) {
  const TransformerShape shape = *computed_trace("gpt-22b").shape;
  const auto of = [&](Recomputation recomputation, bool sequence) {
    return layer_activations(shape, 4, kMegatronActivations, recomputation,
                             {.tensor_parallel = 8, .sequence_parallel = sequence})
        .value;
  };
  const double all = of(Recomputation::none, false);
  EXPECT_NEAR(100 * of(Recomputation::none, true) / all, 66.84, 2);
  EXPECT_NEAR(100 * of(Recomputation::selective, false) / all, 49.42, 2);
  EXPECT_NEAR(100 * of(Recomputation::selective, true) / all, 16.18, 1);
  EXPECT_NEAR(100 * of(Recomputation::full, true) / all, 7.64, 1);
}

// torch.cuda.max_memory_allocated in bfloat16, MiB (bench/gpu/2026-11-26-NVIDIA-H100-rates.csv; the H200 has 10,021 for
// BERT-large at 8).
TEST(StepMemory, AtItsPeakIsWhatPyTorchAllocates) {
  struct Measured {
    const char* workload;
    int batch;
    double mebibytes;
  };
  constexpr std::array<Measured, 8> kMeasured{{{"bert_base", 64, 23'520.8},
                                               {"bert_large", 8, 9'782.4},
                                               {"bert_large", 32, 25'658.4},
                                               {"gpt2_small", 4, 7'290.4},
                                               {"gpt2_small", 16, 24'152.6},
                                               {"gpt2_medium", 4, 15'771.9},
                                               {"gpt2_large", 4, 29'052.4},
                                               {"gpt2_xl", 4, 50'451.0}}};
  const TraceLibrary traces(HBENCH_SOURCE_DIR "/workloads/traces");
  for (const Measured& each : kMeasured) {
    const double peak = pytorch_peak(*traces.load(each.workload).shape, each.batch).value / 1024 / 1024;
    EXPECT_NEAR(peak / each.mebibytes, 1, 0.05) << each.workload << ' ' << each.batch;
  }
}

// The same with all numbers in bfloat16, where the peak is the optimizer's: parameters 12,852.5 MiB, and twice that for
// Adam's two moments.
TEST(StepMemory, OfBfloat16ThroughoutIsWhatPyTorchAllocates) {
  const Trace llama = TraceLibrary(HBENCH_SOURCE_DIR "/workloads/traces").load("llama_7b");
  const StepMemory memory = step_memory(llama, 1, number_bytes(Precision::bf16_true, nullptr));
  EXPECT_NEAR(memory.weights.value / 1024 / 1024, 12'852.5, 1);
  EXPECT_NEAR(memory.optimizer.value / 1024 / 1024, 25'705.0, 1);
  EXPECT_NEAR(memory.state().value / 1024 / 1024 / 51'426.2, 1, 0.001);
}

// 16 bytes for each parameter, of which the optimizer has 12 (Rajbhandari et al., ZeRO, SC 2020, section 3.1); 18 with
// gradients in float32 (Megatron-LM's docs/source/api-guide: distributed optimizer).
TEST(StepMemory, OfFrameworksWithSixteenBitWeightsIsWhatTheyPublish) {
  const Trace trace = computed_trace("gpt3-1.3b");
  const auto per_parameter = [&](const char* preset, Precision precision) {
    const StepMemory memory = step_memory(trace, 1, number_bytes(precision, &find_entry(presets(), preset, "preset")));
    return std::array{memory.weights.value / trace.elements(), memory.gradients.value / trace.elements(),
                      memory.optimizer.value / trace.elements()};
  };
  EXPECT_EQ(per_parameter("deepspeed", Precision::bf16), (std::array{2.0, 2.0, 12.0}));
  EXPECT_EQ(per_parameter("deepspeed", Precision::fp16), (std::array{2.0, 2.0, 12.0}));
  EXPECT_EQ(per_parameter("megatron-ddp", Precision::bf16), (std::array{2.0, 4.0, 12.0}));
  EXPECT_EQ(per_parameter("ddp", Precision::bf16), (std::array{4.0, 4.0, 8.0}));
  EXPECT_EQ(per_parameter("deepspeed", Precision::float32), (std::array{4.0, 4.0, 8.0}));
}

// The input of each layer, the words' scores, and no more than one layer of the rest at a time.
TEST(StepMemory, OfFullRecomputationIsThatOfItsLayersInputs) {
  const Trace trace = computed_trace("gpt:layers=40,hidden=1024,heads=8,vocab=100,seq=512,attention=plain");
  const TransformerShape& shape = *trace.shape;
  const auto of = [&](Recomputation recomputation) {
    return step_memory(trace, 4, kHalf, recomputation).activations.value;
  };
  const double tokens = 4.0 * 512, words = tokens * 100 * 6;
  const double all = tokens * (34.0 * 1024 + 5.0 * 8 * 512);
  EXPECT_NEAR(of(Recomputation::none), shape.layers * all + words, 1);
  EXPECT_NEAR(of(Recomputation::full), shape.layers * tokens * 2 * 1024 + all - tokens * 2 * 1024, 1);
  EXPECT_NEAR(of(Recomputation::selective), shape.layers * tokens * 34 * 1024 + tokens * 5 * 8 * 512, 1);
}

// The same of convolutions: the numbers that their layers write, and the state of gradient descent with momentum.
TEST(StepMemory, OfConvolutionsIsWhatPyTorchAllocates) {
  struct Measured {
    const char* workload;
    int batch;
    bool half;
    double mebibytes;
  };
  constexpr std::array<Measured, 6> kMeasured{{{"resnet50", 64, false, 5'527.2},
                                               {"resnet50", 256, true, 11'253.7},
                                               {"resnet101", 64, false, 8'073.1},
                                               {"resnet152", 64, true, 5'947.1},
                                               {"se_resnext101_32x4d", 64, true, 6'649.1},
                                               {"resnext101_32x4d", 64, true, 5'521.1}}};
  const TraceLibrary traces(HBENCH_SOURCE_DIR "/workloads/traces");
  for (const Measured& each : kMeasured) {
    const StepMemory memory = step_memory(traces.load(each.workload), each.batch, each.half ? kHalf : kFloat);
    EXPECT_NEAR(memory.total().value / 1024 / 1024 / each.mebibytes, 1, 0.06) << each.workload;
  }
}

TEST(StepMemory, GrowsWithTheBatchAndHalvesInSixteenBits) {
  for (const char* name : {"llama3-8b", "gpt3-1.3b", "bert:layers=2,hidden=64,heads=4,vocab=100,seq=16"}) {
    const Trace trace = computed_trace(name);
    const StepMemory one = step_memory(trace, 1, kHalf), two = step_memory(trace, 2, kHalf);
    EXPECT_DOUBLE_EQ(two.activations / one.activations, 2) << name;
    EXPECT_EQ(two.state(), one.state()) << name;
    EXPECT_GT(step_memory(trace, 1, kFloat).activations, one.activations) << name;
    EXPECT_GE(one.state(), trace.state()) << name;
  }
}

TEST(StepMemory, OfConvolutionsIsWhatTheirLayersWrite) {
  const Trace trace = TraceLibrary(HBENCH_SOURCE_DIR "/workloads/traces").load("resnet50");
  EXPECT_DOUBLE_EQ(step_memory(trace, 64, kFloat).activations.value, 4.0 * 64 * trace.cost->activations);
  EXPECT_DOUBLE_EQ(step_memory(trace, 64, kHalf).activations.value, 2.0 * 64 * trace.cost->activations);
  Trace unknown = trace;
  unknown.cost.reset();
  EXPECT_EQ(step_memory(unknown, 64, kHalf).activations.value, 0);
  EXPECT_EQ(step_memory(unknown, 64, kHalf).state(), unknown.state());
}

}  // namespace
}  // namespace hbench::step_memory_test

// The bytes of a predicted step: by precision, framework and recomputation.

#include "analysis/prediction/case_memory.hpp"
#include "analysis/prediction/one_gpu.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/step/step_memory.hpp"

namespace hbench::case_memory_test {
namespace {

constexpr const char* kShape = "gpt:layers=12,hidden=768,heads=12,vocab=50257,seq=1024";

/// A cluster of GPUs of 40 GB with a rate in bfloat16.
Catalog catalog() {
  Catalog catalog;
  catalog.traces["w"] = computed_trace(kShape);
  catalog.traces["w"].name = "w";
  Profile& profile = catalog.profiles["p"];
  profile.gpu_memory = Bytes(40e9);
  profile.peaks = {.float32 = 20e12, .tf32 = 150e12, .fp16 = 300e12, .bf16 = 300e12};
  profile.rates["w"] = {.samples_per_second = 100, .batch = 8, .source = "a test", .precision = "bf16"};
  return catalog;
}

Case asked(const std::string& preset = {}, const std::string& precision = {}, const std::string& recompute = {}) {
  Case asked{.workload = "w", .gpus = 8, .profile = "p", .batch_per_gpu = 8};
  asked.strategy = {.algorithm = "ring", .compressor = "none", .fusion = "ddp", .preset = preset};
  asked.training.precision = precision;
  asked.training.recompute = recompute;
  return asked;
}

double sent(const Case& asked, const Catalog& catalog) {
  double elements = 0;
  for (const GradientEvent& gradient : timeline_of(planned(asked), catalog).gradients)
    elements += static_cast<double>(gradient.elements);
  return 4 * elements / catalog.traces.at("w").elements();
}

TEST(NumberBytes, OnTheirWayAreThoseOfThePrecisionAndTheFramework) {
  const Catalog known = catalog();
  constexpr double kRounded = 1e-3;
  EXPECT_EQ(sent(asked(), known), 4);
  EXPECT_EQ(sent(asked("", "bf16"), known), 4) << "autocast's gradients are float32";
  EXPECT_EQ(sent(asked("ddp", "bf16"), known), 4) << "a framework that says nothing changes nothing";
  EXPECT_NEAR(sent(asked("", "bf16-true"), known), 2, kRounded);
  EXPECT_NEAR(sent(asked("deepspeed", "fp16"), known), 2, kRounded);
  EXPECT_NEAR(sent(asked("deepspeed"), known), 2, kRounded) << "the rate is bfloat16's";
  EXPECT_EQ(sent(asked("deepspeed", "tf32"), known), 4);
  EXPECT_EQ(sent(asked("megatron-ddp", "bf16"), known), 4);
  EXPECT_NEAR(sent(asked("megatron-ddp", "fp16"), known), 2, kRounded);
  Case compressed = asked("deepspeed");
  compressed.strategy.compressor = "topk:0.01";
  EXPECT_EQ(sent(compressed, known), 4) << "compressors code float32";
  EXPECT_EQ(timeline_of(planned(compressed), known).gathered, 0.5) << "but parameters are gathered in 16 bits";
}

TEST(TimelineOf, RepeatsTheForwardPassOfItsLayersWithFullRecomputation) {
  const Catalog known = catalog();
  const StepTimeline all = timeline_of(planned(asked()), known),
                     again = timeline_of(planned(asked("", "", "full")), known);
  const double share = recomputed_share(known.traces.at("w"), Recomputation::full);
  EXPECT_GT(share, 0.6);
  EXPECT_LT(share, 0.9) << "the output layer is a quarter of this model";
  EXPECT_EQ(again.forward, all.forward);
  EXPECT_NEAR(again.backward / all.backward, 1 + share * (all.forward / all.backward), 1e-12);
}

TEST(RefuseMemory, NamesTheLargestBatchThatFitsAndWhatElseWould) {
  const Catalog known = catalog();
  EXPECT_THAT(refuse_memory(planned(asked()), known), IsEmpty());
  Case large = asked();
  large.batch_per_gpu = 512;
  const std::string why = refuse_memory(planned(large), known);
  EXPECT_THAT(why, HasSubstr("activations of 512 samples"));
  EXPECT_THAT(why, HasSubstr("give --batch "));
  EXPECT_THAT(why, HasSubstr("or --recompute full"));
  const std::size_t at = why.find("--batch ") + 8;
  large.batch_per_gpu = std::stoi(why.substr(at));
  EXPECT_THAT(refuse_memory(planned(large), known), IsEmpty());
  ++large.batch_per_gpu;
  EXPECT_THAT(refuse_memory(planned(large), known),
              HasSubstr("give --batch " + std::to_string(large.batch_per_gpu - 1)));
}

TEST(RefuseMemory, OfAModelThatDoesNotFitNamesFewerBits) {
  Catalog known = catalog();
  known.profiles["p"].gpu_memory = Bytes(1.9e9);
  EXPECT_THAT(refuse_memory(planned(asked()), known), HasSubstr("take 2 GB"));
  known.profiles["p"].gpu_memory = Bytes(1.8e9);
  Case one = asked();
  one.batch_per_gpu = 1;
  EXPECT_THAT(refuse_memory(planned(one), known), HasSubstr("--precision bf16-true takes 1 GB"));
  known.profiles["p"].gpu_memory = Bytes(0.5e9);
  EXPECT_THAT(refuse_memory(planned(one), known), Not(HasSubstr("bf16-true")));
}

TEST(MemoryOf, IsSharedOutAsTheMethodSays) {
  const Catalog known = catalog();
  const auto kept = [&](const char* method) {
    Case step = asked();
    step.strategy.method = method;
    return memory_of(planned(step), known);
  };
  const StepMemory all = kept("");
  EXPECT_NEAR(kept("zero:1").optimizer / all.optimizer, 1.0 / 8, 1e-12);
  EXPECT_EQ(kept("zero:1").gradients, all.gradients);
  EXPECT_NEAR(kept("zero:2").gradients / all.gradients, 1.0 / 8, 1e-12);
  EXPECT_EQ(kept("zero:2").weights, all.weights);
  EXPECT_NEAR(kept("hsdp:2").optimizer / all.optimizer, 1.0 / 2, 1e-12);
  EXPECT_EQ(kept("hsdp:8").total(), kept("fsdp").total());
  EXPECT_EQ(kept("local-sgd:8").total(), all.total());
  // A copy of all parameters, and the outer momentum, in float32.
  EXPECT_NEAR((kept("diloco:8").optimizer - all.optimizer).value, 8 * known.traces.at("w").elements(), 1);
  EXPECT_EQ(kept("diloco:8").weights, all.weights);
  EXPECT_EQ(kept("diloco:8:2").total(), kept("diloco:8").total());
  EXPECT_EQ(kept("diloco:8:2:1").gradients, 2 * all.gradients) << "deltas lie apart";
}

TEST(MemoryOf, HasWhatErrorFeedbackCarriesOverInFloat32) {
  const Catalog known = catalog();
  const auto optimizer_with = [&](const char* compressor) {
    Case step = asked();
    step.strategy.compressor = compressor;
    return memory_of(planned(step), known).optimizer.value;
  };
  const double plain = optimizer_with("none"), numbers = 4 * known.traces.at("w").elements();
  EXPECT_NEAR(optimizer_with("ef:onebit") - plain, numbers, 1);
  EXPECT_NEAR(optimizer_with("ef2:onebit") - plain, numbers * (1 + 1 / 8.0), 1) << "and of its own sums";
  EXPECT_NEAR(optimizer_with("minmax8"), plain, 1);
}

TEST(MemoryOf, HasTheNumbersOfTheOptimizerThatIsAskedFor) {
  const Catalog known = catalog();
  const auto kept = [&](const char* optimizer) {
    Case step = asked();
    step.training.optimizer = optimizer;
    return memory_of(planned(step), known);
  };
  EXPECT_EQ(kept("adamw").optimizer, kept("").optimizer) << "transformers are trained with Adam";
  EXPECT_NEAR(kept("momentum").optimizer / kept("").optimizer, 0.5, 1e-12);
  EXPECT_EQ(kept("sgd").optimizer, Bytes(0));
  EXPECT_EQ(kept("sgd").weights, kept("").weights);
}

TEST(TimelineOf, EndsWithTheOptimizerThatIsAskedForWhereNobodyRecordedIt) {
  Catalog known = catalog();
  Case step = asked();
  const StepTimeline usual = timeline_of(planned(step), known);
  EXPECT_EQ(usual.update, Seconds(0));
  step.training.optimizer = "adam";
  EXPECT_EQ(timeline_of(planned(step), known).step(), usual.step()) << "no rate of the GPU's memory is known";
  known.profiles["p"].memory_rate = BytesPerSecond(1e12);
  // In float32 Adam reads a parameter, its gradient and two means, and writes all but the gradient.
  const double elements = known.traces["w"].elements();
  const StepTimeline adam = timeline_of(planned(step), known);
  EXPECT_NEAR(adam.update.value, 28 * elements / 1e12, 1e-12);
  EXPECT_NEAR(adam.step().value, usual.step().value, 1e-12) << "the rate is that of a step with Adam";
  step.training.optimizer = "sgd";
  EXPECT_NEAR(timeline_of(planned(step), known).update.value, 12 * elements / 1e12, 1e-12);
  EXPECT_NEAR(timeline_of(planned(step), known).passes().value, adam.passes().value, 1e-12);
  known.traces["w"].timeline.update = known.traces["w"].timeline.backward;
  const StepTimeline recorded = timeline_of(planned(step), known);
  step.training.optimizer = "";
  EXPECT_EQ(recorded.update, timeline_of(planned(step), known).update) << "what was recorded stays";
}

TEST(RefuseMemory, NamesTheMethodWithWhichTheStateHasRoom) {
  Catalog known = catalog();
  known.profiles["p"].gpu_memory = Bytes(1.2e9);
  EXPECT_THAT(refuse_memory(planned(asked()), known), HasSubstr("plain data parallelism has all of them on each GPU"));
  EXPECT_THAT(refuse_memory(planned(asked()), known), HasSubstr("--method zero:"));
  Case alone = asked();
  alone.strategy.method = "local-sgd:8";
  EXPECT_THAT(refuse_memory(planned(alone), known),
              HasSubstr("replicas of several GPUs that train alone are not modelled"));
  Case sharded = asked();
  sharded.strategy.method = "zero:1";
  known.profiles["p"].gpu_memory = Bytes(0.3e9);
  EXPECT_THAT(refuse_memory(planned(sharded), known), HasSubstr("zero:1 has so much of them on each of 8 GPUs"));
}

}  // namespace
}  // namespace hbench::case_memory_test

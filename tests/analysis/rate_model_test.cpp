// Rates of one GPU: which stated one is taken, and what the model says where nobody measured.

#include "analysis/prediction/rate_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "analysis/prediction/validate_curves.hpp"
#include "analysis/statistics/statistics.hpp"
#include "collectives/base/file.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::rate_model_test {
namespace {

const std::filesystem::path kSource(HBENCH_SOURCE_DIR);

const RateModel& model() {
  static const RateModel kModel(ProfileLibrary(kSource / "cluster-profiles").gpus());
  return kModel;
}
const TraceLibrary& traces() {
  static const TraceLibrary kTraces(kSource / "workloads/traces");
  return kTraces;
}
const std::vector<RateValidation>& validations() {
  static const std::vector<RateValidation> kAll = validate_rates(model(), traces());
  return kAll;
}
const Profile& gpu(std::string_view name) { return *std::ranges::find(model().gpus(), name, &Profile::gpu); }

Profile simple_gpu() {
  Profile gpu;
  gpu.gpu = "simple";
  gpu.memory_rate = BytesPerSecond(1e12);
  gpu.peaks = {.float32 = 1e13, .tf32 = 1e14, .fp16 = 2e14, .bf16 = 2e14};
  return gpu;
}

Trace simple_trace(WorkloadKind kind = WorkloadKind::decoder) {
  Trace trace = traces().load("gpt2_small");
  trace.name = "simple";
  trace.timeline.batch = 32;
  trace.shape.reset();
  trace.cost = WorkloadCost{.kind = kind, .flops = 1e12, .activations = 1e8};
  return trace;
}

TEST(RateModel, TheLeastTimeIsThatOfThePeakAndOfMemory) {
  // 1e12 / 2e14, and (0.003 x 1e12 + 8 x 1e8) numbers of two bytes at 1e12 B/s.
  EXPECT_NEAR(least_time(simple_gpu(), *simple_trace().cost, "bf16")->value, 5e-3 + 7.6e-3, 1e-12);
  EXPECT_NEAR(least_time(simple_gpu(), *simple_trace().cost, "tf32")->value, 1e-2 + 15.2e-3, 1e-12);
  const WorkloadCost convolutions = *simple_trace(WorkloadKind::convolutions).cost;
  EXPECT_NEAR(least_time(simple_gpu(), convolutions, "float32")->value, 5e-2 + 15.2e-3, 1e-12)
      << "half of the multiplications";
  Profile old = simple_gpu();
  old.peaks.bf16 = 0;
  EXPECT_FALSE(least_time(old, convolutions, "bf16")) << "a GPU without that precision";
}

TEST(RateModel, AStepMovesItsParametersOnce) {
  const Trace trace = simple_trace();
  const double sample = least_time(simple_gpu(), *trace.cost, "bf16")->value, moved = 32 * trace.elements() / 1e12;
  EXPECT_NEAR(least_step_time(simple_gpu(), trace, 1, "bf16")->value, sample + moved, 1e-12);
  EXPECT_NEAR(least_step_time(simple_gpu(), trace, 8, "bf16")->value, sample + moved / 8, 1e-12);
}

TEST(RateModel, AGpuThatIsTwiceAsFastInEverythingIsTwiceAsFast) {
  Profile measured = simple_gpu();
  measured.stated_rates["simple"] = {{.samples_per_second = 100, .batch = 32, .precision = "bf16"}};
  Profile twice = simple_gpu();
  twice.gpu = "twice";
  twice.memory_rate = twice.memory_rate * 2;
  for (double GpuPeaks::*peak : {&GpuPeaks::tf32, &GpuPeaks::fp16, &GpuPeaks::bf16}) twice.peaks.*peak *= 2;
  const auto rate = RateModel({measured, twice}).rate(twice, simple_trace(), "bf16");
  ASSERT_TRUE(rate);
  EXPECT_NEAR(rate->samples_per_second, 200, 1e-9);
  EXPECT_TRUE(rate->modelled);
  EXPECT_GT(rate->factor, kUsualRateFactor);
  EXPECT_THAT(rate->source, HasSubstr("modelled: as efficient as measured on simple"));
}

// What cluster-profiles/README.md says of every GPU of the catalogue: of its family where anybody measured there.
TEST(RateModel, TakesTheEfficiencyOfTheFamilyWhereAnyOfItIsMeasured) {
  int found = 0;
  for (const Profile& each : model().gpus())
    for (const std::string& name : traces().names()) {
      const Trace trace = traces().load(name);
      std::vector<std::string> measured;
      for (const Profile& other : model().gpus()) {
        const auto rates = telling_rates(other, name, "");
        if (family_of(other) == family_of(each) &&
            std::ranges::any_of(rates, [&](const GpuRate* rate) { return other.peaks.at(rate->precision) > 0; }))
          measured.push_back(other.gpu);
      }
      const auto rate = model().modelled(each, trace, usual_precision(each, trace.cost->kind));
      if (measured.empty() || !rate) continue;
      EXPECT_THAT(rate->source, HasSubstr(fmt::format("as measured on {}, with", fmt::join(measured, ", "))))
          << each.gpu << ' ' << name;
      ++found;
    }
  EXPECT_GT(found, 80);
}

TEST(RateModel, KnowsFourBlackwellsAsOneFamilyAndNoFamilyOfOne) {
  std::map<std::string_view, int> families;
  for (const Profile& each : model().gpus())
    if (!each.gpu_family.empty()) ++families[each.gpu_family];
  EXPECT_EQ(families["blackwell"], 4) << "b200, gb200, b300, gb300";
  for (const auto& [family, count] : families) EXPECT_GT(count, 1) << family << " is no family";
  // Of B300 nobody measured ResNet-50, but its TF32 peak and its memory are those of B200.
  const Trace resnet = traces().load("resnet50");
  const auto measured = model().rate(gpu("b200"), resnet), modelled = model().rate(gpu("b300"), resnet);
  EXPECT_FALSE(measured->modelled);
  EXPECT_TRUE(modelled->modelled);
  EXPECT_NEAR(modelled->samples_per_second / measured->samples_per_second, 1, 0.03);
}

TEST(RateModel, WhatIsBoundByTheHostOrOfOtherSoftwareTellsNothingOfTheSame) {
  Profile measured = simple_gpu();
  measured.stated_rates["simple"] = {
      {.samples_per_second = 1, .batch = 64, .precision = "bf16", .unlike = "bound by the host"},
      {.samples_per_second = 9, .batch = 64, .precision = "bf16", .software = "another"},
      {.samples_per_second = 50, .batch = 4, .precision = "bf16"},
      {.samples_per_second = 100, .batch = 32, .precision = "bf16"}};
  Profile other = simple_gpu();
  other.gpu = "other";
  EXPECT_NEAR(RateModel({measured}).rate(other, simple_trace(), "bf16")->samples_per_second, 100, 1e-9)
      << "of the largest batch";
}

TEST(RateModel, AStatedRateOfThatPrecisionIsTaken) {
  const Trace resnet = traces().load("resnet50"), bert = traces().load("bert_large");
  const auto rate = [&](const char* name, const Trace& trace, const char* precision) {
    return model().rate(gpu(name), trace, precision);
  };
  EXPECT_EQ(rate("h200", resnet, "")->samples_per_second, 2379) << "TF32, as PyTorch does by itself";
  EXPECT_EQ(rate("h200", resnet, "bf16")->samples_per_second, 4704);
  EXPECT_EQ(rate("h200", resnet, "fp16")->samples_per_second, 4704) << "both forms of 16 bits run alike";
  EXPECT_FALSE(rate("h200", resnet, "bf16")->modelled);
  EXPECT_TRUE(rate("h200", resnet, "float32")->modelled);
  EXPECT_FALSE(rate("v100", resnet, "bf16")) << "it has none";
  EXPECT_EQ(rate("h200", bert, "")->samples_per_second, 266.7) << "bfloat16, as transformers are trained";
  EXPECT_EQ(rate("h100-sxm", bert, "")->samples_per_second, 249) << "measured with just this workload";
  EXPECT_EQ(rate("rtx2080ti", bert, "")->samples_per_second, 49) << "measured, if in float32";
  EXPECT_TRUE(rate("rtx2080ti", bert, kUsualPrecision)->modelled) << "where GPUs are compared, all in 16 bits";
  EXPECT_TRUE(rate("h200", traces().load("llama_7b"), "")->modelled) << "what was measured there is of other software";
}

TEST(RateModel, EveryGpuHasARateForEveryWorkload) {
  for (const Profile& each : model().gpus())
    for (const std::string& name : traces().names()) {
      const auto rate = model().rate(each, traces().load(name));
      ASSERT_TRUE(rate) << each.gpu << ' ' << name;
      EXPECT_GT(rate->batch, 0) << each.gpu << ' ' << name;
      EXPECT_FALSE(rate->source.empty()) << each.gpu << ' ' << name;
    }
}

TEST(RateModel, IsATenthToAFifthOffOnGpusThatItDoesNotKnow) {
  std::map<WorkloadKind, std::vector<double>> errors;
  std::vector<double> all;
  int held = 0;
  for (const RateValidation& each : validations()) {
    all.push_back(std::abs(each.error()));
    errors[each.kind].push_back(all.back());
    held += each.is_held() ? 1 : 0;
  }
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  ASSERT_GT(all.size(), 100U);
  EXPECT_LT(mean(all), 0.17);
  EXPECT_LT(mean(errors[WorkloadKind::encoder]), 0.12);
  EXPECT_LT(mean(errors[WorkloadKind::decoder]), 0.12);
  const double share = held / static_cast<double>(all.size());
  EXPECT_GT(share, 0.85);
  EXPECT_LT(share, 0.95);
}

// The constants of `usual_use`: medians of what the rates in the tree show, and bands of workloads that nobody
// measured.
TEST(RateModel, UsesGpusAsOthersOfItsKindDo) {
  std::map<WorkloadKind, std::map<std::string, std::vector<double>>> efficiencies;
  int held = 0, count = 0;
  for (const Profile& each : model().gpus())
    for (const std::string& name : traces().names()) {
      Trace trace = traces().load(name);
      for (const GpuRate* rate : telling_rates(each, name, "")) {
        if (rate->batch > 0) trace.timeline.batch = rate->batch;
        const auto time = least_step_time(each, trace, trace.timeline.batch, rate->precision);
        if (!time) continue;
        efficiencies[trace.cost->kind][name].push_back(rate->samples_per_second * time->value);
        Trace unknown = trace;
        unknown.name = "a model that nobody measured";
        const auto modelled = model().modelled(each, unknown, rate->precision);
        EXPECT_EQ(modelled->factor, usual_use(trace.cost->kind).unknown_factor);
        held += RateValidation{each.gpu, name, trace.cost->kind, *rate, *modelled}.is_held() ? 1 : 0;
        ++count;
      }
    }
  for (const auto& [kind, workloads] : efficiencies) {
    std::vector<double> medians;
    for (const auto& [name, values] : workloads) medians.push_back(median(values));
    EXPECT_NEAR(usual_use(kind).efficiency / median(medians), 1, 0.1) << to_string(kind) << ' ' << median(medians);
  }
  EXPECT_GT(held, 0.85 * count);
}

// A file of `workloads/traces/measure` is data of this model: what cites one is what stands in it.
TEST(MeasuredRates, ThatWereMeasuredHereStandInTheirFile) {
  int found = 0;
  for (const Profile& each : model().gpus())
    for (const auto& [workload, rates] : each.stated_rates)
      for (const GpuRate& rate : rates) {
        const std::size_t begin = rate.source.find("bench/gpu/");
        if (begin == std::string::npos) continue;
        const std::string file = rate.source.substr(begin, rate.source.find(')', begin) - begin);
        const std::string text = read_file(kSource / file);
        const std::string row = "\n" + workload + "," + rate.precision;
        bool is_there = false;
        for (std::size_t at = text.find(row); at != std::string::npos; at = text.find(row, at + 1)) {
          std::istringstream fields(text.substr(at + 1, text.find('\n', at + 1) - at - 1));
          std::vector<std::string> columns;
          for (std::string field; std::getline(fields, field, ',');) columns.push_back(field);
          is_there |= std::stoi(columns.at(2)) == rate.batch &&
                      std::abs(std::stod(columns.at(5)) / rate.samples_per_second - 1) < 1e-3;
        }
        EXPECT_TRUE(is_there) << each.gpu << ' ' << workload << ' ' << rate.samples_per_second;
        ++found;
      }
  EXPECT_GT(found, 20);
}

}  // namespace
}  // namespace hbench::rate_model_test

#include "example_results.hpp"

#include <fmt/format.h>

namespace hbench {

Case example_case(Evidence evidence) {
  return {.evidence = evidence,
          .workload = "resnet50",
          .gpus = 4,
          .strategy = {.algorithm = "ps",
                       .placement = "greedy",
                       .servers = 3,
                       .server_mode = "dedicated",
                       .compressor = "fp16",
                       .fusion = "horovod:64MiB:5ms",
                       .overlap = false},
          .profile = "local",
          .batch_per_gpu = 32,
          .image_size = 224,
          .single_gpu_rate = 61.25,
          .implementation = "engine/1",
          .source = "O'Neil; \"quoted\"\nsecond line"};
}

std::vector<Sample> steps(const std::vector<std::vector<std::vector<double>>>& steps) {
  std::vector<Sample> samples;
  for (int launch = 0; launch < std::ssize(steps); ++launch)
    for (int iteration = 0; iteration < std::ssize(steps[launch]); ++iteration)
      for (int rank = 0; rank < std::ssize(steps[launch][iteration]); ++rank)
        samples.push_back({.launch = launch,
                           .rank = rank,
                           .iteration = iteration,
                           .metric = "step_seconds",
                           .value = steps[launch][iteration][rank],
                           .unit = "s"});
  return samples;
}

Sample figure(std::string metric, double value) { return {.metric = std::move(metric), .value = value, .unit = "x"}; }

CaseResult example_result(int number, int count) {
  CaseResult result{.asked = example_case()};
  result.asked.batch_per_gpu = 100 + number;
  for (int i = 0; i < count; ++i)
    result.samples.push_back({.launch = i / 3,
                              .rank = i % 4,
                              .iteration = i,
                              .warmup = i % 5 == 0,
                              .metric = i % 2 == 0 ? "step_seconds" : "ledger/wait",
                              .value = number + i / 7.0,
                              .unit = i % 2 == 0 ? "s" : "ms"});
  return result;
}

std::string text_of(const CaseResult& result) {
  std::string text =
      fmt::format("{} {} '{}' {} '{}' {}\n", result.asked.key(), result.asked.implementation, result.asked.source,
                  result.status == CaseStatus::done ? "done" : "failed", result.failure, result.exit_code);
  for (const Sample& sample : result.samples)
    text += fmt::format("  {} {} {} {} {} {} {}\n", sample.launch, sample.rank, sample.iteration, sample.warmup,
                        sample.metric, sample.value, sample.unit);
  return text;
}

std::vector<std::string> texts_of(const std::vector<CaseResult>& results) {
  std::vector<std::string> texts;
  for (const CaseResult& result : results) texts.push_back(text_of(result));
  return texts;
}

}  // namespace hbench

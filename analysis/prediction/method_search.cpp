#include "analysis/prediction/method_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hbench {
namespace {

constexpr int kMostStages = 16;
constexpr std::array kMicroBatches{2, 4, 8};  ///< for each stage
constexpr std::array kChunks{1, 2, 4};        ///< of layers on each stage

std::vector<std::string> pipelines(int stages) {
  if (stages == 1) return {""};
  std::vector<std::string> texts;
  for (const int each : kMicroBatches)
    for (const int chunks : kChunks) texts.push_back(fmt::format("pipeline:{}:{}:{}", stages, stages * each, chunks));
  return texts;
}

/// Adds a model that is divided among `ranks` GPUs, whose replicas share the optimizer's state where there are several.
void add_divided(const std::string& text, int ranks, int gpus, std::vector<std::string>& methods) {
  methods.push_back(text);
  if (gpus > ranks) methods.push_back(text + "+zero:1");
}

}  // namespace

std::vector<std::string> methods_to_search(int gpus, int gpus_per_domain) {
  std::vector<std::string> methods{"synchronous", "zero:1", "zero:2", "fsdp", "fsdp-keep"};
  const int within = std::min(gpus, gpus_per_domain);
  if (gpus > within && gpus % within == 0 && within > 1)
    for (const char* method : {"hsdp", "hpz"}) methods.push_back(fmt::format("{}:{}", method, within));
  for (int tensor = 1; tensor <= within; tensor *= 2)
    for (int stages = 1; stages <= kMostStages && stages * tensor <= gpus; stages *= 2) {
      if (stages * tensor == 1 || gpus % (stages * tensor) != 0) continue;
      for (const std::string& pipeline : pipelines(stages)) {
        const std::string group = tensor > 1 ? fmt::format("tensor:{}", tensor) : "";
        add_divided(group + (group.empty() || pipeline.empty() ? "" : "+") + pipeline, stages * tensor, gpus, methods);
      }
    }
  return methods;
}

}  // namespace hbench

#include "bench/sweep/prediction_options.hpp"

#include <algorithm>
#include <array>

#include "analysis/prediction/request.hpp"
#include "bench/command/command_line.hpp"
#include "bench/command/common_options.hpp"
#include "bench/sweep/options.hpp"
#include "collectives/base/text.hpp"

namespace hbench {

void add_strategy_options(Arguments& app, PredictionRequest& request, const char* gpus) {
  app.add_parsed("--gpus", request.gpus, parse_gpu_range, "GPU counts: 1..256 doubles, 1..12:1 counts, 1,2,4 lists",
                 gpus);
  app.add_list("--algorithm", request.algorithms, "algorithms (comma list; default: ring)");
  app.add_list("--compressor", request.compressors, "compressors (comma list)");
  add_method_option(app, request);
  app.add_list(
      "--preset", request.presets,
      "frameworks, instead of the usual algorithms (comma list; default: ddp, with --algorithm ps tf-ps or mxnet-ps)");
  add_step_options(app, request);
  add_precision_option(app, request, "as the workload is usually trained");
}

std::string strategy_flags(const Call& call) {
  constexpr std::array<std::string_view, 13> kFlags{
      "--algorithm",  "--compressor",   "--method",          "--preset",           "--batch",
      "--accumulate", "--global-batch", "--single-gpu-rate", "--single-node-rate", "--rate",
      "--recompute",  "--optimizer",    "--precision"};
  std::string words;
  bool value = false;  // of a flag of these, whose name was the word before
  for (const std::string& word : call.arguments) {
    const bool flag = std::ranges::any_of(kFlags, [&](std::string_view each) { return is_flag(word, each); });
    if (flag || value) words += ' ' + shell_word(word);
    value = flag && word.find('=') == word.npos;
  }
  return words;
}

void add_network_options(Arguments& app, PredictionRequest& request) {
  request.workloads = {"vgg16", "resnet50"};
  request.profiles = {"aws-p3-25gbe"};
  request.compressors = {"none", "fp16"};
  add_workloads(app, request.workloads);
  add_strategy_options(app, request, "16..128");
  app.add_option("--profile", request.profiles.front(),
                 "the cluster whose nodes are kept while the rate of its network changes");
}

void add_catalogue_options(Arguments& app, CatalogueTexts& texts, const std::string& where) {
  app.add_option("--gpu", texts.gpu, where + "only these GPUs (comma list; h100 means h100-pcie too)");
  app.add_option("--provider", texts.provider, where + "only of these, such as aws (comma list)");
  app.add_option("--max-price", texts.max_price,
                 where + "only where one GPU costs at most so much an hour, such as 5usd; no currency is converted");
  app.add_option("--min-bandwidth", texts.min_bandwidth,
                 where + "only where a GPU's share of its node's NICs is at least so much, such as 100Gbit/s");
}

}  // namespace hbench

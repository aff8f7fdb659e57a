#include "analysis/prediction/crossover.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/prediction/gpu_range.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/verb.hpp"
#include "bench/command/verbosity.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/document_output.hpp"
#include "bench/sweep/local_machine.hpp"
#include "bench/sweep/options.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/flag_values.hpp"
#include "reports/prediction/crossover.hpp"

namespace hbench {
namespace {

struct Texts {
  std::string workloads = "vgg16,resnet50", gpus = "16..128", bandwidths, profile = "aws-p3-25gbe", presets;
  std::optional<std::string> algorithms;
  std::string compressors = "none,fp16";
  std::string collective, sizes = "1K..256M";
};

constexpr const char* kUsualAlgorithms = "ring,ps";
/// In Gbit/s of a node: Ethernet and InfiniBand as they are sold.
constexpr const char* kUsualBandwidths = "1,2.5,5,10,25,50,100,200,400";

Crossover of_collectives(const Texts& texts, const Data& data) {
  std::string name = texts.collective;
  std::ranges::replace(name, '_', '-');
  if (parse_collective_kind(name) != CollectiveKind::all_reduce)
    throw Error(ExitCode::usage, fmt::format("--collective {}: its algorithms are not compared", texts.collective),
                "all_reduce is; hbench collective times the others");
  return all_reduce_crossover(
      data.profiles.load(texts.profile), parse_gpu_range(texts.gpus),
      texts.bandwidths.empty() ? std::vector<BytesPerSecond>() : parse_bandwidths(texts.bandwidths),
      parse_message_sizes(texts.sizes), interrupted);
}

Crossover of_training(const Texts& texts, PredictionRequest request, const Data& data, Verbosity verbosity) {
  request.workloads = split_list(texts.workloads, "--workload");
  request.gpus = parse_gpu_range(texts.gpus);
  request.profiles = {texts.profile};
  request.compressors = split_list(texts.compressors, "--compressor");
  if (!texts.presets.empty()) request.presets = split_list(texts.presets, "--preset");
  // Frameworks take the place of the usual algorithms; of those that are named they do not.
  if (texts.presets.empty() || texts.algorithms)
    request.algorithms = split_list(texts.algorithms.value_or(kUsualAlgorithms), "--algorithm");
  Progress progress(0, verbosity);
  return training_crossover(request, parse_bandwidths(texts.bandwidths.empty() ? kUsualBandwidths : texts.bandwidths),
                            data, simulation_means(progress));
}

ExitCode run_crossover(const Call& call) {
  Texts texts;
  PredictionRequest request;
  DocumentOutput output;
  Verbosity verbosity = Verbosity::usual;
  Arguments app(
      "Maps which strategy is the fastest over GPUs and bandwidth, or which all-reduce over ranks and message size, by "
      "simulation.",
      "hbench crossover");
  app.footer(
      "Examples:\n  hbench crossover\n"
      "  hbench crossover --workload bert_large --preset horovod,byteps --profile hkbu-100gbib --out map.html\n"
      "  hbench crossover --collective all_reduce --bytes 1K..256M --gpus 8..128\n"
      "  hbench crossover --collective all_reduce --bytes 64K,1M,16M --gpus 32 --bandwidth 10..400\n"
      "Names: hbench list workloads|profiles|algorithms|compressors|presets");
  app.add_option("--workload", texts.workloads, "timelines, or files of your own (comma list)")->capture_default_str();
  app.add_option("--gpus", texts.gpus, "GPU counts: 1..256 doubles, 1..12:1 counts, 1,2,4 lists")
      ->capture_default_str();
  app.add_option("--bandwidth", texts.bandwidths,
                 fmt::format("Gbit/s that a node's network carries: 1..400 doubles, 1,2.5,10 lists (default: {})",
                             kUsualBandwidths));
  app.add_option("--algorithm", texts.algorithms,
                 fmt::format("algorithms (comma list; default: {})", kUsualAlgorithms));
  app.add_option("--compressor", texts.compressors, "compressors (comma list)")->capture_default_str();
  app.add_option("--preset", texts.presets, "frameworks, instead of the usual algorithms (comma list)");
  app.add_option("--profile", texts.profile, "the cluster whose nodes are kept while the rate of its network changes")
      ->capture_default_str();
  app.add_option("--batch", request.batch, "samples per GPU and step")->check(in_range(1, 1'000'000));
  app.add_option("--single-gpu-rate", request.single_gpu_rate, "samples/s of one GPU")->check({check_rate, ""});
  Option* collective =
      app.add_option("--collective", texts.collective, "all_reduce: single collectives in place of training");
  app.add_option("--bytes", texts.sizes, "message sizes: 1K..256M times four, 64K,1M lists")
      ->capture_default_str()
      ->needs(collective);
  output.add_options(app);
  add_verbosity(app, verbosity);
  if (app.parse(call)) return ExitCode::good;
  output.check();
  const Data data = load_data();
  catch_interrupts();
  const Crossover crossover =
      texts.collective.empty() ? of_training(texts, std::move(request), data, verbosity) : of_collectives(texts, data);
  output.deliver(crossover_document(crossover), [&] { return crossover_json(crossover); });
  return ExitCode::good;
}

}  // namespace

extern const Verb kCrossover;
constinit const Verb kCrossover{
    .name = "crossover", .summary = "map which strategy is the fastest where", .run = run_crossover};

}  // namespace hbench

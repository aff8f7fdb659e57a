#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/bandwidth/bandwidth.hpp"
#include "analysis/bandwidth/crossover.hpp"
#include "bench/output/feature.hpp"
#include "bench/sweep/prediction_options.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "reports/bandwidth/bandwidth.hpp"

namespace hbench {
namespace {

/// In Gbit/s of a node: Ethernet and InfiniBand as they are sold.
constexpr const char* kUsualBandwidths = "1,2.5,5,10,25,50,100,200,400";

CollectiveKind compared_collective(const std::string& text) {
  std::string name = text;
  std::ranges::replace(name, '_', '-');
  const CollectiveKind kind = parse_collective_kind(name);
  if (kind == CollectiveKind::all_reduce) return kind;
  throw Error(ExitCode::usage, fmt::format("--collective {}: its algorithms are not compared", text),
              "all_reduce is; hbench collective times the others");
}

ExitCode run_bandwidth(const Call& call) {
  PredictionRequest request;
  double efficiency = 0;
  bool strategies = false;
  std::optional<CollectiveKind> single;
  std::vector<BytesPerSecond> bandwidths;
  std::vector<std::int64_t> sizes;
  DocumentOutput output;
  Verbosity verbosity = Verbosity::usual;
  Arguments app(
      "Says what the network between nodes must carry for training to reach an efficiency, and below which rate a "
      "compressor pays; or maps which strategy, or which all-reduce, is the fastest where. By simulation.",
      "hbench bandwidth");
  app.footer(
      "Examples:\n  hbench bandwidth\n"
      "  hbench bandwidth --workload vgg16 --gpus 64 --target 80% --algorithm ring --compressor none,fp16,topk\n"
      "  hbench bandwidth --workload resnet101 --preset ddp,byteps --profile aws-p3dn-tcp --out bandwidth.html\n"
      "  hbench bandwidth --strategies --workload bert_large --preset horovod,byteps --profile hkbu-100gbib\n"
      "  hbench bandwidth --collective all_reduce --bytes 1K..256M --gpus 8..128\n"
      "Names: hbench list workloads|profiles|algorithms|compressors|presets");
  add_network_options(app, request);
  Option* target = app.add_parsed("--target", efficiency, parse_target, "efficiency to reach, below 100%", "90%");
  Option* map = app.add_flag("--strategies", strategies,
                             "map the fastest strategy over GPUs and bandwidth (default: of ring and ps)")
                    ->excludes(target);
  Option* collective =
      app.add_parsed("--collective", single, compared_collective,
                     "all_reduce: map the fastest algorithm of single collectives over ranks and message size")
          ->excludes(target)
          ->excludes(map);
  app.add_parsed("--bandwidth", bandwidths, parse_bandwidths,
                 fmt::format("of maps: Gbit/s that a node's network carries: 1..400 doubles, 1,2.5,10 lists (default: "
                             "{})",
                             kUsualBandwidths))
      ->excludes(target);
  app.add_parsed("--bytes", sizes, parse_message_sizes, "message sizes: 1K..256M times four, 64K,1M lists", "1K..256M")
      ->needs(collective);
  output.add_options(app);
  add_verbosity(app, verbosity);
  if (app.parse(call)) return ExitCode::good;
  output.check();
  if (!strategies && !single && !bandwidths.empty())
    throw Error(ExitCode::usage, "--bandwidth is of a map", "add --strategies or --collective all_reduce");
  if (!strategies && !single) {
    // A map compares with servers.
    request.rings_alone = true;
    const auto answer = predicted(verbosity, [&](const Data& data, const SimulationMeans& means) {
      return required_bandwidth(request, efficiency, data, means);
    });
    output.deliver(bandwidth_document(answer), [&] { return bandwidth_json(answer); });
    return ExitCode::good;
  }
  if (strategies && bandwidths.empty()) bandwidths = parse_bandwidths(kUsualBandwidths);
  const auto crossover = predicted(verbosity, [&](const Data& data, const SimulationMeans& means) {
    if (strategies) return training_crossover(request, bandwidths, data, means);
    return all_reduce_crossover(data.profiles.load(request.profiles.front()), request.gpus, bandwidths, sizes,
                                interrupted);
  });
  output.deliver(crossover_document(crossover), [&] { return crossover_json(crossover); });
  return ExitCode::good;
}

constexpr Verb kBandwidth{.name = "bandwidth",
                          .summary = "say what a network must carry, and map the fastest strategy",
                          .place = 5,
                          .starts_ranks = true,
                          .run = run_bandwidth};
constexpr std::array kBandwidthVerbs{&kBandwidth};
constexpr std::array kBandwidthSchemas{
    PublishedSchema{"bandwidth-1", [] { return bandwidth_json({}, Form::schema); }},
    PublishedSchema{"crossover-1", [] { return crossover_json({}, Form::schema); }},
};

}  // namespace

extern const Feature kBandwidthFeature;
constinit const Feature kBandwidthFeature{.verbs = kBandwidthVerbs, .schemas = kBandwidthSchemas};

}  // namespace hbench

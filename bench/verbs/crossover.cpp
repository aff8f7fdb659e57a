#include "analysis/prediction/crossover.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/command/verb.hpp"
#include "bench/verbs/prediction_options.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "reports/prediction/crossover.hpp"

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

ExitCode run_crossover(const Call& call) {
  PredictionRequest request;
  std::optional<CollectiveKind> single;
  std::vector<BytesPerSecond> bandwidths;
  std::vector<std::int64_t> sizes;
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
  add_network_options(app, request);
  app.add_parsed("--bandwidth", bandwidths, parse_bandwidths,
                 fmt::format("Gbit/s that a node's network carries: 1..400 doubles, 1,2.5,10 lists (default: {})",
                             kUsualBandwidths));
  Option* collective = app.add_parsed("--collective", single, compared_collective,
                                      "all_reduce: single collectives in place of training");
  app.add_parsed("--bytes", sizes, parse_message_sizes, "message sizes: 1K..256M times four, 64K,1M lists", "1K..256M")
      ->needs(collective);
  output.add_options(app);
  add_verbosity(app, verbosity);
  if (app.parse(call)) return ExitCode::good;
  if (!single && bandwidths.empty()) bandwidths = parse_bandwidths(kUsualBandwidths);
  output.check();
  const auto crossover = predicted(verbosity, [&](const Data& data, const SimulationMeans& means) {
    if (!single) return training_crossover(request, bandwidths, data, means);
    return all_reduce_crossover(data.profiles.load(request.profiles.front()), request.gpus, bandwidths, sizes,
                                interrupted);
  });
  output.deliver(crossover_document(crossover), [&] { return crossover_json(crossover); });
  return ExitCode::good;
}

}  // namespace

extern const Verb kCrossover;
constinit const Verb kCrossover{
    .name = "crossover", .summary = "map which strategy is the fastest where", .run = run_crossover};

}  // namespace hbench

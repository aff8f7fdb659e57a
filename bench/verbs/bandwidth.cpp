#include "analysis/prediction/bandwidth.hpp"
#include "bench/command/verb.hpp"
#include "bench/verbs/prediction_options.hpp"
#include "reports/prediction/bandwidth.hpp"

namespace hbench {
namespace {

ExitCode run_bandwidth(const Call& call) {
  PredictionRequest request;
  double efficiency = 0;
  DocumentOutput output;
  Verbosity verbosity = Verbosity::usual;
  Arguments app(
      "Says what the network between nodes must carry for training to reach an efficiency, and below which rate a "
      "compressor pays, by simulation.",
      "hbench bandwidth");
  app.footer(
      "Examples:\n  hbench bandwidth\n"
      "  hbench bandwidth --workload vgg16 --gpus 64 --target 80% --algorithm ring --compressor none,fp16,topk\n"
      "  hbench bandwidth --workload resnet101 --preset ddp,byteps --profile aws-p3dn-tcp --out bandwidth.html\n"
      "Names: hbench list workloads|profiles|algorithms|compressors|presets");
  add_network_options(app, request);
  app.add_parsed("--target", efficiency, parse_target, "efficiency to reach, below 100%", "90%");
  output.add_options(app);
  add_verbosity(app, verbosity);
  if (app.parse(call)) return ExitCode::good;
  output.check();
  const auto answer = predicted(verbosity, [&](const Data& data, const SimulationMeans& means) {
    return required_bandwidth(request, efficiency, data, means);
  });
  output.deliver(bandwidth_document(answer), [&] { return bandwidth_json(answer); });
  return ExitCode::good;
}

}  // namespace

extern const Verb kBandwidth;
constinit const Verb kBandwidth{
    .name = "bandwidth", .summary = "say what a network must carry for an efficiency", .run = run_bandwidth};

}  // namespace hbench

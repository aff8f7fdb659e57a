#include "analysis/prediction/bandwidth.hpp"
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
#include "collectives/base/error.hpp"
#include "collectives/base/flag_values.hpp"
#include "reports/prediction/bandwidth.hpp"

namespace hbench {
namespace {

ExitCode run_bandwidth(const Call& call) {
  std::string workloads = "vgg16,resnet50", gpus = "16..128", target = "90%", profile = "aws-p3-25gbe", presets;
  std::string algorithms = "ring,ps", compressors = "none,fp16";
  PredictionRequest request;
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
  app.add_option("--workload", workloads, "timelines, or files of your own (comma list)")->capture_default_str();
  app.add_option("--gpus", gpus, "GPU counts: 1..256 doubles, 1..12:1 counts, 1,2,4 lists")->capture_default_str();
  app.add_option("--target", target, "efficiency to reach, below 100%")->capture_default_str();
  app.add_option("--algorithm", algorithms, "algorithms (comma list)")->capture_default_str();
  app.add_option("--compressor", compressors, "compressors (comma list)")->capture_default_str();
  app.add_option("--preset", presets, "frameworks, instead of the usual algorithms (comma list)");
  app.add_option("--profile", profile, "the cluster whose nodes are kept while the rate of its network changes")
      ->capture_default_str();
  app.add_option("--batch", request.batch, "samples per GPU and step")->check(in_range(1, 1'000'000));
  app.add_option("--single-gpu-rate", request.single_gpu_rate, "samples/s of one GPU")->check({check_rate, ""});
  output.add_options(app);
  add_verbosity(app, verbosity);
  if (app.parse(call)) return ExitCode::good;
  request.workloads = split_list(workloads, "--workload");
  request.gpus = parse_gpu_range(gpus);
  request.profiles = {profile};
  request.compressors = split_list(compressors, "--compressor");
  if (!presets.empty()) request.presets = split_list(presets, "--preset");
  // Frameworks take the place of the usual algorithms; of those that are named they do not.
  if (presets.empty() || app.count("--algorithm") > 0) request.algorithms = split_list(algorithms, "--algorithm");
  const double efficiency = parse_target(target);
  output.check();
  catch_interrupts();
  Progress progress(0, verbosity);
  const BandwidthAnswer answer = required_bandwidth(request, efficiency, load_data(), simulation_means(progress));
  progress.clear();
  output.deliver(bandwidth_document(answer), [&] { return bandwidth_json(answer); });
  return ExitCode::good;
}

}  // namespace

extern const Verb kBandwidth;
constinit const Verb kBandwidth{
    .name = "bandwidth", .summary = "say what a network must carry for an efficiency", .run = run_bandwidth};

}  // namespace hbench

#include "bench/sweep/options.hpp"

#include <fmt/format.h>

#include <array>

#include "analysis/prediction/request.hpp"
#include "bench/output/console.hpp"
#include "bench/output/points.hpp"
#include "bench/sweep/nodes.hpp"
#include "bench/sweep/own_models.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/executors/executor.hpp"
#include "workloads/data/dataset.hpp"
#include "workloads/step/precision.hpp"

namespace hbench {
namespace {

constexpr int kUsualEpochs = 10;

void read_experiment(const std::string& file, SweepRequest& request) {
  request.layouts = parse_experiment(read_file(file), file);
  std::set<int> gpus;
  for (const NodeLayout& layout : request.layouts) gpus.insert(layout.gpus());
  request.gpus.assign(gpus.begin(), gpus.end());
}

/// \throws Error (usage) for flags that contradict each other, and for names that there are not.
void check_request(const Arguments& app, const SweepRequest& request) {
  const bool owned = app.count("--fusion") + app.count("--placement") + app.count("--servers") > 0;
  if (!request.presets.empty() && request.algorithms.empty() && owned)
    throw Error(ExitCode::usage, "a preset has its own fusion policy, placement and servers",
                "leave out --fusion, --placement and --servers, or give --algorithm as well, which takes them");
  if (!request.frameworks.empty() && !request.asks(is_of_machine)) {
    const FrameworkChoice& first = request.frameworks.front();
    throw Error(ExitCode::usage,
                fmt::format("--framework {} is measured, and --evidence asks for nothing that is", first.text()),
                fmt::format("its simulation is --preset {}", first.framework->preset));
  }
  if (!request.executor.empty()) find_entry(executors(), request.executor, "executor");
  if ((request.epochs > 0 || request.learning_rate > 0) && request.data.empty())
    throw Error(ExitCode::usage, "--epochs and --learning-rate are of data, and there are none", "add --data mnist1d");
  // Before anything is launched; of pictures the size matters to none of its refusals but that of too many bytes.
  if (!request.data.empty()) load_dataset(request.data, request.image_size > 0 ? request.image_size : 32);
  if (!request.data.empty() && !request.frameworks.empty())
    throw Error(ExitCode::usage, "frameworks train on samples that are drawn", "leave out --framework, or --data");
}

std::vector<FrameworkChoice> parse_frameworks(const std::string& text, std::string_view flag) {
  std::vector<FrameworkChoice> choices;
  for (const std::string& choice : split_list(text, flag)) choices.push_back(parse_framework(choice));
  return choices;
}

std::vector<std::string> parse_fusions(const std::string& text, std::string_view flag) {
  constexpr std::array kUsual{"none", "threshold:1MiB", "threshold:4MiB", "threshold:16MiB", "threshold:64MiB",
                              "ddp",  "horovod",        "mg-wfbp"};
  std::vector<std::string> fusions;
  for (std::string& each : split_list(text, flag)) {
    if (each == "usual")
      fusions.insert(fusions.end(), kUsual.begin(), kUsual.end());
    else
      fusions.push_back(std::move(each));
  }
  return fusions;
}

std::vector<ServerChoice> parse_server_choices(const std::string& text, std::string_view flag) {
  std::vector<ServerChoice> choices;
  for (const std::string& choice : split_list(text, flag)) choices.push_back(parse_servers(choice));
  return choices;
}

/// Adds the flags of GPU counts and hosts.
void add_places(Arguments& app, SweepOptions& options) {
  SweepRequest& request = options.request;
  Option* gpus = app.add_parsed("--gpus", request.gpus, parse_gpu_range,
                                "GPU counts: 1..128 doubles, 1..12:1 counts, 1,2,4 lists", "1..128");
  Option* nodes = app.add_parsed("--nodes", request.nodes, parse_node_range,
                                 "nodes of measured runs, as --gpus: each GPU count on each of these, equally many on "
                                 "a node (default: on the fewest)");
  Option* per_node = app.add_option("--gpus-per-node", request.gpus_per_node,
                                    "GPUs of each node of measured runs, or ranks on cores", in_range(1, 1024))
                         ->excludes(nodes);
  app.add_read(
         "--spec", [&request](const std::string& file) { read_experiment(file, request); },
         "experiment file in the place of these three: workers (nodes), gpus_per_worker, processes_per_gpu")
      ->excludes(gpus)
      ->excludes(nodes)
      ->excludes(per_node);
  add_host_options(app, options.hosts);
  app.add_parsed(
         "--on-lost-host", options.measure.stop_on_lost_host, [](const std::string& text) { return text == "stop"; },
         "what the loss of a host means for the rest of the sweep", "shrink")
      ->check(one_of({"shrink", "stop"}));
  app.add_flag_callback(
      "--no-preflight", [&] { options.preflight = false; }, "do not compare the hosts before measuring");
}

/// Adds the flags of workloads, clusters and strategies.
void add_strategies(Arguments& app, SweepRequest& request, OwnModelOptions& own) {
  add_workloads(app, request.workloads);
  add_own_model_options(app, own);
  add_profiles(app, request.profiles, "clusters to simulate, or a TOML file of your own (comma list)");
  app.add_list("--algorithm", request.algorithms, "ring, ps (parameter server), vendor, auto ... (comma list)");
  app.add_list("--compressor", request.compressors, "none, fp16 (comma list)");
  app.add_parsed(
      "--fusion", request.fusions, parse_fusions,
      "none, threshold:25MiB, horovod:128MiB:1ms, horovod-2018, ddp (comma list), or usual: those that people "
      "try");
  app.add_list("--placement", request.placements,
               "placement of parameters on servers: greedy, round-robin, sliced (comma list)");
  app.add_parsed("--servers", request.servers, parse_server_choices,
                 "colocated, dedicated (one per node), or a number (comma list)");
  app.add_list(
      "--preset", request.presets,
      "frameworks to simulate with their costs: horovod, ddp, tf-ps, byteps ... (comma list; default: that of "
      "--fusion and --placement, ddp or, without --workload and --profile, horovod against tf-ps and mxnet-ps)");
  app.add_parsed("--framework", request.frameworks, parse_frameworks,
                 "programs to measure in turn with hbench's own cases: pytorch-ddp, horovod ... (comma list; hbench "
                 "list frameworks)");
  app.add_flag_callback(
      "--no-overlap", [&request] { request.overlap = false; }, "send gradients only after the backward pass");
  add_method_option(app, request);
  add_step_options(app, request);
  app.add_parsed("--measured", request.measured, parse_measured_step,
                 "a step that was measured, and its GPUs (default: the most of --gpus): 313ms@32; others follow it");
}

/// Adds the flags of evidence, and of what measured and emulated figures run on.
void add_evidence(Arguments& app, SweepOptions& options) {
  add_evidence(app, options.request.evidence, "comma list of measured, emulated, simulated, published",
               "measured,simulated,published");
  app.add_option("--dilation", options.dilation,
                 "emulated cases: by how much time is stretched (default: what this machine needs for each case)",
                 in_range(1.0, 100'000.0));
  app.add_option("--oversubscribe", options.oversubscribe,
                 "measure up to N ranks, even where there are fewer cores or GPUs", in_range(1, 1024));
  add_measured_options(app, options.request);
  app.add_option(
      "--data", options.request.data,
      "measured runs learn it: mnist1d, fashion-mnist, or a folder (hbench list data); hbench learn compares "
      "what they have learned");
  app.add_option("--epochs", options.request.epochs, "how often they see all of --data (default: 10)",
                 in_range(1, 100'000));
  app.add_option("--learning-rate", options.request.learning_rate,
                 "of one rank, with --data: updates by the sum of several take as many times that, Adam's its square "
                 "root (default: the optimizer's)",
                 in_range(1e-9, 1e3));
  add_precision_option(app, options.request,
                       "measured runs float32 on CPU cores, tf32 on GPUs; clusters as their rates");
  Option* calibrate = app.add_flag_callback(
      "--calibrate", [&] { options.calibration = CalibrationChoice::always; },
      "also simulate, and with --evidence emulated emulate, nodes like this machine, from a timeline and links "
      "measured here (default: on GPUs, when --gpus asks for more than there are)");
  app.add_flag_callback(
         "--no-calibrate", [&] { options.calibration = CalibrationChoice::never; }, "disable calibration")
      ->excludes(calibrate);
}

/// Adds the flags of launches, steps and times.
void add_measuring(Arguments& app, SweepOptions& options) {
  add_launches(
      app, options.measure.launches,
      "number of independent launches per measured case, in turn with its baseline, and per emulated case (3 of these "
      "by default)");
  app.add_option("--more-launches", options.measure.more,
                 "additional launches, at most, of cases whose confidence interval is wider than a tenth or that were "
                 "disturbed; none with --launches 1 or 2",
                 in_range(0, 1000));
  add_steps(app, options.measure.steps, "timed steps per launch, at most");
  app.add_option("--trace", options.measure.traced_steps,
                 "further steps per launch, after the timed ones, that record where their time goes; 0: none",
                 in_range(0, 1000));
  app.add_option("--warmup", options.measure.warmup_steps, "warm-up steps per launch, not timed",
                 in_range(0, 1'000'000));
  app.add_parsed("--budget", options.measure.budget, time_flag, "time for the timed steps of a launch", "1 s");
  add_timeout(app, options.measure.timeout, "time without an answer after which a rank counts as lost", "60 s");
}

/// Adds the flags of outputs.
void add_outputs(Arguments& app, SweepOptions& options) {
  add_database(app, options.database);
  app.add_option("--report", options.report, "folder of the report");
  add_labels(app, options.labels);
  app.add_flag("--resume", options.resume,
               "continue after an interruption: run only the cases that the database lacks");
  add_dry_run(app, options.dry_run);
  add_json(app, options.json);
  add_wide(app, options.wide);
  add_verbosity(app, options.verbosity);
}

}  // namespace

void add_step_options(Arguments& app, PredictionRequest& request) {
  add_batch(app, request.batch, "samples per GPU and step, or per micro-batch");
  app.add_option("--accumulate", request.accumulate,
                 "micro-batches of --batch samples per step, whose gradients are added up", in_range(1, 1'000'000));
  app.add_option("--global-batch", request.global_batch,
                 "strong scaling: samples per step of all GPUs together (default: weak scaling)",
                 in_range(1, 1'000'000));
  app.add_option("--single-gpu-rate", request.single_gpu_rate,
                 "samples/s of one GPU that keeps all activations, in the place of the cluster's", positive_rate());
  app.add_option("--single-node-rate", request.node_rate,
                 "samples/s of all GPUs of one full node: what input and framework lose inside it is known then",
                 positive_rate());
  app.add_parsed("--rate", request.gpu_rates, parse_gpu_rates, "the same by GPU: h100=300,a100=150");
  const std::vector<std::string_view> names = names_of(recomputations());
  app.add_parsed("--recompute", request.recomputation, parse_recomputation,
                 "activations that a predicted backward pass computes again: none, selective (scores of attention), "
                 "full (each layer from its input)",
                 "none")
      ->check(one_of({names.begin(), names.end()}));
  add_optimizer_option(app, request, "measured steps sgd, others as the workload was recorded");
}

void add_measured_options(Arguments& app, SweepRequest& request) {
  app.add_option("--image-size", request.image_size,
                 "image size of measured runs in pixels (default: 64 on CPU cores, 224 on GPUs)", in_range(1, 4096));
  app.add_option("--device", request.device,
                 "device of measured runs: cpu or gpu (default: GPUs where LibTorch can use them)");
  app.add_option("--executor", request.executor,
                 "executor of measured runs: hbench list executors (default: the best for each algorithm)");
}

void add_optimizer_option(Arguments& app, PredictionRequest& request, const std::string& standard) {
  app.add_parsed("--optimizer", request.optimizer, parse_optimizer,
                 "sgd, momentum, nesterov, adam, adamw; parameters follow: momentum:0.8 (default: " + standard + ")");
}

void add_method_option(Arguments& app, PredictionRequest& request) {
  app.add_list("--method", request.methods,
               "training methods: synchronous, zero:2, local-sgd:8 ..., auto (comma list; default: synchronous)");
}

void add_precision_option(Arguments& app, PredictionRequest& request, const std::string& standard) {
  const std::vector<std::string_view> names = names_of(precisions());
  app.add_option(
      "--precision", request.precision,
      "float32, tf32; bf16, fp16: by autocast, whose gradients travel in float32 where a preset does not say "
      "otherwise; bf16-true: all numbers, predicted only (default: " +
          standard + ")",
      one_of({names.begin(), names.end()}));
}

std::optional<SweepOptions> parse_sweep_options(const Call& call) {
  SweepOptions options;
  Arguments app(
      "Sweeps GPU counts: measures what this machine can, simulates the rest, compares with what was published.",
      "hbench sweep");
  app.footer(
      "Examples:\n"
      "  hbench sweep --gpus 1..128\n"
      "  hbench sweep --gpus 1..64 --workload vgg16 --profile aws-p3-25gbe --algorithm ring,ps --compressor none,fp16\n"
      "  hbench sweep --gpus 8,16 --profile my-cluster.toml --workload resnet50 --single-gpu-rate 390 --evidence "
      "simulated\n"
      "  hbench sweep --gpus 1..64 --workload vgg16 --profile hkbu-10gbe --preset horovod,ddp,tf-ps,byteps\n"
      "  hbench sweep --gpus 1..64 --workload my-cnn.pt --input 3x32x32 --profile hkbu-10gbe --evidence simulated\n"
      "  hbench sweep --gpus 8 --nodes 1..4 -H a:8,b:8,c:8,d:8 --evidence measured\n"
      "  hbench sweep --gpus 16 --workload resnet50 --profile aws-p3-25gbe --evidence emulated,simulated\n"
      "Names: hbench list workloads|profiles|algorithms|compressors|fusion|placements|presets|frameworks");
  add_places(app, options);
  OwnModelOptions own;
  add_strategies(app, options.request, own);
  add_evidence(app, options);
  add_measuring(app, options);
  add_outputs(app, options);
  if (app.parse(call)) return std::nullopt;
  options.request.own_models = take_own_models(options.request.workloads, own);
  options.measure.own_models = options.request.own_models;
  if (app.count("--launches") > 0) options.emulated_launches = options.measure.launches;
  options.measure.network = options.hosts.network;
  if (!options.request.data.empty() && options.request.epochs == 0) options.request.epochs = kUsualEpochs;
  check_request(app, options.request);
  return options;
}

}  // namespace hbench

#include "bench/sweep/options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "analysis/prediction/gpu_range.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/labels.hpp"
#include "bench/command/values.hpp"
#include "bench/command/verbosity.hpp"
#include "bench/output/terminal.hpp"
#include "bench/sweep/nodes.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/flag_values.hpp"
#include "collectives/base/parse_number.hpp"
#include "collectives/base/table.hpp"
#include "collectives/executors/executor.hpp"
#include "workloads/step/precision.hpp"

namespace hbench {
namespace {

/// The texts of the flags, before they are understood.
struct Texts {
  std::string gpus = "1..128", nodes, on_lost_host = "shrink";
  std::optional<std::string> workload, profile, algorithm, compressor, fusion, placement, servers, preset;
  std::string evidence = "measured,simulated,published";
  std::string budget = "1 s", timeout = "60 s";
  std::vector<std::string> labels;
  std::string spec;
  bool no_overlap = false;
};

std::vector<std::string> list(const std::optional<std::string>& text, std::string_view flag) {
  return text ? split_list(*text, flag) : std::vector<std::string>();
}

void read_experiment(const std::string& file, SweepRequest& request) {
  request.layouts = parse_experiment(read_file(file), file);
  std::set<int> gpus;
  for (const NodeLayout& layout : request.layouts) gpus.insert(layout.gpus());
  request.gpus.assign(gpus.begin(), gpus.end());
}

void understand(const Texts& texts, SweepOptions& options) {
  SweepRequest& request = options.request;
  request.gpus = parse_gpu_range(texts.gpus);
  if (!texts.spec.empty()) read_experiment(texts.spec, request);
  if (!texts.nodes.empty()) request.nodes = parse_node_range(texts.nodes);
  request.workloads = list(texts.workload, "--workload");
  request.profiles = list(texts.profile, "--profile");
  request.algorithms = list(texts.algorithm, "--algorithm");
  request.compressors = list(texts.compressor, "--compressor");
  request.fusions = list(texts.fusion, "--fusion");
  request.placements = list(texts.placement, "--placement");
  request.presets = list(texts.preset, "--preset");
  if (!request.presets.empty() && request.algorithms.empty() && (texts.fusion || texts.placement || texts.servers))
    throw Error(ExitCode::usage, "a preset has its own fusion policy, placement and servers",
                "leave out --fusion, --placement and --servers, or give --algorithm as well, which takes them");
  for (const std::string& choice : list(texts.servers, "--servers")) request.servers.push_back(parse_servers(choice));
  for (const std::string& evidence : list(texts.evidence, "--evidence"))
    request.evidence.insert(parse_evidence(evidence));
  if (!request.executor.empty()) find_entry(executors(), request.executor, "executor");
  if (!request.precision.empty()) parse_precision(request.precision);
  options.labels = parse_labels(texts.labels);
  request.overlap = !texts.no_overlap;
  options.measure.stop_on_lost_host = texts.on_lost_host == "stop";
  options.measure.budget = time_flag(texts.budget, "--budget");
  options.measure.timeout = time_flag(texts.timeout, "--timeout");
}

/// Adds the flags of GPU counts and hosts.
void add_places(Arguments& app, Texts& texts, SweepOptions& options) {
  Option* gpus = app.add_option("--gpus", texts.gpus, "GPU counts: 1..128 doubles, 1..12:1 counts, 1,2,4 lists")
                     ->capture_default_str();
  Option* nodes =
      app.add_option("--nodes", texts.nodes,
                     "nodes of measured runs, as --gpus: each GPU count on each of these, equally many on a "
                     "node (default: on the fewest)");
  Option* per_node = app.add_option("--gpus-per-node", options.request.gpus_per_node,
                                    "GPUs of each node of measured runs, or ranks on cores")
                         ->check(in_range(1, 1024))
                         ->excludes(nodes);
  app.add_option("--spec", texts.spec,
                 "experiment file in the place of these three: workers (nodes), gpus_per_worker, processes_per_gpu")
      ->excludes(gpus)
      ->excludes(nodes)
      ->excludes(per_node);
  add_host_options(app, options.hosts);
  app.add_option("--on-lost-host", texts.on_lost_host, "what the loss of a host means for the rest of the sweep")
      ->check(one_of({"shrink", "stop"}))
      ->capture_default_str();
  app.add_flag_callback(
      "--no-preflight", [&] { options.preflight = false; }, "do not compare the hosts before measuring");
}

/// Adds the flags of workloads, clusters and strategies.
void add_strategies(Arguments& app, Texts& texts, SweepOptions& options) {
  app.add_option("--workload", texts.workload, "models and timelines, or a timeline file of your own (comma list)");
  app.add_option("--profile", texts.profile, "clusters to simulate, or a TOML file of your own (comma list)");
  app.add_option("--algorithm", texts.algorithm, "ring, ps (parameter server), vendor, auto ... (comma list)");
  app.add_option("--compressor", texts.compressor, "none, fp16 (comma list)");
  app.add_option("--fusion", texts.fusion, "none, threshold:25MiB, horovod:128MiB:1ms, horovod-2018, ddp (comma list)");
  app.add_option("--placement", texts.placement,
                 "placement of parameters on servers: greedy, round-robin, sliced (comma list)");
  app.add_option("--servers", texts.servers, "colocated, dedicated (one per node), or a number (comma list)");
  app.add_option("--preset", texts.preset,
                 "frameworks to simulate with their costs: horovod, ddp, tf-ps, byteps ... (comma list)");
  app.add_flag("--no-overlap", texts.no_overlap, "send gradients only after the backward pass");
  app.add_option("--batch", options.request.batch, "samples per GPU and step")->check(in_range(1, 1'000'000));
  app.add_option("--single-gpu-rate", options.request.single_gpu_rate, "samples/s of one GPU: rescales the timeline")
      ->check({check_rate, ""});
}

/// Adds the flags of evidence, and of what measured and emulated figures run on.
void add_evidence(Arguments& app, Texts& texts, SweepOptions& options) {
  app.add_option("--evidence", texts.evidence, "comma list of measured, emulated, simulated, published")
      ->capture_default_str();
  app.add_option("--dilation", options.dilation,
                 "emulated cases: by how much time is stretched (default: what this machine needs for each case)")
      ->check(in_range(1.0, 100'000.0));
  app.add_option("--emulated-launches", options.emulated_launches, "number of independent launches per emulated case")
      ->check(in_range(1, 1000))
      ->capture_default_str();
  app.add_option("--oversubscribe", options.oversubscribe,
                 "measure up to N ranks, even where there are fewer cores or GPUs")
      ->check(in_range(1, 1024));
  app.add_option("--image-size", options.request.image_size,
                 "image size of measured runs in pixels (default: 64 on CPU cores, 224 on GPUs)")
      ->check(in_range(1, 4096));
  app.add_option("--device", options.request.device,
                 "device of measured runs: cpu or gpu (default: GPUs where LibTorch can use them)");
  app.add_option("--executor", options.request.executor,
                 "executor of measured runs: hbench list executors (default: the best for each algorithm)");
  app.add_option("--precision", options.request.precision,
                 "precision of measured runs: float32, tf32, bf16, fp16 (default: float32 on CPU cores, tf32 on GPUs)");
  Option* calibrate = app.add_flag_callback(
      "--calibrate", [&] { options.calibration = CalibrationChoice::always; },
      "also simulate nodes like this machine, from a timeline and links measured here (default: on GPUs, when --gpus "
      "asks for more than there are)");
  app.add_flag_callback(
         "--no-calibrate", [&] { options.calibration = CalibrationChoice::never; }, "disable calibration")
      ->excludes(calibrate);
}

/// Adds the flags of launches, steps and times.
void add_measuring(Arguments& app, Texts& texts, SweepOptions& options) {
  app.add_option("--launches", options.measure.launches,
                 "number of independent launches per measured case, in turn with its baseline")
      ->check(in_range(1, 1000))
      ->capture_default_str();
  app.add_option("--more-launches", options.measure.more,
                 "additional launches, at most, of cases whose confidence interval is wider than a tenth or that were "
                 "disturbed; none with --launches 1 or 2")
      ->check(in_range(0, 1000))
      ->capture_default_str();
  app.add_option("--steps", options.measure.steps, "timed steps per launch, at most")
      ->check(in_range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--trace", options.measure.traced_steps,
                 "further steps per launch, after the timed ones, that record where their time goes; 0: none")
      ->check(in_range(0, 1000))
      ->capture_default_str();
  app.add_option("--warmup", options.measure.warmup_steps, "warm-up steps per launch, not timed")
      ->check(in_range(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--budget", texts.budget, "time for the timed steps of a launch")->capture_default_str();
  app.add_option("--timeout", texts.timeout, "time without an answer after which a rank counts as lost")
      ->capture_default_str();
}

/// Adds the flags of outputs.
void add_outputs(Arguments& app, Texts& texts, SweepOptions& options) {
  app.add_option("--db", options.database, "results database")->capture_default_str();
  app.add_option("--report", options.report, "folder of the report")->capture_default_str();
  app.add_option("--label", texts.labels, kLabelHelp);
  app.add_flag("--resume", options.resume,
               "continue after an interruption: run only the cases that the database lacks");
  app.add_flag("--dry-run", options.dry_run, "print the plan and its estimate, run nothing");
  app.add_flag("--json", options.json, "print the points as JSON instead of a table");
  app.add_flag("--wide", options.wide, kWideHelp);
  add_verbosity(app, options.verbosity);
}

}  // namespace

std::string check_rate(const std::string& text) {
  const double rate = parse_number<double>(text).value_or(0);
  return rate > 0 && std::isfinite(rate) ? "" : fmt::format("'{}' is not a rate above 0", text);
}

std::optional<SweepOptions> parse_sweep_options(const Call& call) {
  SweepOptions options;
  Texts texts;
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
      "  hbench sweep --gpus 8 --nodes 1..4 -H a:8,b:8,c:8,d:8 --evidence measured\n"
      "  hbench sweep --gpus 16 --workload resnet50 --profile aws-p3-25gbe --evidence emulated,simulated\n"
      "Names: hbench list workloads|profiles|algorithms|compressors|fusion|placements|presets");
  add_places(app, texts, options);
  add_strategies(app, texts, options);
  add_evidence(app, texts, options);
  add_measuring(app, texts, options);
  add_outputs(app, texts, options);
  if (app.parse(call)) return std::nullopt;
  options.measure.network = options.hosts.network;
  understand(texts, options);
  return options;
}

}  // namespace hbench

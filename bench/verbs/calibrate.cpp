#include <fmt/format.h>

#include "analysis/prediction/case_strategy.hpp"
#include "bench/calibrate/measure_machine.hpp"
#include "bench/command/arguments.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/output_file.hpp"
#include "bench/sweep/local_machine.hpp"
#include "bench/sweep/own_models.hpp"
#include "bench/sweep/step_options.hpp"
#include "bench/verbs/calibrate_from_rows.hpp"
#include "collectives/base/table.hpp"
#include "workloads/libtorch.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

/// What was asked for; 0 and empty where nothing was.
struct Asked {
  SweepRequest place;  ///< device, precision, executor, batch and image size
  std::string model, network;
  std::optional<OwnModel> own;  ///< in the place of `model`
  std::filesystem::path file, profile_file;
  int steps = 10, threads = 1, ranks = 0;
};

std::optional<Asked> parse(const Call& call) {
  Asked asked;
  Arguments app(
      "Records when each gradient of a real training step becomes ready, as a timeline to simulate anywhere; with "
      "--network also measures the links between the ranks of this machine, as a cluster of such machines to simulate "
      "on. With --from, fits a cluster profile to steps that were measured there (hbench calibrate --from FILE "
      "--help).",
      "hbench calibrate");
  app.footer(
      "Examples:\n  hbench calibrate --model resnet18 --batch 16 --out resnet18-here.toml\n"
      "  hbench sweep --gpus 1..64 --workload ./resnet18-here.toml --profile hkbu-10gbe --evidence simulated\n"
      "  hbench calibrate --device gpu --model resnet50 --batch 256 --precision bf16\n"
      "  hbench calibrate --model my-cnn.pt --input 3x32x32 --out mine.toml\n"
      "  hbench calibrate --model resnet18 --network hkbu-10gbe\n"
      "  hbench sweep --gpus 1..64 --workload ./resnet18.toml --profile ./this-machine-hkbu-10gbe.toml --evidence "
      "simulated");
  app.add_option(
      "--model", asked.model,
      "a model (hbench list models; default: resnet18, on a GPU resnet50), or a TorchScript file of your own");
  OwnModelOptions own;
  add_own_model_options(app, own);
  app.add_option("--batch", asked.place.batch, "samples per step (default: 16, on a GPU 64)", in_range(1, 100'000));
  app.add_option("--image-size", asked.place.image_size, "image size in pixels (default: 64, on a GPU 224)",
                 in_range(1, 4096));
  app.add_option("--steps", asked.steps, "timed steps, of which the median is recorded", in_range(1, 100'000));
  app.add_option("--threads", asked.threads, "threads of LibTorch", in_range(1, 1024));
  app.add_option("--device", asked.place.device, "cpu or gpu (default: a GPU where LibTorch can use one)",
                 one_of({"cpu", "gpu"}));
  app.add_option("--precision", asked.place.precision,
                 "float32, tf32, bf16, fp16 (default: float32 on CPU cores, tf32 on GPUs)");
  add_optimizer_option(app, asked.place, "sgd");
  app.add_option("--out", asked.file, "file of the timeline (default: MODEL.toml)");
  app.add_option("--network", asked.network,
                 "also write a cluster profile: nodes like this machine, joined by the network of this profile (a name "
                 "of hbench list profiles, or a TOML file)");
  app.add_option("--ranks", asked.ranks, "ranks of such a node (default: this machine's GPUs, or cores)",
                 in_range(1, 1024));
  app.add_option("--executor", asked.place.executor,
                 "executor of the measurement between them: hbench list executors (default: the best here)");
  app.add_option("--profile-out", asked.profile_file, "file of the cluster profile (default: this-machine-NAME.toml)");
  if (app.parse(call)) return std::nullopt;
  std::vector<std::string> models{asked.model};
  for (OwnModel& model : take_own_models(models, own)) asked.own = std::move(model);
  asked.model = models.front();
  for (const char* flag : {"--ranks", "--executor", "--profile-out"})
    if (app.count(flag) > 0 && asked.network.empty())
      throw Error(ExitCode::usage, fmt::format("{} is for the cluster profile, and no --network is given", flag),
                  "add such as --network hkbu-10gbe (hbench list profiles)");
  return asked;
}

RecordingRequest request_for(const Asked& asked) {
  const SweepRequest& place = asked.place;
  const bool on_gpu = place.device.empty() ? gpu_training_availability().available : parse_on_gpu(place.device);
  const StepDefaults& defaults = step_defaults(on_gpu);
  return {.model = asked.model.empty() ? defaults.model : asked.model,
          .own = asked.own,
          .batch = place.batch > 0 ? place.batch : defaults.batch,
          .image_size = place.image_size > 0 ? place.image_size : defaults.image_size,
          .steps = asked.steps,
          .threads = asked.threads,
          .on_gpu = on_gpu,
          .precision = place.precision.empty() ? defaults.precision : parse_precision(place.precision),
          .optimizer = place.optimizer};
}

/// The cluster profile's part: what it is made of, and where it goes.
class MachineCalibration {
 public:
  /// Everything that can be wrong is, before anything is measured. \throws Error.
  explicit MachineCalibration(const Asked& asked)
      : network_(load_data().profiles.load(asked.network)),
        place_(measured_place(asked.place, local_machine(asked.ranks))),
        ranks_(asked.ranks > 0 ? asked.ranks : place_.ranks),
        file_(asked.profile_file) {
    if (file_.empty()) file_ = fmt::format("this-machine-{}.toml", network_.name);
    if (!place_.refusal.empty())
      throw Error(ExitCode::environment, place_.refusal, "--device cpu calibrates CPU cores");
    check_writable(file_, "--profile-out");
  }

  /// \pre nothing is held of the machine yet. `name` is the timeline's.
  void measure(const std::string& program, const RecordingRequest& request, const std::string& name) {
    machine_ = measure_machine(place_, ranks_, program);
    Case alone = place_.baseline;
    alone.workload = request.model;
    MeasureOptions options{.program = program};
    if (request.own) {
      set_workload(alone, *request.own);
      options.own_models = {*request.own};
    }
    machine_.rates[name] = rate_of(hbench::measure(alone, options, [](int) {}), machine_.how);
  }

  void write() const {
    write_whole(file_, format_machine_profile(network_, machine_), "--profile-out");
    fmt::print("{}\n", link_in_words(machine_));
    for (const auto& [workload, rate] : machine_.rates)
      fmt::print("one rank alone: {:.1f} samples/s at batch {}\n", rate.samples_per_second, rate.batch);
    fmt::print("Wrote {}: {}\n", file_.string(), machine_title(network_, machine_));
  }

 private:
  Profile network_;
  MeasuredPlace place_;
  int ranks_;
  std::filesystem::path file_;
  MachineFigures machine_;
};

ExitCode run_calibrate(const Call& call) {
  if (calibrates_from_rows(call)) return calibrate_from_rows(call);
  const std::optional<Asked> asked = parse(call);
  if (!asked) return ExitCode::good;
  if (const Availability torch = torch_availability(); !torch.available) throw torch.error();
  const RecordingRequest request = request_for(*asked);
  const std::string named = request.own ? std::filesystem::path(request.own->file).stem().string() : request.model;
  const auto file = asked->file.empty() ? std::filesystem::path(named + ".toml") : asked->file;
  const std::string name = file.stem().string();
  // An unknown model is reported before anything is measured.
  if (!request.own) find_entry(models(), request.model, "model");
  check_writable(file, "--out");
  std::optional<MachineCalibration> machine;
  if (!asked->network.empty()) {
    machine.emplace(*asked);
    machine->measure(installation().worker.string(), request, name);
  }
  const Trace trace = recorded_trace(request, name);
  write_whole(file, format_trace(trace), "--out");
  fmt::print("{}\nWrote {}\n", trace_in_words(trace), file.string());
  if (machine) machine->write();
  return ExitCode::good;
}

}  // namespace

extern const Verb kCalibrate;
constinit const Verb kCalibrate{
    .name = "calibrate",
    .summary = "record a step and links of this machine, or fit a profile to measured steps",
    .needs_libraries = [](const Call& call) { return !calibrates_from_rows(call); },
    .run = run_calibrate};

}  // namespace hbench

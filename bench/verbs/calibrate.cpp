// `hbench calibrate --from FILE`: a profile fitted to steps that somebody has measured. Needs no library of ranks.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "analysis/fit/fit_curve.hpp"
#include "analysis/fit/fit_profile.hpp"
#include "analysis/fit/imported_curve.hpp"
#include "analysis/fit/machine_profile.hpp"
#include "analysis/fit/profile_text.hpp"
#include "analysis/prediction/case_strategy.hpp"
#include "analysis/store/store.hpp"
#include "bench/calibrate/measure_machine.hpp"
#include "bench/calibrate/record_step.hpp"
#include "bench/command/common_options.hpp"
#include "bench/command/verb.hpp"
#include "bench/database/database.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/document_output.hpp"
#include "bench/sweep/measured_place.hpp"
#include "bench/sweep/options.hpp"
#include "bench/sweep/own_models.hpp"
#include "bench/sweep/prediction_options.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "reports/fit/fits.hpp"
#include "workloads/libtorch.hpp"
#include "workloads/models/models.hpp"

namespace hbench {
namespace {

/// The profile of this machine that a sweep left beside its database. \throws Error (usage) where there is none, or
/// more than one.
std::string profile_beside(const std::string& database) {
  std::vector<std::string> found;
  std::error_code none;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::absolute(calibration_folder(database)), none))
    if (entry.path().filename().string().starts_with("this-machine-")) found.push_back(entry.path().string());
  if (found.size() == 1) return found.front();
  throw Error(ExitCode::usage,
              found.empty() ? fmt::format("there is no profile of the machine beside {}", database)
                            : fmt::format("there are {} profiles beside {}", found.size(), database),
              found.empty() ? "add --calibrate to the sweep that measures the frameworks, or give --profile FILE of "
                              "hbench calibrate --network NAME"
                            : fmt::format("name one: --profile {}", fmt::join(found, ", ")));
}

/// Lets `data` know the timelines of the rows that were recorded with the profile: they lie in its folder. \throws
/// Error (usage) where one is missing.
void know_timelines(const std::vector<CaseResult>& rows, const std::filesystem::path& profile, Data& data) {
  std::set<std::string> workloads;
  for (const CaseResult& row : rows) workloads.insert(row.asked.workload);
  for (const std::string& name : workloads) {
    const std::filesystem::path file = std::filesystem::absolute(profile).parent_path() / (name + ".toml");
    if (std::filesystem::exists(file)) {
      data.traces.add(data.traces.load(file.string()));
    } else if (!data.traces.has(name)) {
      throw Error(ExitCode::usage, fmt::format("{} is missing: the timeline of {}", file.string(), name),
                  fmt::format("hbench calibrate --model {} --out {} records it, with the --batch and --image-size that "
                              "were measured",
                              name, file.string()));
    }
  }
}

/// The steps of frameworks in a database. \throws Error (usage) where there are none.
std::vector<CaseResult> rows_of_frameworks(const std::string& file, const std::string& profile, std::size_t& others) {
  const Store store(file, Store::Mode::read_only);
  FrameworkRows found = framework_rows(store.results(), store.baselines(), profile);
  others = found.others;
  if (found.rows.empty())
    throw Error(ExitCode::usage, fmt::format("{} has no measured steps of frameworks on several ranks", file),
                "hbench sweep --framework pytorch-ddp --calibrate measures some (hbench list frameworks)");
  return std::move(found.rows);
}

/// The rows of one cluster; those of others are counted. \throws Error (usage) where there are none.
std::vector<CaseResult> rows_of(const std::string& file, const std::string& cluster, std::size_t& others) {
  std::vector<CaseResult> rows = read_published(file);
  std::set<std::string> clusters;
  for (const CaseResult& row : rows) clusters.insert(row.asked.profile);
  others = std::erase_if(rows, [&](const CaseResult& row) { return row.asked.profile != cluster; });
  if (rows.empty())
    throw Error(ExitCode::usage, fmt::format("{} has no rows of {}", file, cluster),
                clusters.empty() ? "guide/formats.md has the columns"
                                 : fmt::format("its column 'profile' has {}", fmt::join(clusters, ", ")));
  return rows;
}

/// What was asked on the command line.
struct Request {
  std::string from, base;
  std::filesystem::path file;
  ImportHints hints;
  std::string hint;  ///< the first flag of these that was given; empty: none
  bool all = false;
  DocumentOutput output;
  Verbosity verbosity = Verbosity::usual;
};

/// False when help was asked for and printed. \throws Error (usage).
bool parse_rows(const Call& call, Request& request) {
  Arguments app(
      "Fits a cluster profile to training steps that were measured there: links, streams, latency, servers, and what "
      "disturbs compute. Says which of these the steps determine, and how far predictions of steps left out are off. "
      "Rows on the most, on a middling number of and on the fewest GPUs tell most; where rows that are left out would "
      "be predicted worse than before, nothing is written. What nccl-tests or hbench collective --json printed becomes "
      "a curve of the profile, and determines its latency "
      "and rate.",
      "hbench calibrate");
  app.footer(
      "Examples:\n  hbench calibrate --from rows.csv --profile hkbu-10gbe --out mine.toml\n"
      "  hbench calibrate --from all_reduce_perf.txt --profile aws-p5 --out mine.toml\n"
      "  mpirun -n 16 -H a:8,b:8 hbench collective --algorithm ring --json > two.json\n"
      "  hbench calibrate --from two.json --profile aws-p5 --out mine.toml\n"
      "  hbench sweep --gpus 1..64 --profile ./mine.toml --evidence simulated\n"
      "  hbench calibrate --from my.db\n"
      "rows.csv has the columns that guide/formats.md says, one row for each "
      "measured throughput.");
  app.add_option("--from", request.from,
                 "table of measured steps, a results database with steps of frameworks, or what nccl-tests or hbench "
                 "collective --json printed");
  add_profile(app, request.base,
              "profile to start from: a name of hbench list profiles, or a TOML file (default: of a database the "
              "one of this machine that hbench sweep --calibrate left beside it)");
  add_import_hints(app, request.hints);
  add_all(app, request.all, "also each step with its predictions");
  request.output.add_options(app, "--out", "the profile (default: that one's name and -fitted.toml)");
  add_verbosity(app, request.verbosity);
  if (app.parse(call)) return false;
  request.file = request.output.take_toml();
  request.output.check();
  if (!request.hints.collective.empty()) parse_collective_kind(request.hints.collective);
  if (request.base.empty() && is_database(request.from)) request.base = profile_beside(request.from);
  if (request.base.empty())
    throw Error(ExitCode::usage, "--from needs a profile to start from",
                fmt::format("add such as --profile hkbu-10gbe (hbench list profiles){}",
                            std::filesystem::exists(request.from) ? "" : "; nor is there a file " + request.from));
  for (const char* flag : {"--collective", "--ranks", "--nodes"})
    if (app.count(flag) > 0 && request.hint.empty()) request.hint = flag;
  return true;
}

/// The collective becomes a curve of the profile.
ExitCode calibrate_from_curve(const Request& request, const Profile& profile, ImportedCurve parsed) {
  note_other_gpu(parsed, profile);
  const CurveFit fitted = fit_curve(profile, std::move(parsed.curve));
  write_whole(request.file, format_profile(fitted.profile), "--out");
  request.output.deliver(curve_fit_document(fitted, parsed.notes),
                         [&] { return curve_fit_json(fitted, parsed.notes, request.file.string()); });
  if (request.output.leaves_room()) fmt::print("Wrote {}\n", request.file.string());
  return ExitCode::good;
}

/// The figures of the table, or of a database's frameworks, become those of the profile.
ExitCode calibrate_from_table(const Request& request, const Profile& profile) {
  if (!request.hint.empty())
    throw Error(ExitCode::usage,
                fmt::format("{} is for a measured collective, and {} has steps", request.hint, request.from),
                fmt::format("leave out {}", request.hint));
  std::size_t others = 0;
  const bool of_frameworks = is_database(request.from);
  std::vector<CaseResult> rows = of_frameworks ? rows_of_frameworks(request.from, profile.name, others)
                                               : rows_of(request.from, profile.name, others);
  const FittedProfile fitted = predicted(request.verbosity, [&](Data data, const SimulationMeans& means) {
    if (of_frameworks) know_timelines(rows, request.base, data);
    FittedProfile made = fit_profile(profile, std::move(rows), data, means);
    require_better(made, data);
    made.next = next_row(made, data);
    return made;
  });
  write_whole(request.file, format_profile(fitted.profile), "--out");
  request.output.deliver(fit_document(fitted, request.from, request.all),
                         [&] { return fit_json(fitted, request.file.string()); });
  if (!request.output.leaves_room()) return ExitCode::good;
  if (others > 0)
    fmt::print("{} of {} {} not used.\n", counted(static_cast<std::int64_t>(others), "row"),
               of_frameworks ? "other machines, of one rank, with servers or without a baseline" : "other clusters",
               others == 1 ? "is" : "are");
  fmt::print("Wrote {}\n", request.file.string());
  return ExitCode::good;
}

/// What was asked for; 0 and empty where nothing was.
struct Asked {
  SweepRequest place;  ///< device, precision, executor, batch and image size
  std::string model, network;
  std::optional<OwnModel> own;  ///< in the place of `model`
  std::filesystem::path file;
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
  add_batch(app, asked.place.batch, "samples per step (default: 16, on a GPU 64)");
  add_steps(app, asked.steps, "timed steps, of which the median is recorded");
  app.add_option("--threads", asked.threads, "threads of LibTorch", in_range(1, 1024));
  add_measured_options(app, asked.place);
  add_precision_option(app, asked.place, "float32 on CPU cores, tf32 on GPUs");
  add_optimizer_option(app, asked.place, "sgd");
  add_out(app, asked.file, "file of the timeline, FILE.toml (default: MODEL.toml)");
  app.add_option("--network", asked.network,
                 "also write a cluster profile, this-machine-NAME.toml beside the timeline: nodes like this machine, "
                 "joined by the network of this profile (a name of hbench list profiles, or a TOML file)");
  app.add_option("--ranks", asked.ranks, "ranks of such a node (default: this machine's GPUs, or cores)",
                 in_range(1, 1024));
  if (app.parse(call)) return std::nullopt;
  std::vector<std::string> models{asked.model};
  for (OwnModel& model : take_own_models(models, own)) asked.own = std::move(model);
  asked.model = models.front();
  for (const char* flag : {"--ranks", "--executor"})
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
  MachineCalibration(const Asked& asked, const std::filesystem::path& timeline)
      : network_(load_data().profiles.load(asked.network)),
        place_(measured_place(asked.place, local_machine(asked.ranks))),
        ranks_(asked.ranks > 0 ? asked.ranks : place_.ranks),
        file_(timeline.parent_path() / fmt::format("this-machine-{}.toml", network_.name)) {
    if (!place_.refusal.empty())
      throw Error(ExitCode::environment, place_.refusal, "--device cpu calibrates CPU cores");
    check_writable(file_, "--out");
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
    write_whole(file_, format_machine_profile(network_, machine_), "--out");
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

/// Whether `--from` is among the arguments.
bool calibrates_from_rows(const Call& call) {
  return std::ranges::any_of(call.arguments, [](const std::string& argument) {
    return argument == "--from" || argument.starts_with("--from=");
  });
}

ExitCode calibrate_from_rows(const Call& call) {
  Request request;
  if (!parse_rows(call, request)) return ExitCode::good;
  const Profile profile = load_data().profiles.load(request.base);
  if (request.file.empty()) request.file = profile.name + "-fitted.toml";
  check_writable(request.file, "--out");
  if (is_database(request.from)) return calibrate_from_table(request, profile);
  if (std::optional<ImportedCurve> curve = read_curve(read_file(request.from), request.from, request.hints))
    return calibrate_from_curve(request, profile, std::move(*curve));
  return calibrate_from_table(request, profile);
}

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
    machine.emplace(*asked, file);
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
    .place = 17,
    .starts_ranks = true,
    .libraries = [](const Call& call) { return calibrates_from_rows(call) ? Libraries::none : Libraries::all; },
    .run = run_calibrate};

}  // namespace hbench

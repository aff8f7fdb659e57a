#include "bench/calibrate/sweep_calibration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "analysis/fit/machine_profile.hpp"
#include "analysis/prediction/case_strategy.hpp"
#include "bench/calibrate/measure_machine.hpp"
#include "bench/calibrate/record_step.hpp"
#include "bench/frameworks/frameworks.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/document_output.hpp"
#include "bench/sweep/own_models.hpp"
#include "bench/sweep/plan.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

/// Slow, common and fast, where nobody names a network.
const std::vector<std::string> kDefaultNetworks{"hkbu-10gbe", "generic-100gbe-tcp", "azure-nd96asr-v4"};

constexpr double kRecordSeconds = 15;
constexpr double kLinkSeconds = 12;

fs::path trace_file(const fs::path& folder, const Case& baseline) { return folder / (baseline.workload + ".toml"); }

fs::path profile_file(const fs::path& folder, const Profile& network) {
  return folder / fmt::format("this-machine-{}.toml", network.name);
}

/// Whether a profile that is there already knows every model.
bool serves(const fs::path& file, const CalibrationPlan& calibration, const Data& data) {
  if (!fs::exists(file)) return false;
  const Profile known = data.profiles.load(file.string());
  return std::ranges::all_of(calibration.baselines,
                             [&](const Case& baseline) { return known.rates.contains(baseline.workload); });
}

void record(const Case& baseline, const CalibrationPlan& calibration, const CalibrationRun& run) {
  const fs::path file = trace_file(run.folder, baseline);
  if (run.reuse && fs::exists(file)) return;
  run.progress.doing(fmt::format("recording a step of {}", baseline.workload));
  record_step(run.measure.program, {.model = baseline.workload,
                                    .own = find_own_model(run.measure.own_models, baseline.workload),
                                    .device = baseline.training.on_gpu() ? "gpu" : "cpu",
                                    .precision = std::string(entry_of(calibration.place.alone.precision).name),
                                    .optimizer = baseline.training.optimizer,
                                    .batch = baseline.batch_per_gpu,
                                    .image_size = baseline.image_size,
                                    .file = file});
}

GpuRate stored_rate(const Case& baseline, const CalibrationRun& run, const std::string& how) {
  for (const CaseResult& result : run.results)
    if (result.asked.key() == baseline.key()) return rate_of(result, how);
  throw Error(ExitCode::lost_rank, fmt::format("{} was not measured alone", baseline.workload),
              "the same command with --resume measures it");
}

void write_profiles(const CalibrationPlan& calibration, const std::vector<Profile>& networks,
                    const CalibrationRun& run) {
  run.progress.doing(fmt::format("measuring what joins {} ranks", calibration.ranks()));
  MachineFigures machine = measure_machine(calibration.place, calibration.ranks(), run.measure.program);
  for (const Case& baseline : calibration.baselines)
    machine.rates[baseline.workload] = stored_rate(baseline, run, machine.how);
  machine.coding = coding_rates(run.results, calibration.baselines.front());
  for (const Profile& network : networks)
    write_whole(profile_file(run.folder, network), format_machine_profile(network, machine), "--db");
  run.progress.note("calibrated: " + link_in_words(machine));
  for (const auto& [compressor, stated] : machine.coding)
    run.progress.note(fmt::format("{}: {}", compressor, stated.source));
}

}  // namespace

double CalibrationPlan::seconds() const {
  return kRecordSeconds * static_cast<double>(baselines.size()) + (ranks() > 1 ? kLinkSeconds : 0);
}

std::string CalibrationPlan::in_words() const {
  std::vector<std::string> models;
  for (const Case& baseline : baselines) models.push_back(baseline.workload);
  std::vector<std::string_view> verbs;
  for (const Evidence each : evidence | std::views::reverse) verbs.push_back(kind_of(each).verb);
  return fmt::format("{} and what joins {}, to {} nodes like this machine joined by {}{}", fmt::join(models, ", "),
                     counted(ranks(), "rank"), fmt::join(verbs, " and "), fmt::join(networks, ", "),
                     std::ranges::any_of(evidence, is_timed) ? "; how long emulations take is known then" : "");
}

fs::path CalibrationPlan::folder(const fs::path& database) const {
  const Case& one = baselines.front();
  std::string name =
      fmt::format("{}-{}-batch{}-{}px-{}ranks{}", place.on_gpu ? "gpu" : "cpu", entry_of(place.alone.precision).name,
                  one.batch_per_gpu, one.image_size, ranks(), place.executor.empty() ? "" : "-" + place.executor);
  if (!one.training.optimizer.empty()) name += "-" + one.training.optimizer;
  for (const Case& baseline : baselines)
    if (!baseline.model_digest.empty()) name += "-" + baseline.model_digest;
  return calibration_folder(database) / name;
}

std::optional<CalibrationPlan> plan_calibration(const SweepRequest& request, const LocalMachine& machine,
                                                const Plan& plan, CalibrationChoice choice) {
  if (choice == CalibrationChoice::never) return std::nullopt;
  if (request.global_batch > 0 || request.accumulate > 1) {
    if (choice == CalibrationChoice::always)
      throw Error(ExitCode::usage,
                  "--calibrate records a step of one batch, and --global-batch or --accumulate has others",
                  "leave --calibrate out; hbench calibrate makes a profile of this machine by itself");
    return std::nullopt;
  }
  CalibrationPlan calibration;
  for (const Evidence evidence : request.evidence)
    if (is_of_cluster(evidence)) calibration.evidence.insert(evidence);
  const bool both = request.asks(is_of_machine) && !calibration.evidence.empty();
  if (!both && choice == CalibrationChoice::always)
    throw Error(ExitCode::usage, "--calibrate measures this machine and predicts more of it, and --evidence does not",
                "leave out --evidence, or give it measured and one of simulated and emulated");
  if (!both) return std::nullopt;
  for (const Case& asked : plan.cases)
    if (asked.is_timed() && !asked.strategy.communicates()) calibration.baselines.push_back(asked);
  // The plan says why nothing can be measured.
  if (calibration.baselines.empty()) return std::nullopt;
  calibration.place = measured_place(request, machine);
  const bool helps = calibration.place.on_gpu && request.gpus.back() > calibration.ranks();
  if (choice != CalibrationChoice::always && !helps) return std::nullopt;
  calibration.networks = request.profiles.empty() ? kDefaultNetworks : request.profiles;
  return calibration;
}

void calibrate(const CalibrationPlan& calibration, const Data& data, const CalibrationRun& run) {
  make_folder(run.folder);
  std::vector<Profile> missing;
  for (const std::string& name : calibration.networks) {
    Profile network = data.profiles.load(name);
    if (!run.reuse || !serves(profile_file(run.folder, network), calibration, data))
      missing.push_back(std::move(network));
  }
  for (const Case& baseline : calibration.baselines) {
    record(baseline, calibration, run);
    if (interrupted()) return;
  }
  if (!missing.empty()) write_profiles(calibration, missing, run);
}

Plan calibrated_plan(const CalibrationPlan& calibration, const SweepRequest& request, const Data& data,
                     const LocalMachine& machine, const fs::path& folder) {
  SweepRequest predicted = request;
  predicted.evidence = calibration.evidence;
  predicted.of_engine = true;
  predicted.single_gpu_rate = 0;
  predicted.batch = calibration.baselines.front().batch_per_gpu;
  // So that a measured framework stands beside what its preset predicts.
  for (const FrameworkChoice& choice : request.frameworks)
    predicted.preset_methods.emplace_back(choice.framework->preset, choice.method());
  predicted.workloads.clear();
  predicted.profiles.clear();
  for (const Case& baseline : calibration.baselines)
    predicted.workloads.push_back(fs::absolute(trace_file(folder, baseline)).string());
  for (const std::string& name : calibration.networks)
    predicted.profiles.push_back(fs::absolute(profile_file(folder, data.profiles.load(name))).string());
  Plan plan = make_plan(predicted, data, machine);
  for (PlannedCase& each : plan.cases) {
    Case asked = each;
    const Case& measured = *std::ranges::find(calibration.baselines, asked.workload, &Case::workload);
    asked.image_size = measured.image_size;
    asked.model_digest = measured.model_digest;
    asked.training = measured.training;
    if (asked.is_timed()) asked.machine = measured.machine;
    each = planned(std::move(asked));
  }
  return plan;
}

}  // namespace hbench

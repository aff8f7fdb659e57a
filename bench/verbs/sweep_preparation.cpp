#include "bench/verbs/sweep_preparation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/prediction/simulate.hpp"
#include "analysis/records/fingerprint.hpp"
#include "analysis/records/machine_facts.hpp"
#include "bench/calibrate/record_step.hpp"
#include "bench/command/program.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/frameworks/framework_job.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/reporting.hpp"
#include "bench/sweep/measured_place.hpp"
#include "collectives/base/error.hpp"
#include "workloads/libtorch.hpp"

namespace hbench {
namespace {

LocalMachine machine_around(const SweepOptions& options) {
  LocalMachine machine = local_machine(options.oversubscribe, allocation_of(options.hosts.named));
  if (!machine.allocation.is_local()) machine = machine_before_answers(std::move(machine), options.request);
  if (const std::string& note = machine.allocation.note; !note.empty()) inform("hbench: {}\n", one_line(note));
  // Hosts are asked later, once they are known to answer; in a dry run never.
  for (const FrameworkChoice& choice : options.request.frameworks)
    machine.frameworks[choice.text()] =
        machine.allocation.is_local() || options.dry_run ? find_framework(choice) : FoundFramework();
  return machine;
}

LocalMachine machine_for(const SweepOptions& options) {
  LocalMachine machine = options.measures() ? machine_around(options) : machine_at_rest();
  if (options.emulates())
    if (const Availability emulation = emulation_availability(); !emulation.available)
      machine.limits.no_emulation = emulation.in_words();
  return machine;
}

/// What is recorded of models of one's own: on the device of measured runs, else where `hbench calibrate` finds a GPU.
StepRecording recording_of(const SweepPreparation& sweep) {
  const SweepRequest& request = sweep.options.request;
  std::string device = request.device;
  if (sweep.options.measures()) device = chooses_gpus(request, sweep.machine) ? "gpu" : "cpu";
  return {.device = device,
          .precision = request.precision,
          .optimizer = request.optimizer ? request.optimizer->text() : "",
          .batch = request.batch};
}

/// `hbench-calibration/6d3c...-cpu-float32-batch16/model.pt:3x224x224.toml`: what differs is elsewhere.
std::filesystem::path timeline_of(const StepRecording& recording, const std::filesystem::path& database) {
  std::string folder = recording.own->digest;
  for (const std::string& part : {recording.device, recording.precision, recording.optimizer})
    if (!part.empty()) folder += "-" + part;
  if (recording.batch > 0) folder += fmt::format("-batch{}", recording.batch);
  return std::filesystem::absolute(calibration_folder(database) / folder / (recording.own->name() + ".toml"));
}

/// Records a step of each model of one's own, so that it can be predicted. This shows as well whether it can be
/// trained: names are checked before, and nothing is measured of a model that cannot. A dry run knows only earlier
/// recordings.
void record_own_models(SweepPreparation& sweep) {
  SweepRequest& request = sweep.options.request;
  if (request.own_models.empty()) return;
  for (const OwnModel& model : request.own_models) sweep.machine.limits.models.push_back(model.name());
  PlanBuilder(request, sweep.data, sweep.machine.limits);
  if (!sweep.options.dry_run)
    if (const Availability torch = training_availability(); !torch.available) throw torch.error();
  StepRecording recording = recording_of(sweep);
  for (const OwnModel& model : request.own_models) {
    recording.own = &model;
    const std::filesystem::path file = recording.file = timeline_of(recording, sweep.options.database);
    const bool known = std::filesystem::exists(file) && (sweep.options.resume || sweep.options.dry_run);
    if (!known && sweep.options.dry_run) continue;
    if (!known) {
      make_folder(file.parent_path());
      const std::string step = record_step(installation().worker.string(), recording);
      if (sweep.options.verbosity != Verbosity::quiet)
        inform("hbench: recorded on this machine: {}\n  {}; what is simulated computes as fast\n", step,
               sweep.data.traces.load(file.string()).source);
    }
    request.workloads.push_back(file.string());
  }
}

/// With what is known of the machine by now.
void plan_again(SweepPreparation& sweep) {
  sweep.plan = {make_plan(sweep.options.request, sweep.data, sweep.machine)};
  sweep.calibration = plan_calibration(sweep.options.request, sweep.machine, sweep.plan, sweep.options.calibration);
  if (!sweep.calibration) return;
  // A timeline that it records is not missing.
  for (const Case& baseline : sweep.calibration->baselines)
    for (const Evidence evidence : sweep.calibration->evidence)
      std::erase_if(sweep.plan.refused, [&](const Refusal& refusal) {
        return refusal.what == fmt::format("{}, {}", baseline.workload, to_string(evidence));
      });
}

bool trains_on_gpus(const SweepPreparation& sweep) {
  return std::ranges::any_of(sweep.plan.cases, [](const Case& asked) { return asked.training.on_gpu(); });
}

/// Hosts on which no job can run end the sweep before it begins; those that only differ are named.
void check_hosts(SweepPreparation& sweep) {
  MeasureOptions& measure = sweep.options.measure;
  sweep.preflight = look_at_hosts(measure.allocation, measure.program, measure.network, measure.host);
  if (!sweep.preflight.problems.obstacles.empty()) throw cannot_run(sweep.preflight);
  measure.network = sweep.preflight.network;
  sweep.machine = machine_of_hosts(std::move(sweep.machine), sweep.preflight.hosts);
}

/// Frameworks are those that all hosts have. Their libraries each choose an address of a host, unless it is given.
void find_frameworks_on_hosts(SweepPreparation& sweep) {
  MeasureOptions& measure = sweep.options.measure;
  const bool cannot_meet = measure.allocation.hosts.size() > 1 && measure.network.empty();
  for (const FrameworkChoice& choice : sweep.options.request.frameworks) {
    FoundFramework& found = sweep.machine.frameworks[choice.text()];
    if (cannot_meet)
      found.state = {false, "its ranks need the network between hosts, which is not known",
                     "name it: --network-interface eth0"};
    else
      found = find_framework(choice, measure.allocation, measure.network);
  }
}

/// What only trying shows, where anything is measured: with it the plan is made again. Without a worker that starts
/// nothing is measured, and hosts are left alone; the rest is done.
void look_at_machine(SweepPreparation& sweep) {
  const auto is_in_turn = [&](const Case& asked) { return sweep.stage_of(asked) == Stage::in_turn; };
  if (std::ranges::none_of(sweep.plan.cases, is_in_turn)) return;
  const Allocation& hosts = sweep.options.measure.allocation;
  const Availability training = training_availability();
  if (training.available && hosts.is_local()) return;
  if (training.available) {
    if (sweep.options.preflight) check_hosts(sweep);
    find_frameworks_on_hosts(sweep);
  } else {
    sweep.machine.no_training = training.in_words();
  }
  plan_again(sweep);
  if (!training.available || !trains_on_gpus(sweep) || sweep.machine.asked_for) return;
  const Case& sharing =
      *std::ranges::max_element(sweep.plan.cases, {}, [](const Case& asked) { return asked.processes_per_gpu; });
  require_gpus_for_slots(hosts, sweep.preflight.hosts, std::max(1, sharing.processes_per_gpu));
}

/// Of the first host; this machine may be another one.
std::map<std::string, std::string> environment_of_hosts(const SweepPreparation& sweep) {
  if (!sweep.preflight.hosts.empty()) return environment_of(sweep.preflight);
  std::map<std::string, std::string> facts = environment_facts(trains_on_gpus(sweep));
  if (const auto& hosts = sweep.options.measure.run_hosts; !hosts.empty())
    facts[std::string(kHostsFact)] = fmt::format("{}", fmt::join(hosts, ", "));
  return facts;
}

/// Who answers, and on what machine: its libraries are asked, which takes half a second.
void describe_run(SweepPreparation& sweep, const std::string& command) {
  Run& run = sweep.run;
  run = {command, HBENCH_VERSION, now_utc(), environment_of_hosts(sweep), sweep.options.labels};
  remember_titles(run, sweep.plan.catalog, sweep.data);
  for (PlannedCase& each : sweep.plan.cases) place_on_this_machine(each.asked, run);
  if (sweep.calibration)
    for (Case& asked : sweep.calibration->baselines) place_on_this_machine(asked, run);
}

void check_faults(const std::vector<EmulatedFault>& faults, const SweepPlan& plan) {
  const auto emulated = [](const CaseWork& work) { return work.emulated.has_value(); };
  if (std::ranges::none_of(plan.work, emulated)) return;
  for (const EmulatedFault& fault : faults)
    if (std::ranges::none_of(plan.work, [&](const CaseWork& work) {
          return emulated(work) &&
                 fault.index < (fault.kind == EmulatedFault::Kind::server ? work.emulated->planned.strategy.servers
                                                                          : work.emulated->cluster.links.nodes());
        }))
      throw Error(ExitCode::usage,
                  fmt::format("HBENCH_EMULATED_FAULT: {}: no emulated cluster has it", to_text({fault})),
                  "nodes and servers count from 0; emulate more of them with --gpus");
}

/// What measured cases may take beyond the estimate.
std::string more_in_words(const SweepPreparation& sweep) {
  const MeasureOptions& measure = sweep.options.measure;
  const auto measured = std::ranges::count(sweep.plan.work, Stage::in_turn, &CaseWork::stage);
  if (measured == 0 || measure.more == 0) return "";
  return fmt::format(", up to {:.0f} s more if figures scatter",
                     static_cast<double>(measured * measure.more) * measure.launch_seconds());
}

}  // namespace

Stage SweepPreparation::stage_of(const Case& asked) const {
  if (!asked.is_timed()) return Stage::computed;
  // An emulated case without a cluster of its own is of the network that all ranks here are given.
  return asked.is_local() || asked.profile == machine.emulated ? Stage::in_turn : Stage::alone;
}

MeasureOptions SweepPreparation::emulation_launches() const {
  MeasureOptions launches = options.measure;
  launches.launches = options.emulated_launches;
  launches.budget = Seconds(0);
  return launches;
}

SweepPreparation plan_sweep(const Call& call, SweepOptions options) {
  LocalMachine machine = machine_for(options);
  SweepPreparation sweep{.options = std::move(options), .data = load_data(), .machine = std::move(machine), .plan = {}};
  record_own_models(sweep);
  plan_again(sweep);
  MeasureOptions& measure = sweep.options.measure;
  measure.program = installation().worker.string();
  measure.allocation = sweep.machine.allocation;
  for (const AllocatedHost& host : measure.allocation.hosts) measure.run_hosts.push_back(host.name);
  if (!sweep.options.dry_run) {
    look_at_machine(sweep);
    describe_run(sweep, call.command);
  }
  measure.frameworks = sweep.machine.frameworks;
  estimate(sweep.plan, sweep);
  return sweep;
}

void estimate(SweepPlan& plan, const SweepPreparation& sweep) {
  SimulatedRunner simulated(plan.catalog, interrupted);
  const MeasureOptions &measure = sweep.options.measure, launches = sweep.emulation_launches();
  const EmulationOptions options{
      .dilation = sweep.options.dilation, .cores = measure.host.cores, .faults = emulated_faults()};
  for (const PlannedCase& each : plan.cases) {
    CaseWork& work = plan.work.emplace_back(CaseWork{.stage = sweep.stage_of(each)});
    if (work.stage == Stage::alone) work.emulated = emulated_case(each, plan.catalog, simulated, options);
    work.seconds = work.emulated ? launches.launches * emulated_launch_time(*work.emulated, launches).value
                   : work.stage == Stage::in_turn ? measure.launches * measure.launch_seconds()
                                                  : simulation_time(each, plan.catalog).value;
  }
  check_faults(options.faults, plan);
}

std::string plan_in_words(const SweepPreparation& sweep) {
  const SweepPlan& plan = sweep.plan;
  double seconds = 0;
  const Allocation& hosts = sweep.machine.allocation;
  std::string text = hosts.is_local() ? "" : fmt::format("hosts: {}\n", hosts.in_words());
  for (const PlannedCase& each : plan.cases) {
    const CaseWork& work = plan.work_of(each);
    seconds += work.seconds;
    text += fmt::format("{:9} {:14} {:5} GPUs  {:40} {}", to_string(each.asked.evidence), each.asked.workload,
                        each.asked.gpus, each.asked.strategy_label(), each.asked.profile);
    if (work.emulated)
      text += fmt::format(", dilated {:g} times, {:.0f} s", work.emulated->cluster.dilation, work.seconds);
    text += '\n';
  }
  for (const Refusal& refusal : plan.refused) text += fmt::format("left out  {}: {}\n", refusal.what, refusal.why);
  if (sweep.calibration) {
    seconds += sweep.calibration->seconds();
    text += fmt::format("calibrate {}\n", sweep.calibration->in_words());
  }
  return text + fmt::format("{} cases and {} published points, about {:.0f} s{}\n", plan.cases.size(),
                            plan.published.size(), seconds, more_in_words(sweep));
}

}  // namespace hbench

#include "bench/verbs/sweep_preparation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/prediction/simulate.hpp"
#include "analysis/records/fingerprint.hpp"
#include "analysis/records/rank_hosts.hpp"
#include "bench/calibrate/record_step.hpp"
#include "bench/command/program.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/frameworks/framework_job.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/reporting.hpp"
#include "bench/sweep/measured_place.hpp"
#include "workloads/libtorch.hpp"

namespace hbench {
namespace {

LocalMachine machine_around(const SweepOptions& options) {
  LocalMachine machine = local_machine(options.oversubscribe, allocation_of(options.hosts.named));
  if (const std::string& note = machine.allocation.note; !note.empty()) inform("hbench: {}\n", note);
  // Hosts are asked later, once they are known to answer; in a dry run never.
  for (const FrameworkChoice& choice : options.request.frameworks)
    machine.frameworks[choice.text()] =
        machine.allocation.is_local() || options.dry_run ? find_framework(choice) : FoundFramework();
  if (machine.allocation.is_local()) return machine;
  return machine_before_answers(std::move(machine), options.request);
}

LocalMachine machine_for(const SweepOptions& options) {
  LocalMachine machine = options.measures() ? machine_around(options) : machine_at_rest();
  if (!options.emulates()) return machine;
  const Availability emulation = emulation_availability();
  if (!emulation.available) machine.limits.no_emulation = emulation.in_words();
  return machine;
}

/// The device of a recording: that of measured runs; empty: where `hbench calibrate` finds a GPU, there.
std::string recording_device(const SweepPreparation& sweep) {
  if (!sweep.options.measures()) return sweep.options.request.device;
  return chooses_gpus(sweep.options.request, sweep.machine) ? "gpu" : "cpu";
}

/// Empty: none was asked for.
std::string optimizer_of_recording(const SweepRequest& request) {
  return request.optimizer ? request.optimizer->text() : "";
}

/// `hbench-calibration/6d3c...-cpu-float32-batch16/model.pt:3x224x224.toml`: what differs is elsewhere.
std::filesystem::path timeline_of(const OwnModel& model, const SweepPreparation& sweep) {
  const SweepRequest& request = sweep.options.request;
  std::string folder = model.digest;
  for (const std::string& part : {recording_device(sweep), request.precision, optimizer_of_recording(request)})
    if (!part.empty()) folder += "-" + part;
  if (request.batch > 0) folder += fmt::format("-batch{}", request.batch);
  return std::filesystem::absolute(calibration_folder(sweep.options.database) / folder / (model.name() + ".toml"));
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
  for (const OwnModel& model : request.own_models) {
    const std::filesystem::path file = timeline_of(model, sweep);
    const bool known = std::filesystem::exists(file) && (sweep.options.resume || sweep.options.dry_run);
    if (!known && sweep.options.dry_run) continue;
    if (!known) {
      make_folder(file.parent_path());
      const std::string step =
          record_step(installation().worker.string(), {.own = &model,
                                                       .device = recording_device(sweep),
                                                       .precision = request.precision,
                                                       .optimizer = optimizer_of_recording(request),
                                                       .batch = request.batch,
                                                       .file = file});
      if (sweep.options.verbosity != Verbosity::quiet)
        inform("hbench: recorded on this machine: {}\n  {}; what is simulated computes as fast\n", step,
               sweep.data.traces.load(file.string()).source);
    }
    request.workloads.push_back(file.string());
  }
}

/// With what is known of the machine by now.
void plan_again(SweepPreparation& sweep) {
  sweep.plan = make_plan(sweep.options.request, sweep.data, sweep.machine);
  sweep.calibration = plan_calibration(sweep.options.request, sweep.machine, sweep.plan, sweep.options.calibration);
  if (!sweep.calibration) return;
  // A timeline that it records is not missing.
  std::erase_if(sweep.plan.refused, [&](const Refusal& refusal) {
    return std::ranges::any_of(sweep.calibration->baselines, [&](const Case& baseline) {
      return std::ranges::any_of(sweep.calibration->evidence, [&](Evidence evidence) {
        return refusal.what == fmt::format("{}, {}", baseline.workload, to_string(evidence));
      });
    });
  });
}

bool measures_here(const SweepPreparation& sweep) {
  return std::ranges::any_of(sweep.plan.cases, [&](const Case& asked) { return sweep.is_launched_here(asked); });
}

bool trains_on_gpus(const SweepPreparation& sweep) {
  return std::ranges::any_of(sweep.plan.cases, [](const Case& asked) { return asked.training.on_gpu(); });
}

/// Without a worker that starts nothing is measured; the rest is done.
void try_worker(SweepPreparation& sweep) {
  if (!measures_here(sweep)) return;
  const Availability training = training_availability();
  if (training.available) return;
  sweep.machine.no_training = training.in_words();
  plan_again(sweep);
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
  measure.frameworks = sweep.machine.frameworks;
}

/// The plan is made again with what all hosts have.
void look_at_hosts_of(SweepPreparation& sweep) {
  const Allocation& hosts = sweep.options.measure.allocation;
  if (hosts.is_local() || !measures_here(sweep)) return;
  if (sweep.options.preflight) check_hosts(sweep);
  find_frameworks_on_hosts(sweep);
  plan_again(sweep);
  if (!trains_on_gpus(sweep) || sweep.machine.asked_for) return;
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
void describe_run(SweepPreparation& sweep) {
  Run& run = sweep.run;
  run = {run.command, HBENCH_VERSION, now_utc(), environment_of_hosts(sweep), sweep.options.labels};
  remember_titles(run, sweep.plan.catalog, sweep.data);
  for (PlannedCase& each : sweep.plan.cases) place_on_this_machine(each.asked, run);
  if (sweep.calibration)
    for (Case& asked : sweep.calibration->baselines) place_on_this_machine(asked, run);
}

}  // namespace

bool SweepPreparation::is_launched_here(const Case& asked) const {
  // An emulated case without a cluster of its own is of the network that all ranks here are given.
  return asked.is_timed() && (asked.is_local() || asked.profile == machine.emulated);
}

double SweepPreparation::cost(const PlannedCase& planned, const Plan& of) const {
  if (planned.asked.is_predicted()) return simulation_time(planned, of.catalog).value;
  if (is_of_emulated_cluster(planned, of.catalog)) return emulations.at(&planned).seconds;
  return options.measure.launches * options.measure.launch_seconds();
}

MeasureOptions SweepPreparation::emulation_launches() const {
  MeasureOptions launches = options.measure;
  launches.launches = options.emulated_launches;
  launches.budget = Seconds(0);
  return launches;
}

SweepPreparation plan_sweep(const Call& call, SweepOptions options) {
  LocalMachine machine = machine_for(options);
  SweepPreparation sweep{.options = std::move(options), .data = load_data(), .machine = std::move(machine)};
  record_own_models(sweep);
  plan_again(sweep);
  MeasureOptions& measure = sweep.options.measure;
  measure.program = installation().worker.string();
  measure.allocation = sweep.machine.allocation;
  measure.frameworks = sweep.machine.frameworks;
  for (const AllocatedHost& host : measure.allocation.hosts) measure.run_hosts.push_back(host.name);
  sweep.run.command = call.command;
  return sweep;
}

void look_around(SweepPreparation& sweep) {
  try_worker(sweep);
  look_at_hosts_of(sweep);
  describe_run(sweep);
}

PlannedEmulations plan_emulations(const SweepPreparation& sweep, const Plan& plan) {
  PlannedEmulations planned;
  SimulatedRunner simulated(plan.catalog, interrupted);
  const EmulationOptions options{
      .dilation = sweep.options.dilation, .cores = sweep.options.measure.host.cores, .faults = emulated_faults()};
  const MeasureOptions launches = sweep.emulation_launches();
  for (const PlannedCase& each : plan.cases) {
    if (!is_of_emulated_cluster(each, plan.catalog)) continue;
    EmulatedCase emulated = emulated_case(each, plan.catalog, simulated, options);
    const double seconds = launches.launches * emulated_launch_time(emulated, launches).value;
    planned.emplace(&each, PlannedEmulation{std::move(emulated), seconds});
  }
  for (const EmulatedFault& fault : options.faults) {
    const auto has_place = [&](const auto& each) {
      return fault.index < (fault.kind == EmulatedFault::Kind::server ? each.first->strategy.servers
                                                                      : each.second.emulated.cluster.links.nodes());
    };
    if (!planned.empty() && std::ranges::none_of(planned, has_place))
      throw Error(ExitCode::usage,
                  fmt::format("HBENCH_EMULATED_FAULT: {}: no emulated cluster has it", to_text({fault})),
                  "nodes and servers count from 0; emulate more of them with --gpus");
  }
  return planned;
}

}  // namespace hbench

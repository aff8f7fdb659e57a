#include "analysis/prediction/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/prediction/case_memory.hpp"
#include "analysis/records/metrics.hpp"
#include "analysis/trace/ledger.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/network/choose.hpp"
#include "workloads/simulation/simulation_cost.hpp"
#include "workloads/step/divided_model.hpp"

namespace hbench {
namespace {

/// Below, a simulation takes milliseconds and megabytes, and is not worth the time to count.
constexpr int kLargeWorld = 256;
constexpr Seconds kSmallCase(0.004);

std::string in_words(std::int64_t transfers) {
  const auto count = static_cast<double>(transfers);
  return count < 1e9 ? fmt::format("{:.0f} million transfers", count / 1e6)
                     : fmt::format("{:.1f} billion transfers", count / 1e9);
}

/// The preset whose servers' rate is known better than the cluster's own figure; null: there is none.
const Preset* servers_preset(const Profile& cluster, const World& world, const TrainingStrategy& strategy) {
  const bool better = world.servers > 0 && cluster.server_factor > 1 && strategy.preset != nullptr;
  return better && strategy.preset->server_rate.stated > 0 ? strategy.preset : nullptr;
}

/// Moves a step by what a measured one says of it, and narrows its band.
void shift_by(SimulatedStep& step, double measured_shift) {
  // Nothing that is measured makes a GPU faster than it is alone.
  const double before = step.step().value, factor = std::max(std::exp(measured_shift), step.times.alone.value / before);
  const auto left = [&](Seconds end) {
    const double off = std::log(end.value / before);
    return Seconds(before * factor * std::exp(std::copysign(left_by_step(std::abs(off)), off)));
  };
  step.low = std::min(std::max(left(step.low), Seconds(step.times.alone)), Seconds(before * factor));
  step.high = left(step.high);
  for (Unknown& each : step.unknowns) each.slower = left_by_step(each.slower), each.faster = left_by_step(each.faster);
  step.lost *= factor;
  step.fast = step.fast * factor;
  step.slow = step.slow * factor;
  step.narrowed.reset();
}

bool has_ends(const Profile& cluster, const World& world) {
  return cluster.stream_factor > 1 || !cluster.assumed().empty() || (world.servers > 0 && cluster.server_factor > 1);
}

}  // namespace

RatePrior rate_prior(const Profile& cluster, int gpus) {
  if (gpus <= cluster.gpus_per_domain()) return cluster.local_rate_of(gpus) > kFastestBus ? kSwitchedPrior : kBusPrior;
  return cluster.is_tcp() ? kSocketsPrior : kRdmaPrior;
}

NetworkEnds network_ends(const Profile& cluster, const RatePrior& prior) {
  return {.slower = 1 + std::hypot(cluster.uncertainty, prior.slower),
          .faster = 1 / (1 + std::hypot(cluster.uncertainty / (1 - cluster.uncertainty), prior.faster))};
}

std::string refuse_size(const World& world, const StepTimeline& timeline, const TrainingStrategy& strategy,
                        std::int64_t memory) {
  if (world.workers < kLargeWorld) return {};
  const SimulationNeed need = simulation_need(world, timeline, strategy);
  if (need.bytes <= memory) return {};
  const auto size = [](std::int64_t bytes) { return format(Bytes(static_cast<double>(bytes))); };
  return fmt::format("needs up to {} of memory for {}; up to {} GPUs fit in the {} that are available",
                     size(need.bytes), in_words(need.transfers),
                     with_commas(workers_that_fit(world, timeline, strategy, memory)), size(memory));
}

std::string refuse_sharing(const PlannedCase& planned, const Catalog& catalog) {
  const auto& [asked, strategy] = planned;
  const int gpus_per_node = catalog.profiles.at(asked.profile).gpus_per_node;
  if (std::string why = refuse_groups(strategy.method, gpus_per_node); !why.empty()) return why;
  return refuse_division(strategy.method, catalog.traces.at(asked.workload),
                         {.workers = asked.gpus,
                          .gpus_per_node = gpus_per_node,
                          .batch_per_gpu = asked.batch_per_gpu,
                          .accumulate = asked.accumulate});
}

std::string refuse_simulation(const PlannedCase& planned, const Catalog& catalog, std::int64_t memory) {
  const auto& [asked, strategy] = planned;
  const World world = planned.world(catalog.profiles.at(asked.profile).gpus_per_domain());
  std::string why = refuse_sharing(planned, catalog);
  if (why.empty()) why = refuse_strategy(strategy, world);
  return why.empty() ? refuse_size(world, catalog.traces.at(asked.workload).timeline, strategy, memory) : why;
}

std::string refuse_choice(const Profile& profile, int workers, std::int64_t memory) {
  if (workers < kLargeWorld) return {};
  const std::int64_t transfers = transfers_to_choose(profile, workers, usual_sizes());
  const auto bytes = static_cast<double>(transfers) * sizeof(Transfer) * 2;
  if (bytes <= static_cast<double>(memory)) return {};
  return fmt::format("needs up to {} of memory for {}, and {} are available", format(Bytes(bytes)), in_words(transfers),
                     format(Bytes(static_cast<double>(memory))));
}

std::int64_t simulation_bytes(const PlannedCase& planned, const Catalog& catalog) {
  const auto& [asked, strategy] = planned;
  if (asked.gpus < kLargeWorld) return 0;
  const World world = planned.world(catalog.profiles.at(asked.profile).gpus_per_domain());
  return simulation_need(world, catalog.traces.at(asked.workload).timeline, strategy).bytes;
}

Seconds simulation_time(const PlannedCase& planned, const Catalog& catalog) {
  if (planned.asked.gpus < kLargeWorld) return kSmallCase;
  const Profile& cluster = catalog.profiles.at(planned.asked.profile);
  return simulation_time(cluster, planned.world(cluster.gpus_per_domain()), timeline_of(planned, catalog),
                         planned.strategy);
}

const Profile& SimulatedRunner::profile(const std::string& name, End end, const Preset* preset) {
  const Profile& stated = catalog_.profiles.at(name);
  if (end == End::stated && preset == nullptr) return stated;
  const std::tuple key(name, end, preset);
  if (const auto known = varied_.find(key); known != varied_.end()) return known->second;
  Profile varied = stated.at(end);
  if (preset != nullptr) varied.server_rate = BytesPerSecond(preset->server_rate.at(end));
  return varied_.emplace(key, std::move(varied)).first->second;
}

StepSimulator& SimulatedRunner::simulator(const std::string& profile_name, const World& world, End end,
                                          const Preset* preset) {
  if (profile_name != last_profile_ || world.workers != last_workers_) simulators_.clear();
  if (profile_name != last_profile_) plans_ = std::make_shared<ConcurrentPlans>();
  last_profile_ = profile_name;
  last_workers_ = world.workers;
  const std::tuple key{world.servers, world.colocated, world.group, end, preset};
  // There may be memory for the schedules of one large world only.
  if (world.workers >= kLargeWorld && !simulators_.contains(key)) simulators_.clear();
  return simulators_.try_emplace(key, profile(profile_name, end, preset), world, stop_, plans_).first->second;
}

/// The factor by which GPUs are slower for all that a full node's rate has in it beside what is simulated.
double SimulatedRunner::slowed_by_node(const PlannedCase& planned, double node_rate) {
  const Case& asked = planned;
  const int full = catalog_.profiles.at(asked.profile).gpus_per_node;
  if (node_rate == 0 || asked.gpus < full || full == 1 || !planned.strategy.method.division.none()) return 1;
  Case of_node = asked;
  of_node.gpus = full;
  of_node.training.recompute.clear();  // as nodes are measured
  const PlannedCase node = hbench::planned(of_node);
  const StepTimeline timeline = timeline_of(node, catalog_);
  // A rate that is no rate of such a node explains nothing.
  if (!can_be_node_rate(node_rate, full * timeline.samples_per_second())) return 1;
  const World world = node.world(full);
  if (!refuse_strategy(node.strategy, world).empty()) return 1;
  const StepTimes times = simulator(asked.profile, world, End::stated, nullptr).run(timeline, node.strategy);
  return asked.batch_per_gpu * full / node_rate / times.step.value;
}

StepFacts SimulatedRunner::facts_of(const Setting& setting, const SimulatedStep& step) const {
  const Case& asked = setting.planned;
  const Profile& cluster = catalog_.profiles.at(asked.profile);
  const Trace& trace = catalog_.traces.at(asked.workload);
  const int of_node = std::min(asked.gpus, cluster.gpus_per_node);
  const double unhidden = std::min(step.times.exposed, step.times.communication).value;
  const std::vector<Figure> assumed = cluster.assumed();
  return {.step = step.times.step.value,
          .better = std::min(step.times.step, step.fast).value,
          .worse = std::max(step.times.step, step.slow).value,
          .hidden = step.times.communication.value - unhidden,
          .exposed = unhidden,
          .nodes = cluster.nodes_of(asked.gpus),
          .domains = cluster.domains_of(asked.gpus),
          .gpus_of_node = of_node,
          .node_rate = of_node * step.rate,
          .tensors = static_cast<double>(trace.timeline.gradients.size()),
          .bytes = trace.elements() * number_bytes_of(asked, catalog_).gradient,
          .recorded_error = trace.recorded ? trace.recorded->error() : 0,
          .servers = setting.world.servers > 0,
          .switched_links = cluster.local_rate_of(asked.gpus) > kFastestBus,
          .assumed_network =
              std::ranges::any_of(assumed, [](const Figure& figure) { return figure.key.starts_with("network."); }),
          .framework_known = !asked.strategy.preset.empty(),
          .computed_timeline = trace.computed(),
          .mixed_precision = is_half(asked.training.precision),
          .codes = setting.strategy.communicates() && !setting.strategy.compressor.at_most_casts(),
          .coding_measured = setting.strategy.compressor.measured.has_value(),
          .node_measured = setting.slowed != 1};
}

/// The same by the rate of a node that the profile has beside that of one GPU, at the batch of both; 1 where GPUs are
/// said to have another rate.
double SimulatedRunner::slowed_by_known_node(const PlannedCase& planned) {
  const auto& rates = catalog_.profiles.at(planned.asked.profile).rates;
  const auto known = rates.find(planned.asked.workload);
  if (known == rates.end() || known->second.node == 0) return 1;
  const GpuRate& rate = known->second;
  const double given = planned.asked.single_gpu_rate;
  if (given != 0 && given != rate.samples_per_second) return 1;
  PlannedCase node = planned;
  if (planned.asked.global_batch > 0 && rate.batch > 0) {
    node.asked.batch_per_gpu = rate.batch;
    node.asked.accumulate = 0;
  }
  return slowed_by_node(node, rate.node);
}

SimulatedRunner::Setting SimulatedRunner::setting_of(const PlannedCase& planned, double node_rate) {
  const auto& [asked, strategy] = planned;
  const Profile& cluster = catalog_.profiles.at(asked.profile);
  Setting setting{.planned = planned,
                  .rate = one_gpu(planned, catalog_),
                  .slowed = node_rate > 0 ? slowed_by_node(planned, node_rate) : slowed_by_known_node(planned),
                  .strategy = strategy,
                  .world = planned.world(cluster.gpus_per_domain())};
  setting.strategy.compressor.measured = cluster.coding_rate(strategy.compressor.text());
  if (asked.accumulate > 1 || !asked.training.recompute.empty() || !strategy.method.division.none())
    setting.rate.samples_per_second = timeline_of(planned, catalog_).samples_per_second();
  return setting;
}

StepTimes SimulatedRunner::simulated(const Setting& setting, End end, double network_slower, double gpu_faster,
                                     std::vector<Span>* spans) {
  const std::string& profile_name = setting.planned.asked.profile;
  const Profile& cluster = catalog_.profiles.at(profile_name);
  const StepTimeline timeline = timeline_of(setting.planned, catalog_, setting.faster * gpu_faster / setting.slowed);
  return simulator(profile_name, setting.world, has_ends(cluster, setting.world) ? end : End::stated,
                   servers_preset(cluster, setting.world, setting.strategy))
      .run(timeline, setting.strategy, network_slower, end, spans);
}

StatedStep SimulatedRunner::stated(const PlannedCase& planned, double node_rate) {
  const Setting setting = setting_of(planned, node_rate);
  // What is lost depends on the band.
  return {.step = loses(setting) || catalog_.measured_shift != 0 ? step(setting).step()
                                                                 : simulated(setting, End::stated).step,
          .rate = setting.rate.samples_per_second};
}

SimulatedStep SimulatedRunner::step(const PlannedCase& planned, double node_rate, double faster) {
  Setting setting = setting_of(planned, node_rate);
  setting.faster = faster;
  setting.rate.samples_per_second *= faster;
  return step(setting);
}

SimulatedStep SimulatedRunner::step(const Setting& setting) {
  const Case& asked = setting.planned;
  const Profile& cluster = catalog_.profiles.at(asked.profile);
  const OneGpu& rate = setting.rate;
  SimulatedStep result{.rate = rate.samples_per_second, .rate_factor = rate.factor};
  const StepTimes& times = result.times = simulated(setting, End::stated, 1, 1, &result.spans);
  // On a faster network messages meet other queues, and nothing promises that no step takes longer for it: what the
  // profile is uncertain of is the envelope of the three runs. A slower GPU hides more, and a faster one less; against
  // their own speed alone they are compared as if they were as fast as stated.
  const NetworkEnds ends = network_ends(cluster, rates_given_ ? RatePrior{} : rate_prior(cluster, asked.gpus));
  result.fast = simulated(setting, End::better, ends.faster, 1 / rate.factor).step / rate.factor;
  result.slow = simulated(setting, End::worse, ends.slower, rate.factor).step * rate.factor;
  result.low = result.high = times.step;
  if (asked.gpus == 1) return result;
  result.facts = facts_of(setting, result);
  result.unknowns = unknowns_of(result.facts);
  const ScheduledStep scheduled{
      .step = times.step.value, .alone = asked.batch_per_gpu / result.rate, .loses = loses(setting)};
  const Band band = scheduled.band(result.unknowns);
  result.low = Seconds(band.low);
  result.high = Seconds(band.high);
  result.narrowed = scheduled.narrowed(result.unknowns);
  if (scheduled.loses) {
    result.lost = expected_loss(result.unknowns);
    result.fast = result.fast * result.lost;
    result.slow = result.slow * result.lost;
  }
  const bool across = cluster.domains_of(asked.gpus) > 1;
  if (catalog_.measured_shift != 0) shift_by(result, across ? catalog_.measured_shift : catalog_.measured_shift_inside);
  return result;
}

CaseResult SimulatedRunner::run(const PlannedCase& planned) {
  const auto& [asked, strategy] = planned;
  const SimulatedStep simulated = step(planned);
  const StepTimes& times = simulated.times;
  CaseResult result{.asked = asked};
  const auto add = [&](std::string_view metric, double value, const char* unit = "s") {
    result.samples.push_back({.metric = std::string(metric), .value = value, .unit = unit});
  };
  add("step_seconds", simulated.step().value);
  add("step_seconds_low", simulated.low.value);
  add("step_seconds_high", simulated.high.value);
  add("step_seconds_better", simulated.fast.value);
  add("step_seconds_worse", simulated.slow.value);
  add("communication_seconds", times.communication.value);
  add_other_batch(result, one_gpu(planned, catalog_));
  add_memory(result, memory_of(planned, catalog_));
  if (times.staleness)
    for (const auto& [name, value] : times.staleness->parts())
      add(fmt::format("{}{}", metric::kStaleness, name), value, "1");
  if (times.sent && asked.gpus > 1) {
    add(fmt::format("{}within", metric::kSent), times.sent->within, "B");
    add(fmt::format("{}between", metric::kSent), times.sent->between, "B");
  }
  for (const Unknown& each : simulated.unknowns)
    add(fmt::format("{}{}", kUnknownPrefix, name_of(each.kind)), each.size(), "1");
  if (const auto& known = simulated.narrowed) {
    const std::string narrowed = fmt::format("{}{}/", metric::kNarrowed, name_of(known->kind));
    add(narrowed + "low", known->band.low);
    add(narrowed + "stated", known->band.stated);
    add(narrowed + "high", known->band.high);
  }
  add("baseline_throughput", simulated.rate, "samples/s");
  add("ledger/compute", times.compute.value);
  add("ledger/straggler", times.straggler.value);
  add("ledger/slowdown", times.slowdown.value);
  // Spans are of an iteration in which ranks exchange something, and times the mean of all.
  const double share = exchanging_share(strategy.method.plan(strategy.overlap));
  const Ledger waiting = step_ledgers(simulated.spans).front().ledger;
  const Seconds negotiation = waiting.negotiation * share, coding = waiting.coding * share;
  add("ledger/exposed", std::max(0.0, (times.exposed - negotiation - coding).value));
  add("ledger/negotiation", negotiation.value);
  add("ledger/coding", coding.value);
  if (times.update.value > 0) add("ledger/optimizer", times.update.value);
  if (simulated.lost > 1) add("ledger/unexplained", (simulated.step() - times.step).value);
  if (times.idle.value > 0) add(metric::kPipelineIdle, times.idle.value);
  return result;
}

Seconds simulation_time(const std::vector<PlannedCase>& cases, const Catalog& catalog) {
  Seconds all(0);
  for (const PlannedCase& each : cases) all = all + simulation_time(each, catalog);
  return all;
}

std::string simulation_in_words(const Case& asked) {
  return fmt::format("{}, {} GPUs of {}, {}", asked.workload, asked.gpus, asked.profile, asked.strategy.label());
}

}  // namespace hbench

#include "analysis/prediction/case_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "analysis/prediction/rate_model.hpp"
#include "analysis/records/metrics.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/units_text.hpp"
#include "workloads/step/divided_model.hpp"

namespace hbench {
namespace {

/// Models in the memory of a rank: gradients, what buckets are packed and received in, parameters, deltas, and the
/// means that lie aside with what others send for them.
double models_of(const StepPlan& plan) {
  return 1.6 + (carries_parameters(plan) ? 1 : 0) + (deltas_lie_apart(plan) ? 1 : 0) +
         (takes_means_with_some(plan) ? 3 : 0);
}

/// As the case says, else that in which the cluster's rate was measured, and without one the usual one.
Precision precision_of(const Case& asked, const Profile& cluster, const Trace& trace) {
  if (!asked.training.precision.empty()) return parse_precision(asked.training.precision);
  const auto rate = cluster.rates.find(trace.name);
  if (rate != cluster.rates.end() && !rate->second.precision.empty()) return parse_precision(rate->second.precision);
  return trace.cost ? parse_precision(usual_precision(cluster, trace.cost->kind)) : Precision::float32;
}

/// Two units are gathered at once, one for the pass and one ahead of it, and one has its gradients before they are
/// scattered.
Bytes gathered_units(const StepTimeline& timeline, const NumberBytes& bytes) {
  std::int64_t largest = 0;
  for (const std::vector<int>& unit : model_units(timeline)) largest = std::max(largest, elements_of(unit, timeline));
  return Bytes(static_cast<double>(largest) * (2 * bytes.gathered() + bytes.gradient));
}

/// A copy of the parameters since the last outer update, and the outer optimizer's numbers.
Bytes outer_state(const OuterUpdate& outer, const Trace& trace, const NumberBytes& bytes) {
  return Bytes(trace.elements() * std::max(bytes.weight, bytes.master) * (1 + outer.optimizer.state()));
}

/// What a compressor has not sent of one step, which is added to the next; on both sides that of one's part as well.
Bytes residuals(const CompressorChoice& compressor, int gpus, const Trace& trace) {
  const double buffers = (compressor.error_feedback ? 1 : 0) + (compressor.both_sides ? 1.0 / gpus : 0);
  return Bytes(trace.elements() * sizeof(float) * buffers);
}

/// Of the same step with another micro-batch.
StepMemory memory_at(PlannedCase step, const Catalog& catalog, int batch) {
  step.asked.batch_per_gpu = batch;
  step.asked.accumulate = 0;
  return memory_of(step, catalog);
}

/// The largest micro-batch with which a step has room, up to the case's; 0: none.
int largest_batch(const PlannedCase& step, const Catalog& catalog, Bytes room) {
  const double one = memory_at(step, catalog, 1).activations.value;
  const double left = (room - memory_of(step, catalog).state()).value;
  return static_cast<int>(std::clamp(left / one, 0.0, static_cast<double>(step.asked.micro_batch())));
}

/// What would have room: `--batch 12, --recompute full`. Empty: nothing that is known here.
std::vector<std::string> what_fits(const PlannedCase& step, const Catalog& catalog, Bytes room) {
  std::vector<std::string> ways;
  if (const int batch = largest_batch(step, catalog, room); batch > 0) ways.push_back(fmt::format("--batch {}", batch));
  auto [asked, strategy] = step;
  const bool is_full = std::exchange(strategy.recomputation, Recomputation::full) == Recomputation::full;
  if (is_full || !refuse_recomputation(catalog.traces.at(asked.workload), Recomputation::full).empty()) return ways;
  if (const int batch = largest_batch(planned(asked, strategy), catalog, room); batch == asked.micro_batch())
    ways.push_back("--recompute full");
  else if (batch > 0)
    ways.push_back(fmt::format("--recompute full --batch {}", batch));
  return ways;
}

/// `; --precision bf16-true takes 54 GB` where the GPU computes in it and one sample fits; else empty.
std::string fewer_bits_fit(const Case& asked, TrainingStrategy strategy, const Catalog& catalog, Bytes room) {
  strategy.precision = Precision::bf16_true;
  const PlannedCase fewer = planned(asked, strategy);
  const bool computes = catalog.profiles.at(asked.profile).peaks.bf16 > 0;
  if (!computes || memory_at(fewer, catalog, 1).total() > room) return {};
  return fmt::format("; --precision {} takes {:.0f} GB", fewer.asked.training.precision,
                     memory_of(fewer, catalog).state().value / 1e9);
}

/// `; --method zero:2 takes 27 GB` where the state has room then, or what is asked instead; else empty.
std::string shards_fit(const Case& asked, TrainingStrategy strategy, const Catalog& catalog, Bytes room) {
  if (strategy.method.trains_alone()) return fmt::format("; {}", kNodeAsOneGpu);
  if (!strategy.method.is_synchronous() || !strategy.communicates()) return {};
  for (const char* method : {"zero:1", "zero:2", "fsdp"}) {
    strategy.method = parse_method(method);
    const Bytes state = memory_of(planned(asked, strategy), catalog).state();
    if (state < room) return fmt::format("; --method {} takes {:.0f} GB", method, state.value / 1e9);
  }
  return {};
}

}  // namespace

std::string refuse_emulated_memory(int ranks, const StepTimeline& timeline, const StepPlan& plan,
                                   std::int64_t available) {
  constexpr double kProcess = 60e6;  // the libraries
  const double gradients = static_cast<double>(timeline.all_elements()) * sizeof(float);
  const double needed = ranks * (models_of(plan) * gradients + kProcess);
  if (needed <= static_cast<double>(available)) return {};
  return fmt::format("{} ranks with gradients of {} take {} of memory, and {} are available", ranks,
                     format(Bytes(gradients)), format(Bytes(needed)), format(Bytes(static_cast<double>(available))));
}

NumberBytes number_bytes_of(const Case& asked, const Catalog& catalog) {
  const std::string& preset = asked.strategy.preset;
  return number_bytes(precision_of(asked, catalog.profiles.at(asked.profile), catalog.traces.at(asked.workload)),
                      preset.empty() ? nullptr : &find_entry(presets(), preset, "preset"));
}

StepMemory memory_of(const PlannedCase& planned, const Catalog& catalog) {
  const auto& [asked, strategy] = planned;
  const ModelDivision& division = strategy.method.division;
  const StepPlan plan = strategy.method.plan(strategy.overlap);
  const Sharded parts = sharded(plan);
  const Trace& trace = catalog.traces.at(asked.workload);
  const NumberBytes bytes = number_bytes_of(asked, catalog);
  if (!division.none() && trace.shape) {
    const int replicas = division.replicas(asked.gpus).size;
    return divided_memory(trace, division, planned.micro_batch(), parts.optimizer ? std::max(1, replicas) : 1, bytes,
                          strategy.recomputation, strategy.optimizer);
  }
  StepMemory memory = step_memory(trace, asked.micro_batch(), bytes, strategy.recomputation, strategy.optimizer);
  if (plan.outer) memory.optimizer += outer_state(*plan.outer, trace, bytes);
  if (deltas_lie_apart(plan)) memory.gradients = 2 * memory.gradients;
  memory.optimizer += residuals(strategy.compressor, asked.gpus, trace);
  if (exchanges_among(plan, Among::servers)) {
    // Servers apply the gradients: on GPUs that are servers too these are a part of the model and of its state.
    const bool hosts = strategy.colocated();
    memory.optimizer = hosts ? (memory.weights + memory.optimizer) / strategy.servers : Bytes(0);
  }
  // The mean of parameters lies beside them until the update takes it.
  if (takes_means_with_some(plan)) memory.weights = 2 * memory.weights;
  const int ranks = parts.groups.size_among(asked.gpus);
  if (parts.optimizer) memory.optimizer = memory.optimizer / ranks;
  if (parts.gradients) memory.gradients = memory.gradients / ranks;
  if (parts.parameters) {
    const Bytes units = gathered_units(trace.timeline, bytes);
    const Bytes whole = memory.weights;
    const Bytes gathered = whole * (bytes.gathered() / bytes.weight);
    memory.weights = whole / ranks + (parts.gathered_stay ? gathered : units);
    memory.weights = std::min(memory.weights, whole);
  }
  return memory;
}

void add_memory(CaseResult& result, const StepMemory& memory) {
  const auto add = [&](std::string_view part, Bytes bytes) {
    if (bytes.value > 0)
      result.samples.push_back(
          {.metric = fmt::format("{}{}", metric::kMemory, part), .value = bytes.value, .unit = "B"});
  };
  add("weights", memory.weights);
  add("gradients", memory.gradients);
  add("optimizer", memory.optimizer);
  add("activations", memory.activations);
}

std::string refuse_memory(const PlannedCase& planned, const Catalog& catalog) {
  const auto& [asked, strategy] = planned;
  const Profile& profile = catalog.profiles.at(asked.profile);
  const Bytes room = profile.gpu_memory;
  if (room.value <= 0) return {};
  const StepMemory memory = memory_of(planned, catalog);
  if (memory.state() > room)
    return fmt::format("weights, gradients and optimizer take {:.0f} GB, and {}{}{}", memory.state().value / 1e9,
                       asked.strategy.method.empty() ? "plain data parallelism has all of them on each GPU"
                                                     : fmt::format("{} has so much of them on each of {} GPUs",
                                                                   asked.strategy.method, asked.gpus),
                       fewer_bits_fit(asked, strategy, catalog, room), shards_fit(asked, strategy, catalog, room));
  const auto rate = profile.rates.find(asked.workload);
  const bool measured = rate != profile.rates.end() && !rate->second.modelled;
  if (memory.total() <= room || (measured && asked.micro_batch() <= rate->second.batch)) return {};
  if (!strategy.method.division.none())
    return fmt::format(
        "weights, gradients and optimizer take {:.3g} GB, and activations of micro-batches of {} samples {:.0f} GB: "
        "give more micro-batches or stages, a smaller --batch, or --recompute full",
        memory.state().value / 1e9, planned.micro_batch(), memory.activations.value / 1e9);
  const std::vector<std::string> ways = what_fits(planned, catalog, room);
  return fmt::format(
      "weights, gradients and optimizer take {:.3g} GB, and activations of {} samples {:.0f} GB: {}",
      memory.state().value / 1e9, asked.micro_batch(), memory.activations.value / 1e9,
      ways.empty() ? std::string("not even one sample fits") : fmt::format("give {}", fmt::join(ways, ", or ")));
}

}  // namespace hbench

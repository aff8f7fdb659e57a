#include "analysis/prediction/case_memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/rate_model.hpp"
#include "analysis/records/metrics.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/units_text.hpp"
#include "workloads/step/divided_model.hpp"
#include "workloads/step/model_units.hpp"

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
Bytes residuals(const Case& asked, const Trace& trace) {
  if (!asked.strategy.compresses()) return Bytes(0);
  const CompressorChoice compressor = parse_compressor(asked.strategy.compressor);
  const double buffers = (compressor.error_feedback ? 1 : 0) + (compressor.both_sides ? 1.0 / asked.gpus : 0);
  return Bytes(trace.elements() * sizeof(float) * buffers);
}

/// Of the same step with another micro-batch.
StepMemory memory_at(Case asked, const Catalog& catalog, int batch) {
  asked.batch_per_gpu = batch;
  asked.accumulate = 0;
  return memory_of(asked, catalog);
}

/// The largest micro-batch with which a step has room, up to the case's; 0: none.
int largest_batch(const Case& asked, const Catalog& catalog, Bytes room) {
  const double one = memory_at(asked, catalog, 1).activations.value;
  const double left = (room - memory_of(asked, catalog).state()).value;
  return static_cast<int>(std::clamp(left / one, 0.0, static_cast<double>(asked.micro_batch())));
}

/// What would have room: `--batch 12, --recompute full`. Empty: nothing that is known here.
std::vector<std::string> what_fits(Case asked, const Catalog& catalog, Bytes room) {
  std::vector<std::string> ways;
  if (const int batch = largest_batch(asked, catalog, room); batch > 0)
    ways.push_back(fmt::format("--batch {}", batch));
  const Trace& trace = catalog.traces.at(asked.workload);
  const std::string full(entry_of(Recomputation::full).name);
  if (asked.training.recompute == full || !refuse_recomputation(trace, Recomputation::full).empty()) return ways;
  asked.training.recompute = full;
  if (const int batch = largest_batch(asked, catalog, room); batch == asked.micro_batch())
    ways.push_back("--recompute full");
  else if (batch > 0)
    ways.push_back(fmt::format("--recompute full --batch {}", batch));
  return ways;
}

/// `; --precision bf16-true takes 54 GB` where the GPU computes in it and one sample fits; else empty.
std::string fewer_bits_fit(Case asked, const Catalog& catalog, Bytes room) {
  asked.training.precision = entry_of(Precision::bf16_true).name;
  const bool computes = catalog.profiles.at(asked.profile).peaks.bf16 > 0;
  if (!computes || memory_at(asked, catalog, 1).total() > room) return {};
  return fmt::format("; --precision {} takes {:.0f} GB", asked.training.precision,
                     memory_of(asked, catalog).state().value / 1e9);
}

/// `; --method zero:2 takes 27 GB` where the state has room then; else empty.
std::string shards_fit(Case asked, const Catalog& catalog, Bytes room) {
  if (!asked.strategy.method.empty() || !asked.strategy.communicates()) return {};
  for (const char* method : {"zero:1", "zero:2", "fsdp"}) {
    asked.strategy.method = method;
    const Bytes state = memory_of(asked, catalog).state();
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

StepMemory memory_of(const Case& asked, const Catalog& catalog) {
  const MethodChoice method = method_of(asked);
  const StepPlan plan = method.plan(asked.strategy.overlap);
  const Sharded parts = sharded(plan);
  const Trace& trace = catalog.traces.at(asked.workload);
  const NumberBytes bytes = number_bytes_of(asked, catalog);
  if (!method.division.none() && trace.shape) {
    const int replicas = method.division.replicas(asked.gpus).size;
    return divided_memory(trace, method.division, micro_batch_of(asked), parts.optimizer ? std::max(1, replicas) : 1,
                          bytes, recomputation_of(asked), optimizer_of(asked));
  }
  StepMemory memory = step_memory(trace, asked.micro_batch(), bytes, recomputation_of(asked), optimizer_of(asked));
  if (plan.outer) memory.optimizer += outer_state(*plan.outer, trace, bytes);
  if (deltas_lie_apart(plan)) memory.gradients = 2 * memory.gradients;
  memory.optimizer += residuals(asked, trace);
  if (exchanges_among(plan, Among::servers)) {
    // Servers apply the gradients: on GPUs that are servers too these are a part of the model and of its state.
    const bool hosts = asked.strategy.colocated();
    memory.optimizer = hosts ? (memory.weights + memory.optimizer) / asked.strategy.servers : Bytes(0);
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

std::string refuse_memory(const Case& asked, const Catalog& catalog) {
  const Profile& profile = catalog.profiles.at(asked.profile);
  const Bytes room = profile.gpu_memory;
  if (room.value <= 0) return {};
  const StepMemory memory = memory_of(asked, catalog);
  if (memory.state() > room)
    return fmt::format("weights, gradients and optimizer take {:.0f} GB, and {}{}{}", memory.state().value / 1e9,
                       asked.strategy.method.empty() ? "plain data parallelism has all of them on each GPU"
                                                     : fmt::format("{} has so much of them on each of {} GPUs",
                                                                   asked.strategy.method, asked.gpus),
                       fewer_bits_fit(asked, catalog, room), shards_fit(asked, catalog, room));
  const auto rate = profile.rates.find(asked.workload);
  const bool measured = rate != profile.rates.end() && !rate->second.modelled;
  if (memory.total() <= room || (measured && asked.micro_batch() <= rate->second.batch)) return {};
  if (!method_of(asked).division.none())
    return fmt::format(
        "weights, gradients and optimizer take {:.3g} GB, and activations of micro-batches of {} samples {:.0f} GB: "
        "give more micro-batches or stages, a smaller --batch, or --recompute full",
        memory.state().value / 1e9, micro_batch_of(asked), memory.activations.value / 1e9);
  const std::vector<std::string> ways = what_fits(asked, catalog, room);
  return fmt::format(
      "weights, gradients and optimizer take {:.3g} GB, and activations of {} samples {:.0f} GB: {}",
      memory.state().value / 1e9, asked.micro_batch(), memory.activations.value / 1e9,
      ways.empty() ? std::string("not even one sample fits") : fmt::format("give {}", fmt::join(ways, ", or ")));
}

}  // namespace hbench

#pragma once

/// The family of training methods: what every rank does in an iteration, and what that promises.
///
/// One method is one constant, listed in `methods.cpp`; a file has those that share a plan. Its plan is proved against
/// its promise for every entry by a family test. Some divide the model among ranks, and data parallelism has replicas
/// of such a division.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/base/parameters.hpp"
#include "collectives/schedule/schedule.hpp"
#include "workloads/methods/step_plan.hpp"

namespace hbench {

/// Ranks are in Megatron-LM's order: those of a tensor group are neighbours, then come replicas, then stages.
struct ModelDivision {
  int tensor = 1;         ///< ranks that share each layer, and what lies between layers (sequence parallelism)
  int stages = 1;         ///< of a pipeline
  int micro_batches = 1;  ///< of a step of the pipeline
  int chunks = 1;         ///< of layers on each stage, interleaved

  /// Returns the ranks of a replica.
  int ranks() const { return tensor * stages; }
  /// Whether each rank has all of the model, and a step is of one micro-batch.
  bool none() const { return ranks() == 1 && micro_batches == 1; }
  /// Returns the ranks that have the same part, in groups.
  RankGroups replicas(int workers) const { return {.size = workers / ranks(), .stride = tensor}; }
  RankGroups tensor_groups() const { return {.size = tensor}; }

  friend bool operator==(const ModelDivision&, const ModelDivision&) = default;
};

/// The model that a plan is for, as far as it is known.
struct PlannedModel {
  /// The numbers of each tensor, in the order of the layout. Where they are not known fragments have no tensors.
  std::vector<std::int64_t> elements = {};
  /// Its blocks, as `StepPlan::units`. Where they are not known a method that goes by units has three.
  std::vector<std::vector<int>> units = {};
  int micro_batches = 1;  ///< of an iteration, where each has exchanges of its own
};

/// What a plan is made for.
struct PlanRequest {
  std::vector<double> values = {};  ///< of the method's fields, in their order
  /// Gradients leave during the backward pass.
  bool overlap = true;
  PlannedModel model = {};

  int whole(std::size_t field) const { return static_cast<int>(values[field]); }
};

/// One entry of the family.
struct Method {
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
  std::span<const NumberField> fields = {};
  /// Why values of its fields do not go together: one sentence; empty where they do, or null where all do.
  std::string (*refuses)(const std::vector<double>& values) = nullptr;
  bool by_units = false;  ///< its passes are of a unit each
  /// What codes the momenta that it exchanges, and no other; empty where ranks choose, or nothing is coded.
  std::string_view compressor = {};
  /// What each rank does, which has the whole model; null where the entry divides it.
  StepPlan (*plan)(const PlanRequest& request) = nullptr;
  /// Divides the model among ranks: another method says what their replicas do.
  void (*divide)(const std::vector<double>& values, ModelDivision& division) = nullptr;
};

/// The table, in the order in which `hbench list methods` prints it.
std::span<const Method* const> methods();

/// What can be asked where a replica that trains alone has several GPUs, which is not modelled.
inline constexpr const char* kNodeAsOneGpu =
    "replicas of several GPUs that train alone are not modelled: take a node for one GPU, in a profile with "
    "gpus_per_node = 1 and a gpu of another name, with --single-gpu-rate; or hsdp:8, which exchanges in each step";

/// A method of data parallelism with the values of its fields, and how the model is divided beside it.
struct MethodChoice {
  const Method* method = nullptr;
  std::vector<double> values = {};  ///< one for each field
  ModelDivision division = {};

  /// `synchronous`, `local-sgd:8`, `tensor:8+pipeline:4:8+zero:1`: without the values at the end of each, from the
  /// second on, that are the standard ones, and without what changes nothing.
  std::string text() const;
  /// Whether it is what data-parallel training is where nothing else is said.
  bool is_synchronous() const;
  /// Whether each rank trains a model of its own for a period.
  bool trains_alone() const;
  /// Whether ranks go through its plan together, as `hbench::in_lockstep`.
  bool in_lockstep() const { return hbench::in_lockstep(plan(true)); }
  /// Whether ranks exchange a unit of the model at a time: then there is no fusion of tensors.
  bool goes_by_units() const { return method->by_units; }
  /// Whether each micro-batch of an iteration exchanges something; else their gradients travel with the last one.
  bool exchanges_each_micro_batch() const { return plan(true, {.micro_batches = 2}).micro_batches > 1; }
  /// \throws Error (usage) where the model has fewer tensors than fragments are asked for.
  StepPlan plan(bool overlap, PlannedModel model = {}) const {
    return method->plan({.values = values, .overlap = overlap, .model = std::move(model)});
  }
};

/// `name` or `name:value:value`, and several that go together with a plus between them. \throws Error (usage), with a
/// suggestion, or for a value out of its field's range.
MethodChoice parse_method(std::string_view text);
/// The method of a stored case (empty: synchronous); none where it is one of another hbench, newer or older.
std::optional<MethodChoice> known_method(std::string_view text);

}  // namespace hbench

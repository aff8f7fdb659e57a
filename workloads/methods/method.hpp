#pragma once

/// The family of training methods: what every rank does in an iteration, and what that promises.
///
/// One method is one file that defines one constant and is listed in `methods.cpp`. Its plan is proved against its
/// promise for every entry by a family test.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/methods/step_plan.hpp"

namespace hbench {

/// What a plan is made for.
struct PlanRequest {
  int parameter = 0;  ///< the method's own; 0 when it has none
  /// Gradients leave during the backward pass.
  bool overlap = true;
  /// Of a model, as `StepPlan::units`. Where they are not known a method that goes by units has three.
  std::vector<std::vector<int>> units = {};
};

/// One entry of the family.
struct Method {
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
  /// The name, default and largest value of the parameter, a whole number from 1; empty when there is none.
  std::string_view field = {};
  std::string_view standard = {};
  int largest = 1'000'000;
  bool by_units = false;  ///< its plans have units
  StepPlan (*plan)(const PlanRequest& request);
};

/// The table, in the order in which `hbench list methods` prints it.
std::span<const Method* const> methods();

/// A method with its parameter.
struct MethodChoice {
  const Method* method = nullptr;
  int parameter = 0;  ///< 0 when there is none

  /// `synchronous`, `local-sgd:8`.
  std::string text() const;
  /// Whether it is what data-parallel training is where nothing else is said.
  bool is_synchronous() const;
  /// Whether ranks exchange a unit of the model at a time: then there is no fusion of tensors.
  bool goes_by_units() const { return method->by_units; }
  StepPlan plan(bool overlap, std::vector<std::vector<int>> units = {}) const {
    return method->plan({.parameter = parameter, .overlap = overlap, .units = std::move(units)});
  }
};

/// `name` or `name:parameter`. \throws Error (usage), with a suggestion, or for a parameter out of its range.
MethodChoice parse_method(std::string_view text);

}  // namespace hbench

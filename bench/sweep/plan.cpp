#include "bench/sweep/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/strategies_asked.hpp"
#include "bench/frameworks/framework_job.hpp"
#include "bench/sweep/measured_place.hpp"
#include "bench/sweep/nodes.hpp"
#include "bench/sweep/own_models.hpp"
#include "collectives/base/text.hpp"
#include "collectives/network/choose.hpp"

namespace hbench {
namespace {

/// Adds to a plan what is measured on this machine.
class MeasuredCases {
 public:
  MeasuredCases(const SweepRequest& request, const LocalMachine& machine, PlanBuilder& plan)
      : request_(request), machine_(machine), plan_(plan) {}

  void add_all() {
    if (only_presets(request_) && request_.frameworks.empty())
      return plan_.refuse("presets, measured", "hbench measures its own steps; --algorithm and --fusion choose them");
    if (request_.recomputation != Recomputation::none)
      return plan_.refuse("recomputation, measured", "hbench's own steps keep all activations; it is predicted only");
    if (!request_.precision.empty() && !entry_of(parse_precision(request_.precision)).measured)
      return plan_.refuse(request_.precision + ", measured",
                          "hbench's own steps do not train in it; it is predicted only");
    if (!machine_.no_training.empty()) return plan_.lacks("measured runs", machine_.no_training);
    const MeasuredPlace place = measured_place(request_, machine_);
    if (!place.refusal.empty()) return plan_.lacks("measured runs on GPUs", place.refusal);
    std::vector<std::string> models;
    for (const std::string& name : request_.workloads)
      if (std::ranges::find(machine_.limits.models, name) != machine_.limits.models.end()) models.push_back(name);
    if (request_.workloads.empty()) models.push_back(place.model);
    for (const std::string& model : models) add_model(model, place);
  }

 private:
  void add_model(const std::string& model, const MeasuredPlace& place) {
    Case asked = place.baseline;
    asked.workload = model;
    if (const OwnModel* own = find_own_model(request_.own_models, model); own != nullptr) set_workload(asked, *own);
    asked.nodes = 1;
    if (request_.global_batch == 0) add_alone(asked, place);
    std::vector<int> too_many;
    for (const int gpus : request_.gpus) {
      if (gpus > place.ranks) {
        too_many.push_back(gpus);
        continue;
      }
      asked.gpus = gpus;
      for (const NodeLayout& layout : choose_layouts(gpus, request_, place, machine_.allocation, plan_.refused())) {
        asked.nodes = layout.nodes;
        asked.processes_per_gpu = layout.processes_per_gpu > 1 ? layout.processes_per_gpu : 0;
        if (!plan_.set_batch(asked, 0, place.baseline.batch_per_gpu)) continue;
        if (request_.global_batch > 0) add_alone(asked, place);
        const StrategiesOf of{.evidence = Evidence::measured,
                              .gpus = gpus,
                              .gpus_per_node = gpus / layout.nodes,
                              .nodes = layout.nodes,
                              .auto_rule = {}};
        for (const TrainingStrategy& strategy : strategies_asked(request_, of, plan_.refused()))
          plan_measured(asked, strategy, place);
        for (const FrameworkChoice& choice : request_.frameworks) plan_framework(asked, choice);
      }
    }
    if (!too_many.empty())
      plan_.refuse(fmt::format("measured with {} ranks", fmt::join(too_many, ", ")), bound_of(place));
  }

  /// The baseline of a case: one process with the batch that each of its workers has.
  void add_alone(Case asked, const MeasuredPlace& place) {
    const int workers = asked.workers();
    asked.nodes = 1;
    if (!plan_.set_batch(asked, 0, place.baseline.batch_per_gpu)) return;
    if (workers > 1) asked.gpus = 1, asked.processes_per_gpu = 0;
    plan_.add(asked, place.alone);
  }

  /// Why no more ranks are measured.
  std::string bound_of(const MeasuredPlace& place) const {
    return machine_.asked_for ? fmt::format("--oversubscribe {} allows no more", machine_.ranks) : place.bound;
  }

  /// With the executor that was asked for, or that suits the strategy.
  void plan_measured(Case asked, TrainingStrategy strategy, const MeasuredPlace& place) {
    strategy.on_gpu = place.on_gpu;
    strategy.precision = place.alone.precision;
    strategy.optimizer = place.alone.optimizer;
    strategy.set_servers(strategy.servers, asked.workers());
    const auto refuse_it = [&](std::string_view where, std::string why) {
      plan_.refuse(planned(asked, strategy).asked.strategy.label() + std::string(where), std::move(why));
    };
    // Servers are processes as well.
    const int processes = strategy.world(asked.workers(), workers_per_node(asked)).ranks();
    if (!place.on_gpu && processes > place.ranks)
      return refuse_it(fmt::format(" measured on {} ranks", asked.gpus),
                       fmt::format("with its servers it takes {} processes, and {}", processes, bound_of(place)));
    if (RankPlaces places = places_of(machine_.allocation, asked, processes); !places.refusal.empty())
      return refuse_it(
          fmt::format(" measured on {} of {}", counted(asked.workers(), "rank"), counted(asked.nodes, "node")),
          std::move(places.refusal));
    if (!place.on_gpu && machine_.allocation.is_local() && processes > machine_.cores)
      asked.source += fmt::format("; oversubscribed: {} processes on {} cores", processes, machine_.cores);
    const bool shares_gpus = asked.processes_per_gpu > 1 || (asked.nodes == 1 && processes > place.gpus);
    const ExecutorChoice choice = place.executor_for(strategy, asked.nodes, shares_gpus);
    if (!choice.refusal.empty()) return refuse_it("", choice.refusal);
    strategy.executor = choice.executor;
    plan_.add(asked, strategy);
  }

  bool is_asked_for(std::string_view method) const {
    const auto same = [&](const std::string& each) { return each != kAuto && parse_method(each).text() == method; };
    return request_.methods.empty() || std::ranges::any_of(request_.methods, same);
  }

  /// By another program, in turn with hbench's own cases.
  void plan_framework(const Case& asked, const FrameworkChoice& choice) {
    const std::string what = choice.text() + ", measured";
    const FoundFramework& found = machine_.frameworks.find(choice.text())->second;
    if (!found.state.available) return plan_.lacks(what, found.state.in_words());
    std::string why = refuse_framework(*choice.framework, asked);
    const int processes = framework_processes(*choice.framework, asked);
    if (why.empty()) why = places_of(machine_.allocation, asked, processes).refusal;
    if (why.empty() && !is_asked_for(choice.method()))
      why = fmt::format("it trains by {}, which --method leaves out", choice.method());
    if (!why.empty()) return plan_.refuse(what, std::move(why));
    PlannedCase trained = planned_by(choice, found.version, asked);
    if (machine_.allocation.is_local() && processes > machine_.cores)
      trained.asked.source += fmt::format("; oversubscribed: {} processes on {} cores", processes, machine_.cores);
    plan_.add(std::move(trained));
  }

  const SweepRequest& request_;
  const LocalMachine& machine_;
  PlanBuilder& plan_;
};

}  // namespace

Plan make_plan(const SweepRequest& request, const Data& data, const LocalMachine& machine) {
  if (!request.device.empty()) parse_on_gpu(request.device);
  PlanBuilder plan(request, data, machine.limits);
  if (request.asks(is_of_machine)) MeasuredCases(request, machine, plan).add_all();
  plan.add_predictions();
  return plan.finish();
}

}  // namespace hbench

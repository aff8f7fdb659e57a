#include "analysis/prediction/strategies_asked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/table.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/network/choose.hpp"
#include "collectives/placement/placement.hpp"
#include "workloads/presets/preset.hpp"

namespace hbench {
namespace {

constexpr int kMostStages = 16;
constexpr std::array kMicroBatches{2, 4, 8};  ///< for each stage
constexpr std::array kChunks{1, 2, 4};        ///< of layers on each stage

std::vector<std::string> pipelines(int stages) {
  if (stages == 1) return {""};
  std::vector<std::string> texts;
  for (const int each : kMicroBatches)
    for (const int chunks : kChunks) texts.push_back(fmt::format("pipeline:{}:{}:{}", stages, stages * each, chunks));
  return texts;
}

/// Adds a model that is divided among `ranks` GPUs, whose replicas share the optimizer's state where there are several.
void add_divided(const std::string& text, int ranks, int gpus, std::vector<std::string>& methods) {
  methods.push_back(text);
  if (gpus > ranks) methods.push_back(text + "+zero:1");
}

using Names = std::vector<std::string>;

/// Returns whether somebody's own question, of a workload or a cluster that they name, is answered by simulation alone.
bool is_own_question(const PredictionRequest& request, Evidence evidence) {
  return is_predicted(evidence) && !request.predicts_engine() && !request.is_usual();
}

/// Returns what adds up gradients where nobody names an algorithm: a ring, as libraries take it on few GPUs. Where many
/// are asked about it is what the model of the library chooses (`library_time`), if that carries all that is asked for:
/// on fewer GPUs too, so that a curve is of one strategy.
std::string usual_all_reduce(const PredictionRequest& request, Evidence evidence) {
  const bool can_serve =
      request.methods.empty() && std::ranges::all_of(request.compressors, [](const std::string& compressor) {
        return parse_compressor(compressor).at_most_casts();
      });
  const bool is_large = std::ranges::any_of(request.gpus, [](int gpus) { return gpus >= kManyGpus; });
  return can_serve && is_large && request.algorithms.empty() && is_own_question(request, evidence) ? "vendor" : "ring";
}

/// Each framework with each compressor.
std::vector<TrainingStrategy> frameworks(const PredictionRequest& request, const StrategiesOf& of) {
  std::vector<TrainingStrategy> all;
  for (const std::string& name : request.presets)
    for (const std::string& compressor : request.compressors.empty() ? Names{"none"} : request.compressors) {
      TrainingStrategy strategy = strategy_of(find_entry(presets(), name, "preset"), of.nodes);
      if (!strategy.algorithm.uses_servers())
        strategy.algorithm = parse_algorithm_rule(usual_all_reduce(request, of.evidence));
      strategy.compressor = parse_compressor(compressor);
      strategy.overlap = request.overlap;
      all.push_back(strategy);
    }
  return all;
}

/// Frameworks that have a method of their own.
void add_framework_methods(const PredictionRequest& request, int nodes, std::vector<TrainingStrategy>& all) {
  for (const auto& [preset, method] : request.preset_methods) {
    TrainingStrategy strategy = strategy_of(find_entry(presets(), preset, "preset"), nodes);
    strategy.method = parse_method(method);
    if (strategy.method.goes_by_units()) strategy.fusion = parse_fusion("none");
    strategy.overlap = request.overlap;
    all.push_back(strategy);
  }
}

/// Returns whether the named frameworks have all that is simulated: who names Horovod and a ring means Horovod's ring.
bool is_of_frameworks(const PredictionRequest& request, Evidence evidence) {
  const auto is_theirs = [&](const std::string& algorithm) {
    return std::ranges::any_of(request.presets, [&](const std::string& name) {
      return find_entry(presets(), name, "preset").algorithm == algorithm;
    });
  };
  return is_own_question(request, evidence) && request.fusions.empty() && request.placements.empty() &&
         request.servers.empty() && !request.presets.empty() && std::ranges::all_of(request.algorithms, is_theirs);
}

Names compressors_for(const PredictionRequest& request, const AlgorithmRule& algorithm, Evidence evidence) {
  if (!request.compressors.empty()) return request.compressors;
  if (algorithm.uses_servers() || !is_predicted(evidence)) return {"none"};
  return {"none", "fp16"};
}

Names fusions_for(const PredictionRequest& request, const AlgorithmRule& algorithm, const CompressorChoice& compressor,
                  Evidence evidence) {
  if (!request.fusions.empty()) return request.fusions;
  if (algorithm.uses_servers()) return {"none"};
  return {is_own_question(request, evidence) || compressor.needs_fixed_buckets() ? "ddp" : "horovod"};
}

Names placements_for(const PredictionRequest& request, Evidence evidence) {
  if (!request.placements.empty()) return request.placements;
  return is_of_machine(evidence) ? Names{"greedy"} : Names{"greedy", "sliced"};
}

std::vector<ServerChoice> servers_for(const PredictionRequest& request, Evidence evidence) {
  if (!request.servers.empty()) return request.servers;
  if (is_of_machine(evidence)) return {{false, 0}};
  return {{true, 0}, {false, 0}};
}

/// One strategy, or with servers one for each way to place them.
void add_placed(const PredictionRequest& request, const StrategiesOf& of, TrainingStrategy strategy,
                std::vector<TrainingStrategy>& all) {
  strategy.overlap = request.overlap;
  if (!strategy.algorithm.uses_servers()) {
    all.push_back(strategy);
    return;
  }
  for (const std::string& placement : placements_for(request, of.evidence))
    for (const ServerChoice& servers : servers_for(request, of.evidence)) {
      strategy.placement = &find_entry(placements(), placement, "placement");
      strategy.servers = servers.count > 0 ? servers.count : of.nodes;
      strategy.server_mode = servers.colocated ? ServerMode::colocated : ServerMode::dedicated;
      all.push_back(strategy);
    }
}

/// Whether the engine keeps optimizer state on the rank that a bucket's sums are left on.
bool needs_fixed_buckets(const PredictionRequest& request, const MethodChoice& method, Evidence evidence) {
  const bool has_state = request.optimizer && request.optimizer->state() > 0;
  return is_of_machine(evidence) && has_state && sharded(method.plan(request.overlap)).optimizer;
}

/// The methods that were asked for, with what is tried for `auto`.
Names methods_for(const PredictionRequest& request, const StrategiesOf& of, std::vector<Refusal>& refused) {
  Names names = request.methods;
  if (std::erase(names, kAuto) == 0) return names;
  if (of.auto_methods.empty())
    refuse(refused, fmt::format("method auto, {}", to_string(of.evidence)),
           "the best one is searched by simulation, of each cluster; name methods, such as zero:1");
  for (const std::string& tried : of.auto_methods)
    if (std::ranges::find(names, tried) == names.end()) names.push_back(tried);
  return names;
}

/// Gives a strategy the method, and what goes with that alone where nobody asked for something else.
void set_method(const PredictionRequest& request, Evidence evidence, const MethodChoice& method,
                TrainingStrategy& strategy) {
  strategy.method = method;
  strategy.optimizer = request.optimizer;
  const std::string_view own = method.method->compressor;
  if (!own.empty() && (request.compressors.empty() || strategy.compressor.verbatim()))
    strategy.compressor = parse_compressor(own);
  if (request.fusions.empty() && strategy.preset == nullptr && strategy.compressor.needs_fixed_buckets())
    strategy.fusion = parse_fusion("ddp");
  if (method.goes_by_units() || (request.fusions.empty() && needs_fixed_buckets(request, method, evidence)))
    strategy.fusion = parse_fusion("none");
}

/// Each strategy with each method that was asked for.
std::vector<TrainingStrategy> with_methods(const PredictionRequest& request, const StrategiesOf& of,
                                           const std::vector<TrainingStrategy>& strategies,
                                           std::vector<Refusal>& refused) {
  if (request.methods.empty()) return strategies;
  std::vector<TrainingStrategy> all;
  for (const std::string& text : methods_for(request, of, refused)) {
    const MethodChoice method = parse_method(text);
    for (const TrainingStrategy& strategy : strategies) {
      all.push_back(strategy);
      set_method(request, of.evidence, method, all.back());
    }
  }
  return all;
}

/// Leaves out what cannot be and nobody named, an algorithm and perhaps a compressor, where another one suits the
/// method: who asks for `fsdp` does not want to read that servers have no all-gather.
void leave_out_unnamed(const PredictionRequest& request, const StrategiesOf& of, std::vector<TrainingStrategy>& all) {
  if (!request.algorithms.empty() || request.methods.empty()) return;
  const auto name = [&](const TrainingStrategy& strategy) {
    const std::string compressor = request.compressors.empty() ? std::string() : strategy.compressor.text();
    return std::pair(strategy.method.text(), compressor);
  };
  const auto can_be = [&](const TrainingStrategy& strategy) {
    return refuse_strategy(strategy, strategy.world(of.gpus, of.gpus_per_node)).empty();
  };
  std::set<std::pair<std::string, std::string>> possible;
  for (const TrainingStrategy& each : all)
    if (each.preset == nullptr && can_be(each)) possible.insert(name(each));
  std::erase_if(all, [&](const TrainingStrategy& each) {
    return each.preset == nullptr && possible.contains(name(each)) && !can_be(each);
  });
}

/// Whether parameter servers are compared with where no algorithm is named. To somebody's own question they are an
/// answer only where servers are asked for, or a method that has some.
bool compares_servers(const PredictionRequest& request, Evidence evidence) {
  const auto has_servers = [](const std::string& method) {
    return method != kAuto && exchanges_among(parse_method(method).plan(true), Among::servers);
  };
  return !request.rings_alone && (!is_own_question(request, evidence) || !request.servers.empty() ||
                                  !request.placements.empty() || std::ranges::any_of(request.methods, has_servers));
}

Names algorithms_for(const PredictionRequest& request, const StrategiesOf& of, std::vector<Refusal>& refused) {
  Names names = request.algorithms;
  if (names.empty()) {
    names = {usual_all_reduce(request, of.evidence)};
    if (compares_servers(request, of.evidence)) names.push_back("ps");
    if (is_of_machine(of.evidence)) names.push_back("vendor");
  }
  if (!of.auto_rule.empty()) std::ranges::replace(names, std::string(kAuto), of.auto_rule);
  if (std::erase(names, kAuto) > 0)
    refuse(refused, "auto, measured",
           "there is no model of this machine to choose by; give an algorithm, or a rule for sizes such as "
           "recursive-doubling@16KiB/ring");
  return names;
}

/// Each algorithm with each compressor, fusion policy and placement.
void add_algorithms(const PredictionRequest& request, const StrategiesOf& of, std::vector<TrainingStrategy>& all,
                    std::vector<Refusal>& refused) {
  for (const std::string& name : algorithms_for(request, of, refused)) {
    TrainingStrategy strategy;
    strategy.algorithm = parse_algorithm_rule(name);
    for (const std::string& given : compressors_for(request, strategy.algorithm, of.evidence)) {
      strategy.compressor = parse_compressor(given);
      for (const std::string& fusion : fusions_for(request, strategy.algorithm, strategy.compressor, of.evidence)) {
        strategy.fusion = parse_fusion(fusion);
        if (is_of_machine(of.evidence) && strategy.fusion.text() == "recorded") {
          refuse(refused, "recorded buckets, measured",
                 "a model has none; give their numbers of tensors: recorded:2-15-12");
          continue;
        }
        add_placed(request, of, strategy, all);
      }
    }
  }
}

}  // namespace

std::vector<std::string> methods_to_search(int gpus, int gpus_per_domain) {
  std::vector<std::string> methods{"synchronous", "zero:1", "zero:2", "fsdp", "fsdp-keep"};
  const int within = std::min(gpus, gpus_per_domain);
  if (gpus > within && gpus % within == 0 && within > 1) methods.push_back(fmt::format("hsdp:{}", within));
  for (int tensor = 1; tensor <= within; tensor *= 2)
    for (int stages = 1; stages <= kMostStages && stages * tensor <= gpus; stages *= 2) {
      if (stages * tensor == 1 || gpus % (stages * tensor) != 0) continue;
      for (const std::string& pipeline : pipelines(stages)) {
        const std::string group = tensor > 1 ? fmt::format("tensor:{}", tensor) : "";
        add_divided(group + (group.empty() || pipeline.empty() ? "" : "+") + pipeline, stages * tensor, gpus, methods);
      }
    }
  return methods;
}

std::vector<TrainingStrategy> strategies_asked(const PredictionRequest& request, const StrategiesOf& of,
                                               std::vector<Refusal>& refused) {
  std::vector<TrainingStrategy> all;
  if (is_predicted(of.evidence)) all = frameworks(request, of);
  if (is_of_cluster(of.evidence) && is_timed(of.evidence) && !request.presets.empty())
    refuse(refused, fmt::format("presets, {}", to_string(of.evidence)),
           "what a framework costs its hosts is simulated; emulated ranks run hbench's own engine");
  if (!only_presets(request) && !is_of_frameworks(request, of.evidence)) add_algorithms(request, of, all, refused);
  all = with_methods(request, of, all, refused);
  leave_out_unnamed(request, of, all);
  if (is_predicted(of.evidence)) add_framework_methods(request, of.nodes, all);
  return all;
}

}  // namespace hbench

#include "bench/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "analysis/published.hpp"
#include "bench/measured_place.hpp"
#include "bench/revision.hpp"
#include "bench/strategy.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/digest.hpp"
#include "collectives/base/library.hpp"
#include "collectives/base/table.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/network/choose.hpp"
#include "collectives/placement/placement.hpp"
#include "workloads/refusal.hpp"

namespace hbench {
namespace {

const std::vector<std::string> kDefaultWorkloads{"resnet50", "resnet101", "inception_v3", "vgg16"};
const std::vector<std::string> kDefaultProfiles{"uber-p100-25gbe-tcp", "uber-p100-25gbe-roce", "aws-p3-25gbe",
                                                "aws-p3dn-tcp",        "azure-nd96asr-v4",     "hkbu-10gbe"};

bool contains(const std::vector<std::string>& list, std::string_view item) {
  return std::ranges::find(list, item) != list.end();
}

/// Builds the plan: every method adds to it or to the refusals.
class Planner {
 public:
  Planner(const SweepRequest& request, const Data& data, const LocalMachine& machine)
      : request_(request), data_(data), machine_(machine) {
    check_names();
    for (const std::string& name : request_.profiles) profiles_.push_back(add_profile(name));
    for (const std::string& name : request_.workloads)
      if (is_file_name(name) || contains(data_.traces.names(), name)) traces_.push_back(add_trace(name));
  }

  Plan make() {
    if (request_.evidence.contains(Evidence::measured)) measured();
    if (request_.evidence.contains(Evidence::simulated)) simulated();
    if (request_.evidence.contains(Evidence::published)) published();
    refuse_unsuited();
    if (plan_.cases.empty() && plan_.published.empty()) nothing_left();
    return std::move(plan_);
  }

 private:
  /// Loads a profile or trace into the catalog; its name there.
  std::string add_profile(const std::string& name_or_file) {
    Profile profile = data_.profiles.load(name_or_file);
    std::string name = profile.name;
    const auto [known, added] = plan_.catalog.profiles.try_emplace(name, std::move(profile));
    if (!added && known->second.digest != data_.profiles.load(name_or_file).digest)
      throw Error(ExitCode::usage, fmt::format("two different profiles are called '{}'", name),
                  "rename one of the files");
    return name;
  }

  std::string add_trace(const std::string& name_or_file) {
    Trace trace = data_.traces.load(name_or_file);
    std::string name = trace.name;
    if (is_file_name(name_or_file)) own_traces_.insert(name);
    const std::string digest = digest_text(format_trace(trace));
    plan_.catalog.traces.try_emplace(name, std::move(trace));
    if (trace_digests_.try_emplace(name, digest).first->second != digest)
      throw Error(ExitCode::usage, fmt::format("two different workloads are called '{}'", name),
                  "rename one of the files");
    return name;
  }

  void check_names() const {
    for (const std::string& name : request_.algorithms)
      if (name != kAuto) parse_algorithm_rule(name);
    for (const std::string& name : request_.compressors) parse_compressor(name);
    for (const std::string& name : request_.placements) find_entry(placements(), name, "placement");
    for (const std::string& text : request_.fusions) parse_fusion(text);
    for (const std::string& name : request_.workloads) {
      if (is_file_name(name) || contains(data_.traces.names(), name) || contains(machine_.models, name)) continue;
      std::vector<std::string_view> known(data_.traces.names().begin(), data_.traces.names().end());
      for (const std::string& model : machine_.models)
        if (!contains(data_.traces.names(), model)) known.push_back(model);
      throw unknown_name("workload", name, known);
    }
  }

  /// Lists may name one thing twice, and two choices of servers come to the same in a small world.
  void plan_case(const Case& asked) {
    if (asked.strategy.algorithm != "none") {
      const StepStrategy strategy = resolve(asked.strategy);
      const World world = world_of(asked, gpus_per_node(asked));
      std::string why = refuse_strategy(strategy.algorithm, strategy.compressor, strategy.fusion, world,
                                        precision_of(asked.training));
      if (!why.empty()) {
        const std::string with = asked.strategy.compressor == "none" ? "" : " with " + asked.strategy.compressor;
        unsuited_[{asked.strategy.algorithm + with, std::move(why)}].insert(asked.gpus);
        return;
      }
    }
    if (keys_.insert(asked.key()).second) plan_.cases.push_back(asked);
  }

  /// Measured ranks share one node.
  int gpus_per_node(const Case& asked) const {
    return asked.evidence == Evidence::measured ? asked.gpus : plan_.catalog.profiles.at(asked.profile).gpus_per_node;
  }

  /// Pairs of algorithm and compressor that make no sense, or not in every world; once each.
  void refuse_unsuited() {
    for (const auto& [pair, gpus] : unsuited_)
      refuse(fmt::format("{} on {} GPUs", pair.first, fmt::join(gpus, ", ")), pair.second);
  }

  void refuse(std::string what, std::string why) { hbench::refuse(plan_.refused, std::move(what), std::move(why)); }

  /// What the machine cannot do, rather than what makes no sense.
  void lacks(std::string what, std::string why) {
    machine_lacks_ = true;
    refuse(std::move(what), std::move(why));
  }

  [[noreturn]] void nothing_left() const {
    if (plan_.refused.empty())
      throw Error(ExitCode::usage, "nothing to do: there is nothing of the evidence asked for in this range",
                  "published figures are few and none is emulated; add simulated or measured to --evidence");
    throw Error(machine_lacks_ ? ExitCode::environment : ExitCode::usage,
                "nothing to do: every combination was refused", reasons(plan_.refused));
  }

  /// What `auto` stands for on a cluster; empty where nobody asked.
  const std::string& auto_rule(const std::string& profile, int gpus) {
    std::string& rule = auto_rules_[{profile, gpus}];
    if (rule.empty() && contains(request_.algorithms, kAuto))
      rule = choose_algorithm(plan_.catalog.profiles.at(profile), gpus, usual_sizes()).rule.text();
    return rule;
  }

  /// The strategies of one world; `nodes` is the default number of parameter servers.
  std::vector<Strategy> strategies(Evidence evidence, int nodes, const std::string& auto_rule = {}) {
    std::vector<std::string> algorithm_names = request_.algorithms;
    if (algorithm_names.empty()) {
      algorithm_names = {"ring", "ps"};
      if (evidence == Evidence::measured) algorithm_names.push_back("vendor");
    }
    if (!auto_rule.empty()) std::ranges::replace(algorithm_names, std::string(kAuto), auto_rule);
    if (std::erase(algorithm_names, kAuto) > 0)
      refuse("auto, measured",
             "there is no model of this machine to choose by; give an algorithm, or a rule for sizes such as "
             "recursive-doubling@16KiB/ring");
    std::vector<Strategy> all;
    for (const std::string& name : algorithm_names) {
      const AlgorithmRule algorithm = parse_algorithm_rule(name);
      if (algorithm.opaque() && evidence == Evidence::simulated) {
        refuse(fmt::format("{}, simulated", name), "a library's own collective has no schedule to simulate");
        continue;
      }
      for (const std::string& given : compressors_for(algorithm, evidence)) {
        const CompressorChoice compressor = parse_compressor(given);
        for (const std::string& fusion : fusions_for(algorithm, compressor))
          add_strategies(algorithm, compressor.text(), fusion, nodes, evidence, all);
      }
    }
    return all;
  }

  std::vector<std::string> compressors_for(const AlgorithmRule& algorithm, Evidence evidence) const {
    if (!request_.compressors.empty()) return request_.compressors;
    if (algorithm.uses_servers() || evidence == Evidence::measured) return {"none"};
    return {"none", "fp16"};
  }

  std::vector<std::string> fusions_for(const AlgorithmRule& algorithm, const CompressorChoice& compressor) const {
    if (!request_.fusions.empty()) return request_.fusions;
    if (algorithm.uses_servers()) return {"none"};
    return {compressor.compressor->exchange == Exchange::low_rank ? "ddp" : "horovod"};
  }

  void add_strategies(const AlgorithmRule& algorithm, const std::string& compressor, const std::string& fusion,
                      int nodes, Evidence evidence, std::vector<Strategy>& all) const {
    Strategy strategy;
    strategy.algorithm = algorithm.text();
    strategy.compressor = compressor;
    strategy.fusion = parse_fusion(fusion).text();
    strategy.overlap = request_.overlap;
    if (!algorithm.uses_servers()) {
      all.push_back(strategy);
      return;
    }
    for (const std::string& placement : placements_for(evidence))
      for (const ServerChoice& servers : servers_for(evidence)) {
        strategy.placement = placement;
        strategy.servers = servers.count > 0 ? servers.count : nodes;
        strategy.server_mode = servers.colocated ? "colocated" : "dedicated";
        all.push_back(strategy);
      }
  }

  std::vector<std::string> placements_for(Evidence evidence) const {
    if (!request_.placements.empty()) return request_.placements;
    if (evidence == Evidence::measured) return {"greedy"};
    return {"greedy", "sliced"};
  }

  std::vector<ServerChoice> servers_for(Evidence evidence) const {
    if (!request_.servers.empty()) return request_.servers;
    if (evidence == Evidence::measured) return {{false, 0}};
    return {{true, 0}, {false, 0}};
  }

  void measured() {
    if (!machine_.no_training.empty()) return lacks("measured runs", machine_.no_training);
    const MeasuredPlace place = measured_place(request_, machine_);
    if (!place.refusal.empty()) return lacks("measured runs on GPUs", place.refusal);
    std::vector<std::string> models;
    for (const std::string& name : request_.workloads)
      if (contains(machine_.models, name)) models.push_back(name);
    if (request_.workloads.empty()) models.push_back(place.model);
    for (const std::string& model : models) measured(model, place);
  }

  void measured(const std::string& model, const MeasuredPlace& place) {
    Case asked = place.baseline;
    asked.workload = model;
    plan_case(asked);  // one process without communication
    std::vector<int> too_many;
    for (const int gpus : request_.gpus) {
      if (gpus > place.ranks) {
        too_many.push_back(gpus);
        continue;
      }
      asked.gpus = gpus;
      for (const Strategy& strategy : strategies(Evidence::measured, 1)) {
        asked.strategy = strategy;
        if (strategy.server_mode == "colocated") asked.strategy.servers = std::min(strategy.servers, gpus);
        plan_measured(asked, place);
      }
    }
    if (!too_many.empty())
      refuse(fmt::format("measured with {} ranks", fmt::join(too_many, ", ")),
             machine_.asked_for ? fmt::format("--oversubscribe {} allows no more", machine_.ranks) : place.bound);
  }

  /// With the executor that was asked for, or that suits the strategy.
  void plan_measured(Case asked, const MeasuredPlace& place) {
    const ExecutorChoice choice =
        place.executor_for(parse_algorithm_rule(asked.strategy.algorithm), parse_compressor(asked.strategy.compressor),
                           world_of(asked, asked.gpus).ranks());
    if (!choice.refusal.empty()) return refuse(asked.strategy.label(), choice.refusal);
    asked.training.executor = told_executor(choice.name);
    plan_case(asked);
  }

  void simulated() {
    for (const std::string& name : request_.workloads)
      if (!is_file_name(name) && !contains(data_.traces.names(), name))
        refuse(fmt::format("{}, simulated", name),
               fmt::format("no recorded timeline; hbench calibrate --model {} records one", name));
    if (request_.workloads.empty())
      for (const std::string& name : kDefaultWorkloads) traces_.push_back(add_trace(name));
    if (request_.profiles.empty())
      for (const std::string& name : kDefaultProfiles) profiles_.push_back(add_profile(name));
    for (const std::string& profile : profiles_)
      // One world after the other: the simulator keeps what it knows of a world.
      for (const int gpus : request_.gpus)
        for (const std::string& trace : traces_) simulated(trace, profile, gpus);
  }

  void simulated(const std::string& trace, const std::string& profile_name, int gpus) {
    const Profile& profile = plan_.catalog.profiles.at(profile_name);
    const int nodes = (gpus + profile.gpus_per_node - 1) / profile.gpus_per_node;
    for (const Strategy& strategy : strategies(Evidence::simulated, nodes, auto_rule(profile_name, gpus)))
      add_simulated(trace, profile_name, gpus, strategy);
  }

  /// Keeps the case when a single GPU's speed is known.
  void add_simulated(const std::string& trace_name, const std::string& profile_name, int gpus, const Strategy& strategy,
                     int batch = 0) {
    const Trace& trace = plan_.catalog.traces.at(trace_name);
    const Profile& profile = plan_.catalog.profiles.at(profile_name);
    const auto rate = profile.rates.find(trace.name);
    if (request_.single_gpu_rate == 0 && rate == profile.rates.end() && !own_traces_.contains(trace.name)) {
      return refuse(
          fmt::format("{} on {}", trace.name, profile.name),
          "the profile has no rate of one GPU for it; give --single-gpu-rate SAMPLES_PER_SECOND or a [rates] entry");
    }
    Case asked;
    asked.evidence = Evidence::simulated;
    asked.workload = trace.name;
    asked.profile = profile.name;
    asked.gpus = gpus;
    asked.strategy = strategy;
    if (strategy.server_mode == "colocated") asked.strategy.servers = std::min(strategy.servers, gpus);
    asked.single_gpu_rate = request_.single_gpu_rate;
    asked.batch_per_gpu = batch > 0 ? batch : request_.batch;
    if (asked.batch_per_gpu == 0 && rate != profile.rates.end()) asked.batch_per_gpu = rate->second.batch;
    if (asked.batch_per_gpu == 0) asked.batch_per_gpu = trace.timeline.batch;
    asked.implementation = kSimulatorRevision;
    asked.source = fmt::format("profile {} ({}); timeline {} ({}, {}); one GPU: {}", profile.name, profile.digest,
                               trace.name, trace_digests_.at(trace.name), trace.source,
                               request_.single_gpu_rate > 0  ? "given by --single-gpu-rate"
                               : rate != profile.rates.end() ? rate->second.source
                                                             : "as recorded in the timeline");
    plan_case(asked);
  }

  bool in_range(const Case& figure) const {
    if (figure.gpus < request_.gpus.front() || figure.gpus > request_.gpus.back()) return false;
    if (!contains(request_.workloads.empty() ? kDefaultWorkloads : traces_, figure.workload)) return false;
    if (!request_.profiles.empty() && !contains(profiles_, figure.profile)) return false;
    return request_.algorithms.empty() || contains(request_.algorithms, figure.strategy.algorithm);
  }

  /// Published figures, each with a simulated twin of the very strategy it was measured with.
  void published() {
    std::vector<Case> twins;
    for (CaseResult& figure : published_results()) {
      if (!in_range(figure.asked)) continue;
      if (!figure.asked.strategy.fusion.empty())
        figure.asked.strategy.fusion = canonical_fusion(figure.asked.strategy.fusion);
      twins.push_back(figure.asked);
      plan_.published.push_back(std::move(figure));
    }
    if (!request_.evidence.contains(Evidence::simulated)) return;
    for (const Case& twin : twins) {
      // Some sources measured what hbench has no schedule for (BytePS adds up inside a node first).
      if (!std::ranges::any_of(algorithms(),
                               [&](const Algorithm* known) { return known->name == twin.strategy.algorithm; })) {
        refuse(
            fmt::format("{} on {}", twin.workload, twin.profile),
            fmt::format("published {} has no simulated twin: hbench has no schedule for it", twin.strategy.algorithm));
        continue;
      }
      if (!plan_.catalog.profiles.contains(twin.profile)) {
        if (!contains(data_.profiles.names(), twin.profile)) continue;
        add_profile(twin.profile);
      }
      if (!plan_.catalog.traces.contains(twin.workload) || already_planned(twin)) continue;
      add_simulated(twin.workload, twin.profile, twin.gpus, twin.strategy, twin.batch_per_gpu);
    }
  }

  /// `threshold` in a published row means: everything in one bucket.
  static std::string canonical_fusion(const std::string& text) {
    return parse_fusion(text == "threshold" ? "threshold:1GiB" : text).text();
  }

  bool already_planned(const Case& twin) const {
    return std::ranges::any_of(plan_.cases, [&](const Case& asked) {
      return asked.evidence == Evidence::simulated && asked.workload == twin.workload && asked.gpus == twin.gpus &&
             asked.profile == twin.profile && asked.strategy == twin.strategy &&
             asked.batch_per_gpu == twin.batch_per_gpu;
    });
  }

  const SweepRequest& request_;
  const Data& data_;
  const LocalMachine& machine_;
  std::vector<std::string> profiles_, traces_;                     ///< asked for, by their names in the catalog
  std::set<std::string, std::less<>> own_traces_;                  ///< from files of the user's
  std::map<std::string, std::string, std::less<>> trace_digests_;  ///< of the catalog's, by name
  std::set<std::string> keys_;                                     ///< of the planned cases
  /// GPU counts, by algorithm with compressor and by reason.
  std::map<std::pair<std::string, std::string>, std::set<int>> unsuited_;
  std::map<std::pair<std::string, int>, std::string> auto_rules_;  ///< by profile and GPUs
  bool machine_lacks_ = false;
  Plan plan_;
};

}  // namespace

ServerChoice parse_servers(std::string_view text) {
  ServerChoice choice;
  std::string_view digits = text;
  for (const std::string_view mode : {"colocated", "dedicated"}) {
    if (!text.starts_with(mode)) continue;
    choice.colocated = mode == "colocated";
    if (text == mode) return choice;
    digits = text.substr(mode.size());
    if (digits.starts_with(':')) digits.remove_prefix(1);
  }
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), choice.count);
  if (status != std::errc() || end != digits.data() + digits.size() || choice.count < 1)
    throw Error(ExitCode::usage, fmt::format("--servers {}: not a choice of servers", text),
                "write colocated, dedicated, a number of dedicated servers (4), or colocated:4");
  return choice;
}

void refuse(std::vector<Refusal>& refused, std::string what, std::string why) {
  Refusal refusal{std::move(what), std::move(why)};
  if (std::ranges::find(refused, refusal) == refused.end()) refused.push_back(std::move(refusal));
}

std::string reasons(const std::vector<Refusal>& refused) {
  std::string text;
  for (const Refusal& refusal : refused)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", refusal.what, refusal.why);
  return text;
}

Plan make_plan(const SweepRequest& request, const Data& data, const LocalMachine& machine) {
  return Planner(request, data, machine).make();
}

World world_of(const Case& asked, int gpus_per_node) {
  World world{asked.gpus, asked.strategy.servers, asked.strategy.server_mode == "colocated"};
  if (!asked.strategy.placement.empty() && find_entry(placements(), asked.strategy.placement, "placement").groups_nodes)
    world.group = gpus_per_node;
  // "none" is one process without communication: no algorithm.
  const std::string& algorithm = asked.strategy.algorithm;
  if (algorithm != "none" && parse_algorithm_rule(algorithm).uses_groups())
    world.group = std::min(gpus_per_node, asked.gpus);
  return world;
}

}  // namespace hbench

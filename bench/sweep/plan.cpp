#include "bench/sweep/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/published.hpp"
#include "bench/revision.hpp"
#include "bench/strategy.hpp"
#include "bench/sweep/emulated_memory.hpp"
#include "bench/sweep/measured_place.hpp"
#include "bench/sweep/nodes.hpp"
#include "bench/sweep/simulate.hpp"
#include "bench/sweep/strategies_asked.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/digest.hpp"
#include "collectives/base/library.hpp"
#include "collectives/base/parse_number.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/network/choose.hpp"
#include "collectives/placement/placement.hpp"

namespace hbench {
namespace {

using Names = std::vector<std::string>;

const Names kDefaultWorkloads{"resnet50", "resnet101", "inception_v3", "vgg16"};
const Names kDefaultProfiles{"uber-p100-25gbe-tcp", "uber-p100-25gbe-roce", "aws-p3-25gbe",
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
    for (const std::string& name : request_.profiles)
      if (is_file_name(name)) note_unused_rates(name);
  }

  Plan make() {
    if (request_.evidence.contains(Evidence::measured)) measured();
    for (const Evidence evidence : {Evidence::emulated, Evidence::simulated})
      if (request_.evidence.contains(evidence)) on_clusters(evidence);
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

  /// A rate in a file of the user's may be for a timeline of his own that this sweep does not have: no mistake for
  /// sure.
  void note_unused_rates(const std::string& file) {
    std::vector<std::string_view> known(data_.traces.names().begin(), data_.traces.names().end());
    known.insert(known.end(), machine_.models.begin(), machine_.models.end());
    known.insert(known.end(), own_traces_.begin(), own_traces_.end());
    for (const auto& [workload, rate] : data_.profiles.load(file).rates) {
      if (std::ranges::find(known, workload) != known.end()) continue;
      const std::string meant = nearest_name(workload, known);
      refuse(fmt::format("rates.{} of {}", workload, file),
             fmt::format("not used: no workload of that name{}", meant.empty()
                                                                     ? "; --workload FILE gives a timeline of your own"
                                                                     : fmt::format("; did you mean '{}'?", meant)));
    }
  }

  void check_names() const {
    if (!request_.device.empty()) parse_on_gpu(request_.device);
    for (const std::string& name : request_.algorithms)
      if (name != kAuto) parse_algorithm_rule(name);
    for (const std::string& name : request_.compressors) parse_compressor(name);
    for (const std::string& name : request_.placements) find_entry(placements(), name, "placement");
    for (const std::string& text : request_.fusions) parse_fusion(text);
    for (const std::string& name : request_.presets) find_entry(presets(), name, "preset");
    for (const std::string& name : request_.workloads) {
      if (is_file_name(name) || contains(data_.traces.names(), name) || contains(machine_.models, name)) continue;
      std::vector<std::string_view> known(data_.traces.names().begin(), data_.traces.names().end());
      for (const std::string& model : machine_.models)
        if (!contains(data_.traces.names(), model)) known.push_back(model);
      throw unknown_name("workload", name, known);
    }
  }

  /// Lists may name one thing twice, and two choices of servers come to the same in a small world.
  void plan_case(Case asked, const TrainingStrategy& strategy) {
    write_strategy(asked, strategy);
    if (is_on_cluster(asked)) asked.nodes = (asked.gpus + gpus_per_node(asked) - 1) / gpus_per_node(asked);
    if (strategy.communicates()) {
      const World world = strategy.world(asked.workers(), gpus_per_node(asked));
      std::string why = refuse_strategy(strategy, world);
      if (!why.empty()) {
        const std::string with = strategy.compressor.verbatim() ? "" : " with " + strategy.compressor.text();
        unsuited_[{strategy.algorithm.text() + with, std::move(why)}].insert(asked.gpus);
        return;
      }
      if (asked.evidence == Evidence::simulated) {
        const StepTimeline& timeline = plan_.catalog.traces.at(asked.workload).timeline;
        if (std::string why_not = refuse_size(world, timeline, strategy, machine_.memory); !why_not.empty())
          return lacks(fmt::format("{} on {} GPUs, simulated", asked.strategy.label(), asked.gpus), std::move(why_not));
      }
      if (asked.evidence == Evidence::emulated && is_on_cluster(asked)) {
        std::string why_not = refuse_emulated(asked, strategy, world);
        if (!why_not.empty())
          return lacks(fmt::format("{} on {} GPUs, emulated", asked.strategy.label(), asked.gpus), std::move(why_not));
      }
    }
    if (keys_.insert(asked.key()).second) plan_.cases.push_back(std::move(asked));
  }

  int gpus_per_node(const Case& asked) const {
    return is_on_cluster(asked) ? plan_.catalog.profiles.at(asked.profile).gpus_per_node : workers_per_node(asked);
  }

  bool is_on_cluster(const Case& asked) const {
    return !asked.is_timed() || is_of_emulated_cluster(asked, plan_.catalog);
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
                  "published figures are few; add simulated, emulated or measured to --evidence");
    throw Error(machine_lacks_ ? ExitCode::environment : ExitCode::usage,
                "nothing to do: every combination was refused", reasons(plan_.refused));
  }

  /// What `auto` stands for on a cluster; empty where nobody asked.
  const std::string& auto_rule(const std::string& profile, int gpus) {
    std::string& rule = auto_rules_[{profile, gpus}];
    if (!rule.empty() || !contains(request_.algorithms, kAuto)) return rule;
    if (std::string why = refuse_choice(plan_.catalog.profiles.at(profile), gpus, machine_.memory); !why.empty())
      throw Error(ExitCode::environment, fmt::format("--algorithm auto on {} GPUs {}", gpus, why),
                  "name an algorithm, such as halving-doubling");
    rule = choose_algorithm(plan_.catalog.profiles.at(profile), gpus, usual_sizes()).rule.text();
    return rule;
  }

  std::vector<TrainingStrategy> strategies(Evidence evidence, int nodes, const std::string& auto_rule = {}) {
    return strategies_asked(request_, {evidence, nodes, auto_rule}, plan_.refused);
  }

  void measured() {
    if (only_presets(request_))
      return refuse("presets, measured", "hbench measures its own steps; --algorithm and --fusion choose them");
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
    asked.nodes = 1;
    plan_case(asked, place.alone);
    std::vector<int> too_many;
    for (const int gpus : request_.gpus) {
      if (gpus > place.ranks) {
        too_many.push_back(gpus);
        continue;
      }
      asked.gpus = gpus;
      for (const NodeLayout& layout : layouts_for(gpus, place)) {
        asked.nodes = layout.nodes;
        asked.processes_per_gpu = layout.processes_per_gpu > 1 ? layout.processes_per_gpu : 0;
        for (const TrainingStrategy& strategy : strategies(Evidence::measured, layout.nodes))
          plan_measured(asked, strategy, place);
      }
    }
    if (!too_many.empty()) refuse(fmt::format("measured with {} ranks", fmt::join(too_many, ", ")), bound_of(place));
  }

  /// How so many GPUs are measured; what cannot be is refused.
  std::vector<NodeLayout> layouts_for(int gpus, const MeasuredPlace& place) {
    LayoutChoice choice = choose_layouts(gpus, request_, place, machine_.allocation);
    for (Refusal& refusal : choice.refused) refuse(std::move(refusal.what), std::move(refusal.why));
    return choice.layouts;
  }

  /// Why no more ranks are measured.
  std::string bound_of(const MeasuredPlace& place) const {
    return machine_.asked_for ? fmt::format("--oversubscribe {} allows no more", machine_.ranks) : place.bound;
  }

  /// With the executor that was asked for, or that suits the strategy.
  void plan_measured(Case asked, TrainingStrategy strategy, const MeasuredPlace& place) {
    strategy.on_gpu = place.on_gpu;
    strategy.precision = place.alone.precision;
    strategy.set_servers(strategy.servers, asked.workers());
    const auto refuse_it = [&](std::string_view where, std::string why) {
      write_strategy(asked, strategy);
      refuse(asked.strategy.label() + std::string(where), std::move(why));
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
    plan_case(asked, strategy);
  }

  /// What a simulation computes and an emulation replays.
  void on_clusters(Evidence evidence) {
    if (evidence == Evidence::emulated && !machine_.no_emulation.empty())
      return lacks("emulated runs", machine_.no_emulation);
    for (const std::string& name : request_.workloads)
      if (!is_file_name(name) && !contains(data_.traces.names(), name))
        refuse(fmt::format("{}, {}", name, to_string(evidence)),
               fmt::format("no recorded timeline; hbench calibrate --model {} records one", name));
    if (request_.workloads.empty() && traces_.empty())
      for (const std::string& name : kDefaultWorkloads) traces_.push_back(add_trace(name));
    if (request_.profiles.empty() && profiles_.empty())
      for (const std::string& name : kDefaultProfiles) profiles_.push_back(add_profile(name));
    for (const std::string& profile : profiles_)
      // One world after the other: the simulator keeps what it knows of a world.
      for (const int gpus : request_.gpus)
        for (const std::string& trace : traces_) on_cluster(evidence, trace, profile, gpus);
  }

  void on_cluster(Evidence evidence, const std::string& trace, const std::string& profile_name, int gpus) {
    // One GPU exchanges nothing: its replay is the timeline.
    if (evidence == Evidence::emulated && gpus == 1) return;
    const Profile& profile = plan_.catalog.profiles.at(profile_name);
    const int nodes = (gpus + profile.gpus_per_node - 1) / profile.gpus_per_node;
    for (const TrainingStrategy& strategy : strategies(evidence, nodes, auto_rule(profile_name, gpus)))
      add_on_cluster(evidence, trace, profile_name, gpus, strategy);
  }

  /// Why a cluster's ranks cannot be processes of this machine.
  std::string refuse_emulated(const Case& asked, const TrainingStrategy& strategy, const World& world) const {
    if (strategy.algorithm.is_vendor()) return "the vendor's library is the cluster's, and not here";
    const int per_node = gpus_per_node(asked);
    if (asked.gpus > per_node && asked.gpus % per_node != 0)
      return fmt::format("emulated nodes are full, and a node has {} GPUs", per_node);
    return refuse_emulated_memory(world.ranks(), plan_.catalog.traces.at(asked.workload).timeline, machine_.memory);
  }

  /// Keeps the case when a single GPU's speed is known.
  void add_on_cluster(Evidence evidence, const std::string& trace_name, const std::string& profile_name, int gpus,
                      TrainingStrategy strategy, int batch = 0) {
    const Trace& trace = plan_.catalog.traces.at(trace_name);
    const Profile& profile = plan_.catalog.profiles.at(profile_name);
    if (profile.most_gpus() > 0 && gpus > profile.most_gpus())
      return refuse(
          fmt::format("{} on more than {} GPUs", profile.name, profile.most_gpus()),
          fmt::format("its profile has {} node{} at most", profile.most_nodes, profile.most_nodes == 1 ? "" : "s"));
    const auto rate = profile.rates.find(trace.name);
    if (request_.single_gpu_rate == 0 && rate == profile.rates.end() && !own_traces_.contains(trace.name)) {
      return refuse(
          fmt::format("{} on {}", trace.name, profile.name),
          "the profile has no rate of one GPU for it; give --single-gpu-rate SAMPLES_PER_SECOND or a [rates] entry");
    }
    Case asked;
    asked.evidence = evidence;
    asked.workload = trace.name;
    asked.profile = profile.name;
    asked.gpus = gpus;
    strategy.set_servers(strategy.servers, gpus);
    asked.single_gpu_rate = request_.single_gpu_rate;
    asked.batch_per_gpu = batch > 0 ? batch : request_.batch;
    if (asked.batch_per_gpu == 0 && rate != profile.rates.end()) asked.batch_per_gpu = rate->second.batch;
    if (asked.batch_per_gpu == 0) asked.batch_per_gpu = trace.timeline.batch;
    asked.implementation = evidence == Evidence::emulated ? kEmulationRevision : kSimulatorRevision;
    asked.source = fmt::format("profile {} ({}); timeline {} ({}, {}); one GPU: {}", profile.name, profile.digest,
                               trace.name, trace_digests_.at(trace.name), trace.source,
                               request_.single_gpu_rate > 0  ? "given by --single-gpu-rate"
                               : rate != profile.rates.end() ? rate->second.source
                                                             : std::string(kRecordedRate));
    plan_case(asked, strategy);
  }

  bool in_range(const Case& figure) const {
    if (figure.gpus < request_.gpus.front() || figure.gpus > request_.gpus.back()) return false;
    if (!contains(request_.workloads.empty() ? kDefaultWorkloads : traces_, figure.workload)) return false;
    if (!contains(request_.profiles.empty() ? kDefaultProfiles : profiles_, figure.profile)) return false;
    if (contains(request_.presets, figure.strategy.preset)) return true;
    return !only_presets(request_) &&
           (request_.algorithms.empty() || contains(request_.algorithms, figure.strategy.algorithm));
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
      if (!plan_.catalog.profiles.contains(twin.profile)) add_profile(twin.profile);
      if (!plan_.catalog.traces.contains(twin.workload) || already_planned(twin)) continue;
      add_on_cluster(Evidence::simulated, twin.workload, twin.profile, twin.gpus, parse_strategy(twin),
                     twin.batch_per_gpu);
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
  choice.count = parse_number<int>(digits).value_or(0);
  if (choice.count < 1)
    throw Error(ExitCode::usage, fmt::format("--servers {}: not a choice of servers", text),
                "write colocated, dedicated, a number of dedicated servers (4), or colocated:4");
  return choice;
}

void refuse(std::vector<Refusal>& refused, std::string what, std::string why) {
  Refusal refusal{std::move(what), std::move(why)};
  if (std::ranges::find(refused, refusal) == refused.end()) refused.push_back(std::move(refusal));
}

std::string reasons(const std::vector<Refusal>& refused) {
  std::vector<Refusal> by_reason;
  for (const Refusal& refusal : refused) {
    const auto known = std::ranges::find(by_reason, refusal.why, &Refusal::why);
    if (known == by_reason.end())
      by_reason.push_back(refusal);
    else
      known->what += ", " + refusal.what;
  }
  std::string text;
  for (const Refusal& refusal : by_reason)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", refusal.what, refusal.why);
  return text;
}

Plan make_plan(const SweepRequest& request, const Data& data, const LocalMachine& machine) {
  return Planner(request, data, machine).make();
}

bool is_of_emulated_cluster(const Case& asked, const Catalog& catalog) {
  return asked.evidence == Evidence::emulated && catalog.profiles.contains(asked.profile);
}

void time_here(Case& asked, const std::string& emulated) {
  asked.evidence = emulated.empty() ? Evidence::measured : Evidence::emulated;
  asked.profile = emulated.empty() ? std::string(kLocalProfile) : emulated;
}

}  // namespace hbench

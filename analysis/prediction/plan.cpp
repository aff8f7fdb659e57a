#include "analysis/prediction/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/prediction/case_memory.hpp"
#include "analysis/prediction/measured_step.hpp"
#include "analysis/prediction/node_rate.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/prediction/strategies_asked.hpp"
#include "analysis/prediction/usual_batch.hpp"
#include "analysis/published/published.hpp"
#include "analysis/records/fingerprint.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/library.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/network/choose.hpp"
#include "collectives/placement/placement.hpp"
#include "workloads/models/own_model.hpp"
#include "workloads/presets/preset.hpp"
#include "workloads/step/transformer.hpp"

namespace hbench {
namespace {

using Names = std::vector<std::string>;

const Names kDefaultWorkloads{"resnet50", "resnet101", "inception_v3", "vgg16"};
const Names kDefaultProfiles{"uber-p100-25gbe-tcp", "uber-p100-25gbe-roce", "aws-p3-25gbe",
                             "aws-p3dn-tcp",        "azure-nd96asr-v4",     "hkbu-10gbe"};

/// `threshold` in a published row means: everything in one bucket.
std::string canonical_fusion(const std::string& text) {
  return parse_fusion(text == "threshold" ? "threshold:1GiB" : text).text();
}

/// Why the engine cannot make passes of units, or of micro-batches, as a simulation does.
std::string refuse_engine_passes(const PlannedCase& planned, const Catalog& catalog) {
  const auto& [asked, strategy] = planned;
  const std::string method = strategy.method.text();
  if (asked.accumulate > 1 && strategy.method.exchanges_each_micro_batch())
    return fmt::format("each micro-batch of {} has exchanges of its own, which are simulated only", method);
  if (!is_of_emulated_cluster(asked, catalog) || !strategy.method.goes_by_units()) return {};
  const NumberBytes bytes = number_bytes_of(asked, catalog);
  if (bytes.gathered() == bytes.gradient) return {};
  return fmt::format("{} gathers parameters in 16 bits where gradients are float32, which is simulated only", method);
}

/// The precision in words where one is asked for, with that of gradients where that is not float32.
std::string precision_text(const PredictionRequest& request, const NumberBytes& bytes) {
  if (!names_precision(request.precision)) return bytes.half_gradients() ? "gradients in 16 bits; " : "";
  return fmt::format("{}, gradients in {}; ", request.precision, bytes.half_gradients() ? "16 bits" : "float32");
}

/// Why no rate is known, and what to do.
std::string no_rate(const PredictionRequest& request, const Profile& profile) {
  const bool has_none =
      profile.peaks.float32 > 0 && names_precision(request.precision) && profile.peaks.at(request.precision) == 0;
  if (has_none) return fmt::format("its GPU does not compute in {}; give another --precision", request.precision);
  return "the profile has no rate of one GPU for it; give --single-gpu-rate SAMPLES_PER_SECOND or a [rates] entry";
}

/// How the speed of one GPU is known.
std::string rate_source(const PredictionRequest& request, const Profile& profile, const Trace& trace) {
  if (request.single_gpu_rate > 0) return "given by --single-gpu-rate";
  if (request.rate_on(profile.gpu) > 0) return "given by --rate";
  if (const auto rate = profile.rates.find(trace.name); rate != profile.rates.end()) return rate->second.source;
  return is_recorded_on(trace, profile) ? fmt::format("recorded on {}", trace.recorded->gpu)
                                        : std::string(kRecordedRate);
}

}  // namespace

PlanBuilder::PlanBuilder(const PredictionRequest& request, const Data& data, const PlanLimits& limits)
    : request_(request), data_(data), limits_(limits), rates_(data.profiles.gpus()) {
  check_names();
  for (const std::string& name : request_.profiles) profiles_.push_back(add_profile(name));
  for (const std::string& name : request_.workloads)
    if (is_file_name(name) || data_.traces.has(name)) traces_.push_back(add_trace(name));
  for (const std::string& name : request_.profiles)
    if (is_file_name(name)) note_unused_rates(name);
}

/// Loads a profile or trace into the catalog; its name there.
std::string PlanBuilder::add_profile(const std::string& name_or_file) {
  Profile profile = data_.profiles.load(name_or_file);
  std::string name = profile.name;
  const auto [known, added] = plan_.catalog.profiles.try_emplace(name, std::move(profile));
  if (!added && known->second.digest != data_.profiles.load(name_or_file).digest)
    throw Error(ExitCode::usage, fmt::format("two different profiles are called '{}'", name),
                "rename one of the files");
  return name;
}

std::string PlanBuilder::add_trace(const std::string& name_or_file) {
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
void PlanBuilder::note_unused_rates(const std::string& file) {
  std::vector<std::string_view> known(data_.traces.names().begin(), data_.traces.names().end());
  known.insert(known.end(), limits_.models.begin(), limits_.models.end());
  known.insert(known.end(), own_traces_.begin(), own_traces_.end());
  for (const PublishedShape& shape : published_shapes()) known.push_back(shape.name);
  for (const auto& [workload, rate] : data_.profiles.load(file).rates) {
    if (std::ranges::find(known, workload) != known.end()) continue;
    const std::string meant = nearest_name(workload, known);
    refuse(fmt::format("rates.{} of {}", workload, file),
           fmt::format("not used: no workload of that name{}", meant.empty()
                                                                   ? "; --workload FILE gives a timeline of your own"
                                                                   : fmt::format("; did you mean '{}'?", meant)));
  }
}

void PlanBuilder::check_gpu_rates() const {
  std::set<std::string_view> of_clusters;
  for (const auto& [name, profile] : plan_.catalog.profiles)
    if (!profile.gpu.empty()) of_clusters.insert(profile.gpu);
  std::set<std::string_view> known = of_clusters;
  for (const Profile& each : rates_.gpus()) known.insert(each.gpu);
  request_.check_gpu_rates(of_clusters, known);
}

void PlanBuilder::check_names() const {
  for (const std::string& name : request_.algorithms)
    if (name != kAuto) parse_algorithm_rule(name);
  for (const std::string& name : request_.compressors) parse_compressor(name);
  for (const std::string& name : request_.placements) find_entry(placements(), name, "placement");
  for (const std::string& text : request_.fusions) parse_fusion(text);
  for (const std::string& name : request_.presets) find_entry(presets(), name, "preset");
  for (const std::string& name : request_.workloads) {
    if (is_model_file(name)) throw no_timeline(name);
    if (is_file_name(name) || data_.traces.has(name) || contains(limits_.models, name)) continue;
    throw data_.traces.unknown(name, limits_.models);
  }
}

/// Whether this machine has room for a case; the reason is kept where it has not.
bool PlanBuilder::fits(const Case& asked, const TrainingStrategy& strategy, const World& world) {
  std::string why_not;
  if (asked.is_predicted())
    why_not = refuse_size(world, plan_.catalog.traces.at(asked.workload).timeline, strategy, limits_.memory);
  else if (is_on_cluster(asked))
    why_not = refuse_emulated(asked, strategy, world);
  if (why_not.empty()) return true;
  lacks(fmt::format("{} on {} GPUs, {}", asked.strategy.label(), asked.gpus, to_string(asked.evidence)),
        std::move(why_not));
  return false;
}

/// Lists may name one thing twice, and two choices of servers come to the same in a small world.
void PlanBuilder::add(Case asked, const TrainingStrategy& strategy) {
  if (is_on_cluster(asked)) asked.nodes = plan_.catalog.profiles.at(asked.profile).nodes_of(asked.gpus);
  PlannedCase step = planned(std::move(asked), strategy);
  if (strategy.communicates()) {
    const World world = step.world(gpus_per_domain(step));
    std::string why;
    if (is_on_cluster(step)) why = refuse_sharing(step, plan_.catalog);
    if (why.empty()) why = refuse_strategy(strategy, world);
    if (const auto trace = plan_.catalog.traces.find(step.asked.workload);
        why.empty() && trace != plan_.catalog.traces.end())
      why = refuse_fragments(strategy.method, trace->second.timeline.gradients.size());
    if (why.empty() && !step.asked.is_predicted()) why = refuse_engine(strategy, is_on_cluster(step));
    if (why.empty() && !step.asked.is_predicted()) why = refuse_engine_passes(step, plan_.catalog);
    if (!why.empty()) {
      const std::string with = strategy.compressor.verbatim() ? "" : " with " + strategy.compressor.text();
      unsuited_[{strategy.algorithm.text() + with, std::move(why)}].insert(step.asked.gpus);
      return;
    }
    if (!fits(step, strategy, world)) return;
  }
  add(std::move(step));
}

void PlanBuilder::add(PlannedCase planned) {
  if (keys_.insert(planned.asked.key()).second) plan_.cases.push_back(std::move(planned));
}

int PlanBuilder::gpus_per_domain(const Case& asked) const {
  return is_on_cluster(asked) ? plan_.catalog.profiles.at(asked.profile).gpus_per_domain() : workers_per_node(asked);
}

bool PlanBuilder::is_on_cluster(const Case& asked) const {
  return !asked.is_timed() || is_of_emulated_cluster(asked, plan_.catalog);
}

void PlanBuilder::lacks(std::string what, std::string why) {
  machine_lacks_ = true;
  refuse(std::move(what), std::move(why));
}

void PlanBuilder::nothing_left() const {
  if (plan_.refused.empty())
    throw Error(ExitCode::usage, "nothing to do: there is nothing of the evidence asked for in this range",
                "published figures are few; add simulated, emulated or measured to --evidence");
  throw Error(machine_lacks_ ? ExitCode::environment : ExitCode::usage, "nothing to do: every combination was refused",
              reasons(plan_.refused));
}

/// What `auto` stands for on a cluster; empty where nobody asked.
const std::string& PlanBuilder::auto_rule(const std::string& profile, int gpus) {
  std::string& rule = auto_rules_[{profile, gpus}];
  if (!rule.empty() || !contains(request_.algorithms, kAuto)) return rule;
  if (std::string why = refuse_choice(plan_.catalog.profiles.at(profile), gpus, limits_.memory); !why.empty())
    throw Error(ExitCode::environment, fmt::format("--algorithm auto on {} GPUs {}", gpus, why),
                "name an algorithm, such as halving-doubling");
  rule = choose_algorithm(plan_.catalog.profiles.at(profile), gpus, usual_sizes()).rule.text();
  return rule;
}

void PlanBuilder::add_predictions() {
  for (const Evidence evidence : request_.evidence)
    if (is_of_cluster(evidence)) add_clusters(evidence);
  if (request_.asks(is_of_others)) add_published();
}

void PlanBuilder::add_clusters(Evidence evidence) {
  if (is_timed(evidence) && !limits_.no_emulation.empty())
    return lacks(fmt::format("{} runs", to_string(evidence)), limits_.no_emulation);
  for (const std::string& name : request_.workloads)
    if (!is_file_name(name) && !data_.traces.has(name) && !contains(traces_, name))
      refuse(
          fmt::format("{}, {}", name, to_string(evidence)),
          fmt::format("no recorded timeline; hbench calibrate --model {} records one", name.substr(0, name.find(':'))));
  if (request_.workloads.empty() && traces_.empty())
    for (const std::string& name : kDefaultWorkloads) traces_.push_back(add_trace(name));
  if (request_.profiles.empty() && profiles_.empty())
    for (const std::string& name : default_profiles()) profiles_.push_back(add_profile(name));
  for (const std::string& profile : profiles_)
    // One world after the other: the simulator keeps what it knows of a world.
    for (const int gpus : request_.gpus)
      for (const std::string& trace : traces_) {
        // One GPU exchanges nothing: its replay is the timeline.
        if (is_timed(evidence) && gpus == 1) continue;
        add_strategies(evidence, trace, profile, gpus);
      }
}

/// What was asked for on one cluster, of one workload and number of GPUs.
void PlanBuilder::add_strategies(Evidence evidence, const std::string& trace, const std::string& profile, int gpus) {
  const Profile& cluster = plan_.catalog.profiles.at(profile);
  StrategiesOf of{.evidence = evidence,
                  .gpus = gpus,
                  .gpus_per_node = cluster.gpus_per_domain(),
                  .nodes = cluster.nodes_of(gpus),
                  .auto_rule = auto_rule(profile, gpus)};
  const bool searches = is_predicted(evidence) && contains(request_.methods, kAuto);
  if (searches) of.auto_methods = methods_to_search(gpus, cluster.gpus_per_domain());
  const std::vector<TrainingStrategy> strategies = strategies_asked(request_, of, plan_.refused);
  const auto is_named = [&](const TrainingStrategy& strategy) {
    return std::ranges::any_of(request_.methods, [&](const std::string& text) {
      return text != kAuto && parse_method(text).text() == strategy.method.text();
    });
  };
  // Those with methods that were named come before those that are tried.
  const auto tried = searches ? std::ranges::find_if_not(strategies, is_named) : strategies.end();
  const auto add = [&](const TrainingStrategy& each) { add_as_recorded(evidence, trace, profile, gpus, each); };
  std::for_each(strategies.begin(), tried, add);
  if (tried == strategies.end()) return;
  const std::size_t refused = plan_.refused.size(), planned = plan_.cases.size();
  const auto unsuited = unsuited_;
  std::for_each(tried, strategies.end(), add);
  // Nobody named what is tried in vain; where all is, the first stands for what it lacks.
  const bool found = plan_.cases.size() > planned;
  plan_.refused.resize(std::min(plan_.refused.size(), refused + (found ? 0 : 1)));
  unsuited_ = unsuited;
  if (!found)
    refuse(fmt::format("{} with --method auto on {} GPUs of {}", trace, gpus, profile),
           fmt::format("none of the {} methods tried has room and divides the model", of.auto_methods.size()));
}

/// `recorded` without sizes stands for the buckets of the workload; where nobody asked for a policy, a recorded job
/// keeps its own, and exchanges them after the backward pass where it did so. What is simulated is of a framework.
void PlanBuilder::add_as_recorded(Evidence evidence, const std::string& trace_name, const std::string& profile,
                                  int gpus, TrainingStrategy strategy) {
  const Trace& trace = plan_.catalog.traces.at(trace_name);
  // A job that exchanged its gradients among its ranks is compared with servers where somebody asks for them.
  if (trace.recorded && strategy.algorithm.uses_servers() && request_.algorithms.empty() && request_.presets.empty())
    return;
  const bool own = request_.fusions.empty() && strategy.preset == nullptr && !trace.buckets.empty() &&
                   !strategy.algorithm.uses_servers() && strategy.compressor.compressor->exchange != Exchange::low_rank;
  if (strategy.communicates() && (own || strategy.fusion.text() == "recorded")) {
    if (trace.buckets.empty())
      return refuse(fmt::format("{}, recorded buckets", trace.name),
                    "its file has none; hbench import-job writes them where a recording shows them");
    strategy.fusion = parse_fusion(trace.recorded_fusion());
    if (trace.recorded && !trace.recorded->overlap) strategy.overlap = false;
  }
  if (is_predicted(evidence) && strategy.preset == nullptr && !request_.predicts_engine())
    strategy.preset = &usual_preset(strategy);
  add_on_cluster(evidence, trace_name, profile, gpus, std::move(strategy));
}

/// Why a cluster's ranks cannot be processes of this machine.
std::string PlanBuilder::refuse_emulated(const Case& asked, const TrainingStrategy& strategy,
                                         const World& world) const {
  if (strategy.algorithm.is_vendor()) return "the vendor's library is the cluster's, and not here";
  const int per_node = gpus_per_domain(asked);
  if (asked.gpus > per_node && asked.gpus % per_node != 0)
    return fmt::format("emulated nodes are full, and a node has {} GPUs", per_node);
  return refuse_emulated_memory(world.ranks(), plan_.catalog.traces.at(asked.workload).timeline,
                                strategy.method.plan(strategy.overlap), limits_.memory);
}

/// `usual_batch` of all clusters that were asked for.
int PlanBuilder::batch_of(const Trace& trace) {
  const auto [known, is_new] = usual_batches_.try_emplace(trace.name, 0);
  if (!is_new) return known->second;
  for (const std::string& name : profiles_)
    take_rate(plan_.catalog.profiles.at(name), trace, rates_, request_.precision);
  return known->second = usual_batch(request_, trace, profiles_, plan_.catalog, own_traces_.contains(trace.name));
}

/// Returns whether a timeline was recorded on a GPU that is known, and is not that of the cluster.
bool PlanBuilder::is_of_another_gpu(const Trace& trace, const Profile& profile) const {
  return trace.recorded && !profile.gpu.empty() && !is_recorded_on(trace, profile) &&
         std::ranges::any_of(rates_.gpus(), [&](const Profile& gpu) { return is_recorded_on(trace, gpu); });
}

/// Returns the clusters of a sweep that names none: of a job that was recorded on a GPU that is known, the first that
/// have it.
std::vector<std::string> PlanBuilder::default_profiles() const {
  std::vector<std::string> alike;
  for (const std::string& trace : traces_)
    for (const std::string& name : data_.profiles.names())
      if (alike.size() < kDefaultProfiles.size() && !contains(alike, name) &&
          is_recorded_on(plan_.catalog.traces.at(trace), data_.profiles.load(name)))
        alike.push_back(name);
  return alike.empty() ? kDefaultProfiles : alike;
}

/// Keeps the case when a single GPU's speed is known.
void PlanBuilder::add_on_cluster(Evidence evidence, const std::string& trace_name, const std::string& profile_name,
                                 int gpus, TrainingStrategy strategy, int batch) {
  const Trace& trace = plan_.catalog.traces.at(trace_name);
  Profile& profile = plan_.catalog.profiles.at(profile_name);
  take_rate(profile, trace, rates_, request_.precision);
  if (profile.most_gpus() > 0 && gpus > profile.most_gpus())
    return refuse(
        fmt::format("{} on more than {} GPUs", profile.name, profile.most_gpus()),
        fmt::format("its profile has {} node{} at most", profile.most_nodes, profile.most_nodes == 1 ? "" : "s"));
  const auto rate = profile.rates.find(trace.name);
  const double given = request_.rate_on(profile.gpu);
  if (given == 0 && rate == profile.rates.end()) {
    if (!own_traces_.contains(trace.name))
      return refuse(fmt::format("{} on {}", trace.name, profile.name), no_rate(request_, profile));
    if (is_of_another_gpu(trace, profile))
      return refuse(fmt::format("{} on {}", trace.name, profile.name),
                    fmt::format("it was recorded on {}, and this cluster has {}; give what one of these makes: --rate "
                                "{}=SAMPLES_PER_SECOND",
                                trace.recorded->gpu, profile.gpu, profile.gpu));
  }
  if (std::string why = refuse_recomputation(trace, request_.recomputation); !why.empty())
    return refuse(fmt::format("{} with {} recomputation", trace.name, entry_of(request_.recomputation).name),
                  std::move(why));
  strategy.recomputation = request_.recomputation;
  strategy.optimizer = request_.optimizer;
  if (names_precision(request_.precision)) strategy.precision = parse_precision(request_.precision);
  Case asked;
  asked.evidence = evidence;
  asked.workload = trace.name;
  asked.profile = profile.name;
  asked.gpus = gpus;
  strategy.set_servers(strategy.servers, gpus);
  asked.single_gpu_rate = given;
  if (!set_batch(asked, batch, batch_of(trace))) return;
  const PlannedCase step = planned(asked, strategy);
  const NumberBytes bytes = number_bytes_of(step, plan_.catalog);
  if (bytes.half_gradients() && strategy.preset != nullptr && !strategy.preset->half.fusion.empty())
    strategy.fusion = parse_fusion(strategy.preset->half.fusion);
  if (std::string why = refuse_memory(step, plan_.catalog); !why.empty())
    return refuse(fmt::format("{} on GPUs of {:.0f} GB", trace.name, profile.gpu_memory.value / 1e9), std::move(why));
  if (own_traces_.contains(trace.name)) asked.model_digest = trace_digests_.at(trace.name);
  asked.implementation = is_timed(evidence) ? kEmulationRevision : kSimulatorRevision;
  std::string node;
  if (request_.node_rate > 0) {  // which may say how fast one GPU is
    set_node_rate(plan_.catalog, planned(asked, strategy), request_.node_rate);
    node = fmt::format("; one full node: {:g} samples/s, given by --single-node-rate", request_.node_rate);
  }
  asked.source = fmt::format("profile {} ({}); timeline {} ({}, {}); {}one GPU: {}{}", profile.name, profile.digest,
                             trace.name, trace_digests_.at(trace.name), trace.source, precision_text(request_, bytes),
                             rate_source(request_, profile, trace), node);
  add(asked, strategy);
}

bool PlanBuilder::set_batch(Case& asked, int published, int usual) {
  asked.batch_per_gpu = published;
  if (published > 0) return true;
  GpuBatch batch = gpu_batch(request_, asked.workers(), usual);
  asked.batch_per_gpu = batch.batch;
  asked.accumulate = batch.accumulate;
  asked.global_batch = request_.global_batch;
  if (batch.why_not.empty()) return true;
  refuse(counted(asked.gpus, "GPU"), std::move(batch.why_not));
  return false;
}

bool PlanBuilder::in_range(const Case& figure) const {
  if (figure.gpus < request_.gpus.front() || figure.gpus > request_.gpus.back()) return false;
  if (!contains(request_.workloads.empty() ? kDefaultWorkloads : traces_, figure.workload)) return false;
  if (!contains(request_.profiles.empty() ? kDefaultProfiles : profiles_, figure.profile)) return false;
  if (contains(request_.presets, figure.strategy.preset)) return true;
  return !only_presets(request_) &&
         (request_.algorithms.empty() || contains(request_.algorithms, figure.strategy.algorithm));
}

/// Each published figure with a simulated twin of the very strategy it was measured with.
void PlanBuilder::add_published() {
  if (request_.global_batch > 0 || request_.accumulate > 1)
    return refuse("published figures", "each GPU of theirs takes one batch a step, and always the same");
  if (request_.recomputation != Recomputation::none)
    return refuse("published figures", "none of them says that activations were computed again");
  std::vector<Case> twins;
  for (CaseResult& figure : published_results()) {
    if (!in_range(figure.asked)) continue;
    if (!figure.asked.strategy.fusion.empty())
      figure.asked.strategy.fusion = canonical_fusion(figure.asked.strategy.fusion);
    twins.push_back(figure.asked);
    plan_.published.push_back(std::move(figure));
  }
  const auto predicted = std::ranges::find_if(request_.evidence, is_predicted);
  if (predicted == request_.evidence.end()) return;
  for (const Case& twin : twins) {
    const auto is_twin = [&](const Case& asked) {
      return asked.is_predicted() && asked.workload == twin.workload && asked.gpus == twin.gpus &&
             asked.profile == twin.profile && asked.strategy == twin.strategy &&
             asked.batch_per_gpu == twin.batch_per_gpu;
    };
    if (!plan_.catalog.profiles.contains(twin.profile)) add_profile(twin.profile);
    if (!plan_.catalog.traces.contains(twin.workload) || std::ranges::any_of(plan_.cases, is_twin)) continue;
    add_on_cluster(*predicted, twin.workload, twin.profile, twin.gpus, planned(twin).strategy, twin.batch_per_gpu);
  }
}

Plan PlanBuilder::finish() {
  // Pairs of algorithm and compressor that cannot be, or not in every world; once each.
  for (const auto& [pair, gpus] : unsuited_)
    refuse(fmt::format("{} on {} GPUs", pair.first, fmt::join(gpus, ", ")), pair.second);
  check_gpu_rates();
  if (plan_.cases.empty() && plan_.published.empty()) nothing_left();
  if (request_.measured.time.value > 0) take_measured_step(plan_.cases, plan_.catalog, request_.measured);
  return std::move(plan_);
}

Plan plan_predictions(const PredictionRequest& request, const Data& data, const PlanLimits& limits) {
  PlanBuilder builder(request, data, limits);
  builder.add_predictions();
  return builder.finish();
}

bool is_of_emulated_cluster(const Case& asked, const Catalog& catalog) {
  return asked.is_timed() && !asked.is_local() && catalog.profiles.contains(asked.profile);
}

}  // namespace hbench

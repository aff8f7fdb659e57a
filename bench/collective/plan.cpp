#include "bench/collective/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <numeric>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/simulated_collective.hpp"
#include "analysis/revision.hpp"
#include "bench/sweep/measured_place.hpp"
#include "bench/worker/candidate.hpp"
#include "bench/worker/pattern.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/network/choose.hpp"

namespace hbench {
namespace {

constexpr std::string_view kMpich = "mpich";

std::vector<std::string> measured_executors() {
  std::vector<std::string> names;
  for (const ExecutorKind* kind : executors())
    if (kind->evidence == "measured") names.emplace_back(kind->name);
  return names;
}

/// Builds the plan: every method adds to it or to the refusals.
class Planner {
 public:
  Planner(const CollectiveRequest& request, const CollectiveMachine& machine, const std::vector<std::int64_t>& tensors)
      : request_(request), machine_(machine), tensors_(tensors) {
    choose_defaults();
    check_names();
  }

  CollectivePlan make() {
    for (const Profile& cluster : machine_.clusters) simulate_on(cluster);
    for (const int workers : request_.simulates() ? std::vector<int>() : ranks_) {
      for (const std::vector<std::int64_t>& buffers : sizes(workers)) {
        for (const std::string& executor : executors_)
          for (const std::string& algorithm : algorithms_for(executor))
            for (const std::string& compressor : compressors_)
              add_ours(workers, buffers, executor, algorithm, compressor);
        if (request_.peers) add_peers(workers, buffers);
      }
    }
    for (const std::string& absent : machine_.absent_peers)
      if (request_.peers) refuse("--peers", absent);
    if (plan_.sets.empty() && plan_.simulated.empty()) nothing_left();
    if (request_.segments > 0 && !pipelined_)
      throw Error(ExitCode::usage, "--segments is for pipelined algorithms, and none was asked for",
                  "hbench list algorithms shows which are");
    check_memory();
    return std::move(plan_);
  }

 private:
  bool needs_equal_parts() const {
    return request_.collective == CollectiveKind::reduce_scatter || request_.collective == CollectiveKind::all_gather;
  }

  static const ExecutorKind& kind_of(const Case& asked) {
    return find_entry(executors(), asked.collective.executor, "executor");
  }

  std::int64_t element_size() const { return static_cast<std::int64_t>(size_of(request_.type)); }

  void choose_defaults() {
    ranks_ = request_.ranks;
    if (ranks_.empty() && machine_.fixed_ranks > 0) ranks_ = {machine_.fixed_ranks};
    if (ranks_.empty()) ranks_ = {std::max(2, machine_.cores)};
    algorithms_ = request_.algorithms;
    compressors_ = request_.compressors.empty() ? std::vector<std::string>{"none"} : request_.compressors;
    executors_ = request_.executors;
    if (!executors_.empty()) return;
    executors_ = {machine_.no_mpi.empty() ? "mpi" : "threads"};
    if (request_.peers) executors_ = {"shm", "mpi"};
  }

  /// What was asked for; otherwise one that is good for the executor.
  std::vector<std::string> algorithms_for(const std::string& executor) const {
    if (!algorithms_.empty()) return algorithms_;
    const std::vector<const Algorithm*> known = hbench::algorithms_for(request_.collective);
    const auto has = [&](std::string_view name) {
      return std::ranges::any_of(known, [&](const Algorithm* entry) { return entry->name == name; });
    };
    if (find_entry(executors(), executor, "executor").runs == ExecutorKind::Runs::vendor) return {"vendor"};
    // Ranks that read each other's buffers add up one part each, and are done.
    if (executor == "shm" && has("direct")) return {"direct"};
    if (has("ring")) return {"ring"};
    for (const Algorithm* entry : known)
      if (!entry->is_vendor() && !entry->uses_servers) return {std::string(entry->name)};
    return {};
  }

  void check_names() {
    bool servers = false, groups = false;
    for (std::string& name : algorithms_) {
      if (name == kAuto && request_.simulates()) continue;
      if (name == kAuto)
        throw Error(ExitCode::usage, "auto chooses by a model of the cluster, and there is none of this machine",
                    "give an algorithm, or a rule for sizes such as recursive-doubling@16KiB/ring");
      if (request_.collective == CollectiveKind::all_reduce) {
        const AlgorithmRule rule = parse_algorithm_rule(name);
        name = rule.text();
        servers = servers || rule.uses_servers();
        groups = groups || rule.uses_groups();
      } else {
        const AlgorithmChoice choice = parse_algorithm(name, request_.collective);
        name = choice.text();
        servers = servers || choice.algorithm->uses_servers;
        groups = groups || choice.algorithm->uses_groups;
      }
    }
    for (std::string& name : compressors_) name = parse_compressor(name).text();
    const std::vector<std::string> known = measured_executors();
    for (const std::string& name : request_.simulates() ? std::vector<std::string>() : executors_)
      if (std::ranges::find(known, name) == known.end())
        throw unknown_name("executor", name, std::vector<std::string_view>(known.begin(), known.end()));
    if (!request_.fusion.empty()) parse_fusion(request_.fusion);
    if (request_.servers && !servers)
      throw Error(ExitCode::usage, "--servers is for parameter servers, and none of the algorithms has any",
                  "add --algorithm ps");
    if (request_.ranks_per_node > 0 && !groups)
      throw Error(ExitCode::usage, "--ranks-per-node is for hierarchical algorithms, and none was asked for",
                  "hbench list algorithms shows which take the ranks of a node together");
    if (!tensors_.empty() && needs_equal_parts())
      throw Error(ExitCode::usage,
                  fmt::format("{} needs equal parts, which the tensors of a --workload do not have",
                              to_string(request_.collective)),
                  "leave out --workload, or measure an all-reduce or a broadcast of them");
    if (request_.peers && request_.collective != CollectiveKind::all_reduce)
      throw Error(ExitCode::usage, fmt::format("--peers compares all-reduces, not {}", to_string(request_.collective)),
                  "leave out --peers; --algorithm vendor is the MPI library's own, where it is listed");
  }

  /// The buffers of each size, in elements. Parts must be equal where each worker has one.
  std::vector<std::vector<std::int64_t>> sizes(int workers) const {
    if (!tensors_.empty()) return {tensors_};
    const std::int64_t unit = needs_equal_parts() ? std::int64_t{workers} * std::max(1, request_.segments) : 1;
    std::vector<std::vector<std::int64_t>> all;
    for (const std::int64_t bytes : sizes_of(request_)) {
      const std::int64_t elements = std::max<std::int64_t>(bytes / element_size() / unit, 1) * unit;
      if (all.empty() || all.back().front() != elements) all.push_back({elements});
    }
    return all;
  }

  Case blank(int workers, const std::vector<std::int64_t>& buffers) const {
    Case asked = question(workers, buffers);
    time_here(asked, machine_.emulated);
    asked.nodes = 1;
    asked.implementation = kCollectiveRevision;
    asked.source = "this machine's CPU cores";
    return asked;
  }

  /// What is asked, wherever the answer comes from.
  Case question(int workers, const std::vector<std::int64_t>& buffers) const {
    Case asked;
    asked.workload = request_.workload;
    asked.gpus = workers;
    asked.strategy.fusion = request_.fusion;
    asked.strategy.compressor = "none";
    asked.collective.name = to_string(request_.collective);
    asked.collective.bytes = std::accumulate(buffers.begin(), buffers.end(), std::int64_t{0}) * element_size();
    asked.collective.data_type = entry_of(request_.type).name;
    asked.collective.operation = entry_of(request_.op).name;
    return asked;
  }

  /// One node and two, unless ranks were asked for.
  std::vector<int> ranks_on(const Profile& cluster) const {
    if (!request_.ranks.empty()) return request_.ranks;
    if (cluster.gpus_per_node == 1) return {2, 4};
    if (cluster.most_nodes == 1) return {cluster.gpus_per_node};
    return {cluster.gpus_per_node, 2 * cluster.gpus_per_node};
  }

  void simulate_on(const Profile& cluster) {
    for (const int workers : ranks_on(cluster)) {
      if (cluster.most_gpus() > 0 && workers > cluster.most_gpus()) {
        refuse(fmt::format("{} ranks on {}", workers, cluster.name),
               fmt::format("at most {} of its GPUs work together", cluster.most_gpus()));
        continue;
      }
      for (const std::vector<std::int64_t>& buffers : sizes(workers))
        for (const std::string& algorithm : algorithms_.empty() ? std::vector<std::string>{kVendor} : algorithms_)
          for (const std::string& compressor : compressors_)
            add_simulated(cluster, workers, buffers, algorithm, compressor);
    }
  }

  void add_simulated(const Profile& cluster, int workers, const std::vector<std::int64_t>& buffers,
                     const std::string& algorithm, const std::string& compressor) {
    const std::int64_t bytes = buffers.front() * element_size();
    Case asked = question(workers, buffers);
    asked.evidence = Evidence::simulated;
    asked.profile = cluster.name;
    asked.nodes = cluster.nodes_of(workers);
    asked.implementation = kSimulatorRevision;
    asked.source = fmt::format("profile {}", cluster.digest);
    asked.strategy.algorithm = algorithm;
    asked.strategy.compressor = compressor;
    asked.collective.executor = "simulate";
    if (algorithm == kAuto) {
      if (request_.collective != CollectiveKind::all_reduce) return refuse(asked, "auto chooses among all-reduces");
      asked.strategy.algorithm = best_on(cluster, workers).at(bytes).text();
    }
    const AlgorithmChoice choice = algorithm_of(asked, bytes);
    if (choice.algorithm->segments != nullptr) {
      asked.collective.segments = request_.segments;
      pipelined_ = true;
    }
    if (choice.algorithm->uses_groups) asked.collective.ranks_per_node = std::min(cluster.gpus_per_node, workers);
    if (choice.algorithm->uses_servers) {
      const ServerChoice servers = request_.servers.value_or(ServerChoice{true, 0});
      asked.strategy.servers = servers.count > 0 ? servers.count : asked.nodes;
      asked.strategy.server_mode = servers.colocated ? kColocated : kDedicated;
    }
    if (const std::string why = refuse_to_simulate(asked, machine_.memory); !why.empty()) return refuse(asked, why);
    const std::string key = asked.key();
    if (std::ranges::any_of(plan_.simulated, [&](const Case& known) { return known.key() == key; })) return;
    plan_.simulated.push_back(std::move(asked));
  }

  const AlgorithmRule& best_on(const Profile& cluster, int workers) {
    const auto [known, is_new] = best_.try_emplace({cluster.name, workers});
    if (is_new) known->second = choose_algorithm(cluster, workers, usual_sizes()).rule;
    return known->second;
  }

  void add_ours(int workers, const std::vector<std::int64_t>& buffers, const std::string& executor,
                const std::string& algorithm, const std::string& compressor) {
    Case asked = blank(workers, buffers);
    asked.strategy.algorithm = algorithm;
    asked.strategy.compressor = compressor;
    asked.collective.executor = executor;
    if (kind_of(asked).on_gpu) {
      asked.source = "this machine's GPUs";
      asked.training.device = kGpuDevice;
    }
    const AlgorithmChoice choice = algorithm_of(asked, buffers.front() * element_size());
    if (choice.algorithm->segments != nullptr) {
      asked.collective.segments = request_.segments;
      pipelined_ = true;
    }
    if (choice.algorithm->uses_groups)
      asked.collective.ranks_per_node = request_.ranks_per_node > 0 ? request_.ranks_per_node : workers;
    if (choice.algorithm->uses_servers) {
      const ServerChoice servers = request_.servers.value_or(ServerChoice{true, workers});
      asked.strategy.servers = servers.count > 0 ? servers.count : servers.colocated ? workers : 1;
      asked.strategy.server_mode = servers.colocated ? kColocated : kDedicated;
    }
    if (const std::string why = refusal(asked, choice, buffers); !why.empty()) return refuse(asked, why);
    const bool threads = ranks_are_threads(asked);
    const auto program =
        !threads && request_.peers && !machine_.peers.empty() ? ProcessSet::Program::peers : ProcessSet::Program::own;
    add(program, threads, std::move(asked), buffers);
  }

  /// Who started them as processes has them so.
  bool ranks_are_threads(const Case& asked) const {
    return kind_of(asked).ranks_are_threads() && machine_.fixed_ranks == 0;
  }

  /// What this machine is without.
  std::string lack(const Case& asked) const {
    if (!ranks_are_threads(asked) && !machine_.no_mpi.empty()) return machine_.no_mpi;
    const auto absent = machine_.absent.find(asked.collective.executor);
    return absent == machine_.absent.end() ? "" : absent->second;
  }

  bool is_lack(const std::string& why) const {
    return why == machine_.no_mpi ||
           std::ranges::any_of(machine_.absent, [&](const auto& absent) { return absent.second == why; });
  }

  std::string refusal(const Case& asked, const AlgorithmChoice& choice,
                      const std::vector<std::int64_t>& buffers) const {
    if (std::string why = lack(asked); !why.empty()) return why;
    const Algorithm& algorithm = *choice.algorithm;
    const CompressorChoice compressor = parse_compressor(asked.strategy.compressor);
    if (machine_.fixed_ranks > 0 && kind_of(asked).ranks_are_threads() && kind_of(asked).make_endpoint == nullptr)
      return "ranks that a launcher started are processes, not threads";
    const World world = world_of_collective(asked);
    if (machine_.fixed_ranks > 0 && world.ranks() != machine_.fixed_ranks)
      return fmt::format("it takes {} ranks, and {} were started", world.ranks(), machine_.fixed_ranks);
    if (!compressor.verbatim() && request_.collective != CollectiveKind::all_reduce)
      return "compressors go with all-reduces";
    if (kind_of(asked).refuses != nullptr)
      if (std::string why = kind_of(asked).refuses(compressor); !why.empty()) return why;
    if (std::string why = refuse_exchange(choice, compressor, request_.type, request_.op, world); !why.empty())
      return why;
    if (request_.check && compressor.verbatim() && asked.gpus > most_workers(request_.type, request_.op))
      return fmt::format("a {} {} of more than {} ranks is not exact, and cannot be checked; -c 0 does without",
                         entry_of(request_.type).name, entry_of(request_.op).name,
                         most_workers(request_.type, request_.op));
    if (algorithm.is_vendor()) return vendor_refusal(asked, *std::ranges::max_element(buffers));
    if (kind_of(asked).runs == ExecutorKind::Runs::vendor)
      return "it runs NCCL's own collectives, --algorithm vendor; the executor nccl-p2p runs ours";
    return {};
  }

  std::string vendor_refusal(const Case& asked, std::int64_t elements) const {
    const ExecutorKind& kind = kind_of(asked);
    if (kind.runs == ExecutorKind::Runs::schedules && kind.on_gpu)
      return "NCCL's own collectives go with the executor nccl";
    if (kind.runs == ExecutorKind::Runs::schedules && kind.ranks_are_threads())
      return "there is no library, and so no all-reduce of its own, between threads";
    if (kind.runs == ExecutorKind::Runs::schedules) return "the MPI library's own goes with the executor mpi";
    if (!kind.on_gpu && elements > INT_MAX) return fmt::format("{} elements are more than MPI counts", elements);
    return {};
  }

  void add_peers(int workers, const std::vector<std::int64_t>& buffers) {
    if (std::ranges::find(executors_, "mpi") == executors_.end() ||
        std::ranges::find(algorithms_, "vendor") == algorithms_.end())
      add_ours(workers, buffers, "mpi", "vendor", "none");
    for (const KnownPeer& peer : machine_.peers) {
      Case asked = blank(workers, buffers);
      asked.strategy.algorithm = peer.algorithm;
      asked.collective.executor = peer.library;
      if (machine_.no_mpi.empty())
        add(ProcessSet::Program::peers, false, std::move(asked), buffers);
      else
        refuse(asked, machine_.no_mpi);
    }
    if (!machine_.mpich) return;
    Case asked = blank(workers, buffers);
    asked.strategy.algorithm = "vendor";
    asked.collective.executor = "mpi";  // what can be refused is the same as with any MPI
    if (const std::string why = refusal(asked, parse_algorithm("vendor"), buffers); !why.empty())
      return refuse("MPICH", why);
    asked.collective.executor = kMpich;
    add(ProcessSet::Program::mpich, false, std::move(asked), buffers);
  }

  void add(ProcessSet::Program program, bool threads, Case asked, const std::vector<std::int64_t>& buffers) {
    const int ranks = world_of_collective(asked).ranks();
    const auto same = [&](const ProcessSet& set) {
      return set.program == program && set.threads == threads && set.workers == asked.gpus && set.ranks == ranks;
    };
    auto set = std::ranges::find_if(plan_.sets, same);
    if (set == plan_.sets.end())
      set = plan_.sets.insert(
          set, {.program = program, .threads = threads, .workers = asked.gpus, .ranks = ranks, .cases = {}});
    const std::string key = asked.key();
    if (std::ranges::any_of(set->cases, [&](const LoopCase& known) { return known.asked.key() == key; })) return;
    for (const ProcessSet& other : plan_.sets)
      for (const LoopCase& known : other.cases)
        plan_.comparison = plan_.comparison ||
                           (known.asked.gpus == asked.gpus && known.asked.collective.bytes == asked.collective.bytes);
    set->cases.push_back({plan_.cases++, std::move(asked), buffers});
  }

  void refuse(const Case& asked, std::string why) {
    refuse(fmt::format("{} on {} ranks", candidate_label(asked), asked.gpus), std::move(why));
  }
  void refuse(std::string what, std::string why) { hbench::refuse(plan_.refused, std::move(what), std::move(why)); }

  [[noreturn]] void nothing_left() const {
    const std::string message = fmt::format("nothing to do: {}", reasons(plan_.refused));
    const auto lacks = std::ranges::count_if(plan_.refused, [&](const Refusal& each) { return is_lack(each.why); });
    if (lacks > 0 && lacks == std::ssize(plan_.refused))
      throw Error(ExitCode::environment, message, "hbench doctor says what this machine lacks");
    throw Error(ExitCode::usage, message, "hbench collective --help explains the options");
  }

  /// A buffer for every executor, and the input.
  void check_memory() const {
    if (machine_.memory <= 0) return;
    for (const ProcessSet& set : plan_.sets) {
      std::int64_t most = 0;
      for (const LoopCase& each : set.cases) most = std::max(most, each.asked.collective.bytes);
      const double needed = 2.0 * static_cast<double>(most) * set.ranks;
      if (needed > static_cast<double>(machine_.memory))
        throw Error(ExitCode::usage,
                    fmt::format("{} ranks with two buffers of {} each need {}, and this machine has {}", set.ranks,
                                format(Bytes(static_cast<double>(most))), format(Bytes(needed)),
                                format(Bytes(static_cast<double>(machine_.memory)))),
                    "choose a smaller --maxbytes or fewer --ranks");
    }
  }

  const CollectiveRequest& request_;
  const CollectiveMachine& machine_;
  const std::vector<std::int64_t>& tensors_;
  std::vector<int> ranks_;
  std::vector<std::string> algorithms_, compressors_, executors_;
  bool pipelined_ = false;
  std::map<std::pair<std::string, int>, AlgorithmRule> best_;  ///< by cluster and workers
  CollectivePlan plan_;
};

}  // namespace

CollectivePlan make_collective_plan(const CollectiveRequest& request, const CollectiveMachine& machine,
                                    const std::vector<std::int64_t>& tensors) {
  return Planner(request, machine, tensors).make();
}

std::vector<std::int64_t> tensors_of(const StepTimeline& timeline, const std::string& fusion, DataType type) {
  const auto element_size = static_cast<std::int64_t>(size_of(type));
  std::vector<std::int64_t> elements, bytes;
  for (const GradientEvent& gradient : timeline.gradients) {
    elements.push_back(gradient.elements);
    bytes.push_back(gradient.elements * element_size);
  }
  if (fusion.empty()) return elements;
  const std::unique_ptr<FusionPolicy> policy = parse_fusion(fusion).make(bytes);
  std::vector<std::int64_t> buckets;
  int done = 0;
  // Every bucket is through at once: what merges is the policy, not a slow network.
  const auto tell = [&](const FusionEvent& event) {
    std::vector<Bucket> launched = policy->on(event);
    while (!launched.empty()) {
      std::vector<Bucket> next;
      for (const Bucket& bucket : launched) {
        buckets.push_back(bucket.bytes(bytes) / element_size);
        ++done;
        std::ranges::move(policy->on({FusionEventKind::bucket_done, event.at, done}), std::back_inserter(next));
      }
      launched = std::move(next);
    }
  };
  const auto timers_until = [&](Seconds now) {
    for (auto wakeup = policy->wakeup(); wakeup && *wakeup <= now; wakeup = policy->wakeup())
      tell({FusionEventKind::timer, *wakeup, 0});
  };
  tell({FusionEventKind::step_begin, Seconds(0), 0});
  for (std::size_t i = 0; i < timeline.gradients.size(); ++i) {
    const Seconds at = timeline.forward + timeline.gradients[i].ready;
    timers_until(at);
    tell({FusionEventKind::gradient_ready, at, static_cast<int>(i)});
  }
  const Seconds end = timeline.step();
  timers_until(end);
  tell({FusionEventKind::backward_done, end, 0});
  timers_until(end + Seconds(3600));
  return buckets;
}

std::string candidate_label(const Case& asked) {
  if (asked.collective.executor == kMpich) return "MPICH";
  Strategy strategy = asked.strategy;
  strategy.fusion.clear();
  if (asked.evidence == Evidence::simulated) return fmt::format("{} on {}", strategy.label(), asked.profile);
  return fmt::format("{} by {}", strategy.label(), asked.collective.executor);
}

bool is_peer(const Case& asked) { return asked.is_timed() && (asked.strategy.is_vendor() || !is_ours(asked)); }

}  // namespace hbench

#include "bench/collective/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/simulated_collective.hpp"
#include "analysis/records/fingerprint.hpp"
#include "bench/sweep/measured_place.hpp"
#include "bench/worker/candidate.hpp"
#include "bench/worker/pattern.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/network/choose.hpp"

namespace hbench {
namespace {

/// What this machine is without.
std::string lack(const CollectiveMachine& machine, const Case& asked) {
  if (!ranks_are_threads(machine, asked) && !machine.no_mpi.empty()) return machine.no_mpi;
  const auto absent = machine.absent.find(asked.collective.executor);
  return absent == machine.absent.end() ? "" : absent->second;
}

std::string vendor_refusal(const Case& asked, std::int64_t elements) {
  const ExecutorKind& kind = kind_of(asked);
  if (kind.runs == ExecutorKind::Runs::schedules && kind.on_gpu)
    return "NCCL's own collectives go with the executor nccl";
  if (kind.runs == ExecutorKind::Runs::schedules && kind.ranks_are_threads())
    return "there is no library, and so no all-reduce of its own, between threads";
  if (kind.runs == ExecutorKind::Runs::schedules) return "the MPI library's own goes with the executor mpi";
  if (!kind.on_gpu && elements > INT_MAX) return fmt::format("{} elements are more than MPI counts", elements);
  return {};
}

/// Each rank has a buffer for its executor, and the input. \throws Error (usage) where they are more than `memory`; 0:
/// not known.
void check_memory(const CollectivePlan& plan, std::int64_t memory) {
  if (memory <= 0) return;
  for (const ProcessSet& set : plan.sets) {
    std::int64_t most = 0;
    for (const LoopCase& each : set.cases) most = std::max(most, each.asked.collective.bytes);
    const double needed = 2.0 * static_cast<double>(most) * set.ranks;
    if (needed > static_cast<double>(memory))
      throw Error(ExitCode::usage,
                  fmt::format("{} ranks with two buffers of {} each need {}, and this machine has {}", set.ranks,
                              format(Bytes(static_cast<double>(most))), format(Bytes(needed)),
                              format(Bytes(static_cast<double>(memory)))),
                  "choose a smaller --maxbytes or fewer --ranks");
  }
}

/// Builds the plan: every method adds to it or to the refusals.
class Planner {
 public:
  Planner(const CollectiveRequest& request, const CollectiveMachine& machine, const std::vector<std::int64_t>& tensors)
      : request_(request), machine_(machine), tensors_(tensors), chosen_(candidates_of(request, machine, tensors)) {}

  CollectivePlan make() {
    for (const Profile& cluster : machine_.clusters) simulate_on(cluster);
    for (const int workers : request_.simulates() ? std::vector<int>() : chosen_.ranks) {
      for (const std::vector<std::int64_t>& buffers : buffers_of(request_, tensors_, workers)) {
        for (const std::string& executor : chosen_.executors)
          for (const std::string& algorithm : algorithms_on(executor, request_, chosen_))
            for (const std::string& compressor : chosen_.compressors)
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
    check_memory(plan_, machine_.memory);
    return std::move(plan_);
  }

 private:
  Case blank(int workers, const std::vector<std::int64_t>& buffers) const {
    Case asked = question_of(request_, workers, buffers);
    time_here(asked, machine_.emulated);
    asked.nodes = 1;
    asked.implementation = kCollectiveRevision;
    asked.source = "this machine's CPU cores";
    return asked;
  }

  /// One node and two, or as many domains of nodes, unless ranks were asked for.
  std::vector<int> ranks_on(const Profile& cluster) const {
    if (!request_.ranks.empty()) return request_.ranks;
    const int joined = cluster.gpus_per_domain();
    if (joined == 1) return {2, 4};
    if (cluster.most_nodes == 1) return {joined};
    return {joined, 2 * joined};
  }

  void simulate_on(const Profile& cluster) {
    for (const int workers : ranks_on(cluster)) {
      if (cluster.most_gpus() > 0 && workers > cluster.most_gpus()) {
        refuse(fmt::format("{} ranks on {}", workers, cluster.name),
               fmt::format("at most {} of its GPUs work together", cluster.most_gpus()));
        continue;
      }
      for (const std::vector<std::int64_t>& buffers : buffers_of(request_, tensors_, workers))
        for (const std::string& algorithm :
             chosen_.algorithms.empty() ? std::vector<std::string>{kVendor} : chosen_.algorithms)
          for (const std::string& compressor : chosen_.compressors)
            add_simulated(cluster, workers, buffers, algorithm, compressor);
    }
  }

  void add_simulated(const Profile& cluster, int workers, const std::vector<std::int64_t>& buffers,
                     const std::string& algorithm, const std::string& compressor) {
    const std::int64_t bytes = buffers.front() * element_size(request_);
    Case asked = question_of(request_, workers, buffers);
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
    specify(asked, choice, std::min(cluster.gpus_per_domain(), workers), asked.nodes, asked.nodes);
    if (const std::string why = refuse_to_simulate(asked, machine_.memory); !why.empty()) return refuse(asked, why);
    const std::string key = asked.key();
    if (std::ranges::any_of(plan_.simulated, [&](const Case& known) { return known.key() == key; })) return;
    plan_.simulated.push_back(std::move(asked));
  }

  /// Adds what the algorithm needs beside its name; servers, where the request gives no number, as many as the last
  /// two.
  void specify(Case& asked, const AlgorithmChoice& choice, int ranks_per_node, int colocated, int dedicated) {
    if (choice.algorithm->segments != nullptr) {
      asked.collective.segments = request_.segments;
      pipelined_ = true;
    }
    if (choice.algorithm->uses_groups) asked.collective.ranks_per_node = ranks_per_node;
    if (!choice.algorithm->uses_servers) return;
    const ServerChoice servers = request_.servers.value_or(ServerChoice{true, 0});
    asked.strategy.servers = servers.count > 0 ? servers.count : servers.colocated ? colocated : dedicated;
    asked.strategy.server_mode = servers.colocated ? kColocated : kDedicated;
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
    const AlgorithmChoice choice = algorithm_of(asked, buffers.front() * element_size(request_));
    specify(asked, choice, request_.ranks_per_node > 0 ? request_.ranks_per_node : workers, workers, 1);
    if (const std::string why = refuse_candidate(request_, machine_, asked, choice, buffers); !why.empty())
      return refuse(asked, why);
    const bool threads = ranks_are_threads(machine_, asked);
    const bool shared = !threads && request_.peers &&
                        std::ranges::find(machine_.peers, kSharedProgram, &KnownPeer::program) != machine_.peers.end();
    add(std::string(shared ? kSharedProgram : ""), threads, std::move(asked), buffers);
  }

  void add_peers(int workers, const std::vector<std::int64_t>& buffers) {
    if (std::ranges::find(chosen_.executors, "mpi") == chosen_.executors.end() ||
        std::ranges::find(chosen_.algorithms, "vendor") == chosen_.algorithms.end())
      add_ours(workers, buffers, "mpi", "vendor", "none");
    for (const KnownPeer& peer : machine_.peers) {
      Case asked = blank(workers, buffers);
      asked.strategy.algorithm = peer.algorithm;
      asked.collective.executor = "mpi";  // what a library refuses to do by itself is the same as with any MPI
      const std::string why = peer.algorithm == kVendor
                                  ? refuse_candidate(request_, machine_, asked, parse_algorithm(kVendor), buffers)
                                  : machine_.no_mpi;
      asked.collective.executor = peer.library;
      if (why.empty())
        add(peer.program, false, std::move(asked), buffers);
      else
        refuse(asked, why);
    }
  }

  void add(const std::string& program, bool threads, Case asked, const std::vector<std::int64_t>& buffers) {
    const int ranks = world_of_collective(asked).ranks();
    const auto same = [&](const ProcessSet& set) {
      return set.program == program && set.threads == threads && set.workers == asked.gpus && set.ranks == ranks;
    };
    auto set = std::ranges::find_if(plan_.sets, same);
    if (set == plan_.sets.end())
      set = plan_.sets.insert(set, {.program = program, .threads = threads, .workers = asked.gpus, .ranks = ranks});
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
    const auto lacks =
        std::ranges::count_if(plan_.refused, [&](const Refusal& each) { return is_lack(machine_, each.why); });
    if (lacks > 0 && lacks == std::ssize(plan_.refused))
      throw Error(ExitCode::environment, message, "hbench doctor says what this machine lacks");
    throw Error(ExitCode::usage, message, "hbench collective --help explains the options");
  }

  const CollectiveRequest& request_;
  const CollectiveMachine& machine_;
  const std::vector<std::int64_t>& tensors_;
  Candidates chosen_;
  bool pipelined_ = false;
  std::map<std::pair<std::string, int>, AlgorithmRule> best_;  ///< by cluster and workers
  CollectivePlan plan_;
};

}  // namespace

const ExecutorKind& kind_of(const Case& asked) {
  return find_entry(executors(), asked.collective.executor, "executor");
}

bool ranks_are_threads(const CollectiveMachine& machine, const Case& asked) {
  return kind_of(asked).ranks_are_threads() && machine.fixed_ranks == 0;
}

bool is_lack(const CollectiveMachine& machine, const std::string& why) {
  return why == machine.no_mpi ||
         std::ranges::any_of(machine.absent, [&](const auto& absent) { return absent.second == why; });
}

std::string refuse_candidate(const CollectiveRequest& request, const CollectiveMachine& machine, const Case& asked,
                             const AlgorithmChoice& choice, const std::vector<std::int64_t>& buffers) {
  if (std::string why = lack(machine, asked); !why.empty()) return why;
  const Algorithm& algorithm = *choice.algorithm;
  const CompressorChoice compressor = parse_compressor(asked.strategy.compressor);
  if (machine.fixed_ranks > 0 && kind_of(asked).ranks_are_threads() && kind_of(asked).make_endpoint == nullptr)
    return "ranks that a launcher started are processes, not threads";
  const World world = world_of_collective(asked);
  if (machine.fixed_ranks > 0 && world.ranks() != machine.fixed_ranks)
    return fmt::format("it takes {} ranks, and {} were started", world.ranks(), machine.fixed_ranks);
  if (!compressor.verbatim() && request.collective != CollectiveKind::all_reduce)
    return "compressors go with all-reduces";
  if (kind_of(asked).refuses != nullptr)
    if (std::string why = kind_of(asked).refuses(compressor); !why.empty()) return why;
  if (std::string why = refuse_exchange(choice, compressor, request.type, request.op, world); !why.empty()) return why;
  if (request.check && compressor.verbatim() && asked.gpus > most_workers(request.type, request.op))
    return fmt::format("a {} {} of more than {} ranks is not exact, and cannot be checked; -c 0 does without",
                       entry_of(request.type).name, entry_of(request.op).name, most_workers(request.type, request.op));
  if (algorithm.is_vendor()) return vendor_refusal(asked, *std::ranges::max_element(buffers));
  if (kind_of(asked).runs == ExecutorKind::Runs::vendor)
    return "it runs NCCL's own collectives, --algorithm vendor; the executor nccl-p2p runs ours";
  return {};
}

CollectivePlan make_collective_plan(const CollectiveRequest& request, const CollectiveMachine& machine,
                                    const std::vector<std::int64_t>& tensors) {
  return Planner(request, machine, tensors).make();
}

std::string candidate_label(const Case& asked) {
  Strategy strategy = asked.strategy;
  strategy.fusion.clear();
  if (asked.is_predicted()) return fmt::format("{} on {}", strategy.label(), asked.profile);
  if (strategy.is_vendor() && !is_ours(asked)) return asked.collective.executor;
  return fmt::format("{} by {}", strategy.label(), asked.collective.executor);
}

bool is_peer(const Case& asked) { return asked.is_timed() && (asked.strategy.is_vendor() || !is_ours(asked)); }

}  // namespace hbench

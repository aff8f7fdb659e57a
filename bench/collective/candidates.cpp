#include "bench/collective/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "bench/sweep/measured_place.hpp"
#include "collectives/base/table.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/network/choose.hpp"

namespace hbench {
namespace {

bool needs_equal_parts(const CollectiveRequest& request) {
  return request.collective == CollectiveKind::reduce_scatter || request.collective == CollectiveKind::all_gather;
}

std::vector<std::string> measured_executors() {
  std::vector<std::string> names;
  for (const ExecutorKind* kind : executors())
    if (kind->evidence == "measured") names.emplace_back(kind->name);
  return names;
}

Candidates with_defaults(const CollectiveRequest& request, const CollectiveMachine& machine) {
  Candidates chosen;
  chosen.ranks = request.ranks;
  if (chosen.ranks.empty() && machine.fixed_ranks > 0) chosen.ranks = {machine.fixed_ranks};
  if (chosen.ranks.empty()) chosen.ranks = {std::max(2, machine.cores)};
  chosen.algorithms = request.algorithms;
  chosen.compressors = request.compressors.empty() ? std::vector<std::string>{"none"} : request.compressors;
  chosen.executors = request.executors;
  if (!chosen.executors.empty()) return chosen;
  chosen.executors = {machine.no_mpi.empty() ? "mpi" : "threads"};
  if (request.peers) chosen.executors = {"shm", "mpi"};
  return chosen;
}

/// What some algorithm of those that were asked for takes.
struct Takes {
  bool servers = false, groups = false;
};

/// Gives each algorithm its full name. \throws Error (usage)
Takes check_algorithms(const CollectiveRequest& request, std::vector<std::string>& algorithms) {
  Takes takes;
  for (std::string& name : algorithms) {
    if (name == kAuto && request.simulates()) continue;
    if (name == kAuto)
      throw Error(ExitCode::usage, "auto chooses by a model of the cluster, and there is none of this machine",
                  "give an algorithm, or a rule for sizes such as recursive-doubling@16KiB/ring");
    if (request.collective == CollectiveKind::all_reduce) {
      const AlgorithmRule rule = parse_algorithm_rule(name);
      name = rule.text();
      takes.servers = takes.servers || rule.uses_servers();
      takes.groups = takes.groups || rule.uses_groups();
    } else {
      const AlgorithmChoice choice = parse_algorithm(name, request.collective);
      name = choice.text();
      takes.servers = takes.servers || choice.algorithm->uses_servers;
      takes.groups = takes.groups || choice.algorithm->uses_groups;
    }
  }
  return takes;
}

/// \throws Error (usage)
void check_names(const CollectiveRequest& request, Candidates& chosen) {
  for (std::string& name : chosen.compressors) name = parse_compressor(name).text();
  const std::vector<std::string> known = measured_executors();
  for (const std::string& name : request.simulates() ? std::vector<std::string>() : chosen.executors)
    if (std::ranges::find(known, name) == known.end())
      throw unknown_name("executor", name, std::vector<std::string_view>(known.begin(), known.end()));
  if (!request.fusion.empty()) parse_fusion(request.fusion);
}

/// Options that none of the candidates takes. \throws Error (usage)
void check_options(const CollectiveRequest& request, const Takes& takes, bool of_workload) {
  if (request.servers && !takes.servers)
    throw Error(ExitCode::usage, "--servers is for parameter servers, and none of the algorithms has any",
                "add --algorithm ps");
  if (request.ranks_per_node > 0 && !takes.groups)
    throw Error(ExitCode::usage, "--ranks-per-node is for hierarchical algorithms, and none was asked for",
                "hbench list algorithms shows which take the ranks of a node together");
  if (of_workload && needs_equal_parts(request))
    throw Error(ExitCode::usage,
                fmt::format("{} needs equal parts, which the tensors of a --workload do not have",
                            to_string(request.collective)),
                "leave out --workload, or measure an all-reduce or a broadcast of them");
  if (request.peers && request.collective != CollectiveKind::all_reduce)
    throw Error(ExitCode::usage, fmt::format("--peers compares all-reduces, not {}", to_string(request.collective)),
                "leave out --peers; --algorithm vendor is the MPI library's own, where it is listed");
}

}  // namespace

std::int64_t element_size(const CollectiveRequest& request) { return static_cast<std::int64_t>(size_of(request.type)); }

Candidates candidates_of(const CollectiveRequest& request, const CollectiveMachine& machine,
                         const std::vector<std::int64_t>& tensors) {
  Candidates chosen = with_defaults(request, machine);
  const Takes takes = check_algorithms(request, chosen.algorithms);
  check_names(request, chosen);
  check_options(request, takes, !tensors.empty());
  return chosen;
}

std::vector<std::string> algorithms_on(const std::string& executor, const CollectiveRequest& request,
                                       const Candidates& chosen) {
  if (!chosen.algorithms.empty()) return chosen.algorithms;
  const std::vector<const Algorithm*> known = hbench::algorithms_for(request.collective);
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

std::vector<std::vector<std::int64_t>> buffers_of(const CollectiveRequest& request,
                                                  const std::vector<std::int64_t>& tensors, int workers) {
  if (!tensors.empty()) return {tensors};
  const std::int64_t unit = needs_equal_parts(request) ? std::int64_t{workers} * std::max(1, request.segments) : 1;
  std::vector<std::vector<std::int64_t>> all;
  for (const std::int64_t bytes : sizes_of(request)) {
    const std::int64_t elements = std::max<std::int64_t>(bytes / element_size(request) / unit, 1) * unit;
    if (all.empty() || all.back().front() != elements) all.push_back({elements});
  }
  return all;
}

Case question_of(const CollectiveRequest& request, int workers, const std::vector<std::int64_t>& buffers) {
  Case asked;
  asked.workload = request.workload;
  asked.gpus = workers;
  asked.strategy.fusion = request.fusion;
  asked.strategy.compressor = "none";
  asked.collective.name = to_string(request.collective);
  asked.collective.bytes = std::accumulate(buffers.begin(), buffers.end(), std::int64_t{0}) * element_size(request);
  asked.collective.data_type = entry_of(request.type).name;
  asked.collective.operation = entry_of(request.op).name;
  return asked;
}

}  // namespace hbench

#include "bench/collective/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "analysis/prediction/case_strategy.hpp"
#include "bench/worker/candidate.hpp"
#include "bench/worker/pattern.hpp"
#include "collectives/base/table.hpp"

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

}  // namespace hbench

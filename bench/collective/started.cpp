#include "bench/collective/started.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "bench/collective/run.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/worker/collective.hpp"
#include "bench/worker/cores.hpp"
#include "collectives/transport/host_place.hpp"

namespace hbench {
namespace {

int number_of(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

}  // namespace

StartedRanks find_started_ranks() {
  for (const auto& [size, rank] : {std::pair{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                   {"PMI_SIZE", "PMI_RANK"},
                                   {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}})
    if (std::getenv(size) != nullptr && std::getenv(rank) != nullptr) return {number_of(size, 0), number_of(rank, 0)};
  // PMIx tells the rank alone; the number of ranks is MPI's to say.
  return {};
}

std::vector<CaseResult> run_as_started(const CollectivePlan& plan, const LoopOptions& options,
                                       const StartedRanks& started,
                                       const std::function<void(const CaseResult&)>& on_done) {
  std::vector<CaseResult> results(static_cast<std::size_t>(plan.cases));
  std::vector<LoopCase> cases;
  for (const ProcessSet& set : plan.sets)
    for (const LoopCase& each : set.cases) {
      results[static_cast<std::size_t>(each.index)].asked = each.asked;
      cases.push_back(each);
    }
  const std::unique_ptr<RankEndpoints> endpoints = make_process_endpoints();
  Endpoint& home = endpoints->home();
  const Rank rank = home.transport().rank();
  const LoopReport report{.begin = [](const std::vector<int>&) {},
                          .working = [](int) {},
                          .end =
                              [&](const LoopResult& result) {
                                CaseResult& known = results[static_cast<std::size_t>(result.index)];
                                add_to(known, result, 0);
                                on_done(known);
                              }};
  try {
    if (home.transport().size() != started.ranks)
      throw Error(ExitCode::environment,
                  fmt::format("the launcher started {} ranks, and MPI sees {}", started.ranks, home.transport().size()),
                  "use the launcher of the MPI that hbench was built with");
    const int hosts = find_host_place(home.control(), options.timeout).hosts;
    for (CaseResult& result : results) result.asked.nodes = hosts;
    if (!uses_gpus(cases)) pin_process(home, options.timeout);
    LoopOptions loop = options;
    loop.delay = test_delay();
    run_loop(cases, loop, *endpoints, {}, report);
  } catch (const Error& error) {
    fmt::print(stderr, "hbench: rank {}: {}\n", rank, error.what());
    std::fflush(nullptr);
    home.abort(static_cast<int>(error.code()));
  }
  return rank == 0 ? results : std::vector<CaseResult>();
}

void refuse_for_started(const CollectiveOptions& options, const StartedRanks& started) {
  if (started.ranks == 0) return;
  if (options.request.simulates())
    throw Error(ExitCode::usage, "a launcher has started these ranks, and --profile simulates them",
                "run hbench collective without the launcher");
  if (options.launches > 1)
    throw Error(ExitCode::usage, "--launches starts ranks afresh, and a launcher has started these",
                "run hbench collective without the launcher; it starts its ranks itself");
}

}  // namespace hbench

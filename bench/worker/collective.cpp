#include "bench/worker/collective.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "bench/worker/rank_resources.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {
namespace {

/// Samples of one line: shorter than what a launcher passes on in one piece (Open MPI: 4096 bytes).
constexpr std::size_t kValuesPerLine = 100;

class ThreadEndpoints final : public RankEndpoints {
 public:
  Endpoint& home() override { return of("threads"); }
  Endpoint& of(std::string_view executor) override { return *made_.find(executor)->second; }
  void add(std::string_view executor, std::unique_ptr<Endpoint> endpoint) {
    made_.emplace(executor, std::move(endpoint));
  }

 private:
  std::map<std::string, std::unique_ptr<Endpoint>, std::less<>> made_;
};

/// Of all ranks, for the executors that the order asks for and for what ranks say to each other.
std::vector<std::unique_ptr<ThreadEndpoints>> make_endpoints(const CollectiveOrder& order) {
  std::vector<std::unique_ptr<ThreadEndpoints>> endpoints;
  for (int rank = 0; rank < order.ranks; ++rank) endpoints.push_back(std::make_unique<ThreadEndpoints>());
  std::set<std::string> names{"threads"};
  for (const LoopCase& each : order.cases) names.insert(each.asked.collective.executor);
  for (const std::string& name : names) {
    auto made = find_entry(executors(), name, "executor").make_endpoints(order.ranks);
    for (std::size_t rank = 0; rank < made.size(); ++rank) endpoints[rank]->add(name, std::move(made[rank]));
  }
  return endpoints;
}

void say_samples(const Say& say, const LoopResult& result) {
  for (std::size_t begin = 0, end = 0; begin < result.samples.size(); begin = end) {
    const Sample& head = result.samples[begin];
    SamplesLine line{head.rank, result.index, head.metric, head.unit, head.warmup, head.iteration, {}};
    const auto follows = [&](const Sample& next) {
      return next.rank == head.rank && next.metric == head.metric && next.warmup == head.warmup &&
             next.iteration == head.iteration + static_cast<int>(end - begin) && end - begin < kValuesPerLine;
    };
    while (end < result.samples.size() && follows(result.samples[end]))
      line.values.push_back(result.samples[end++].value);
    say(line);
  }
}

/// What rank 0 says while the loop runs.
LoopReport spoken_report(const Say& say) {
  return {.begin =
              [=](const std::vector<int>& indices) {
                say(SizeLine{0, indices});
              },
          .working =
              [=](int index) {
                say(WorkingLine{0, index});
              },
          .end =
              [=](const LoopResult& result) {
                say_samples(say, result);
                say(CaseLine{0, result.index, result.refusal});
              }};
}

/// Runs one rank; how it ended. `pin` binds it to its core.
ExitCode run_one(const CollectiveOrder& order, RankEndpoints& endpoints, const PeerSet& peers, const Say& say,
                 const std::function<void()>& pin) {
  Endpoint& home = endpoints.home();
  const Rank rank = home.transport().rank();
  return run_rank(&home, say, [&] {
    require_ranks(home.transport(), order.ranks);
    if (!uses_gpus(order.cases)) pin();
    run_loop(order.cases, order.options, endpoints, peers, spoken_report(say));
    if (rank == 0) say(DoneLine{rank, ""});
  });
}

ExitCode run_threads(const CollectiveOrder& order, const PeerSet& peers, const Say& say) {
  const std::vector<std::unique_ptr<ThreadEndpoints>> endpoints = make_endpoints(order);
  return run_ranks_as_threads(order.ranks, say, [&](int rank, const Say& own) {
    return run_one(order, *endpoints[static_cast<std::size_t>(rank)], peers, own, [&] { pin_to_core(rank); });
  });
}

}  // namespace

bool uses_gpus(std::span<const LoopCase> cases) {
  return std::ranges::any_of(cases, [](const LoopCase& each) { return works_on_gpu(each.asked.collective.executor); });
}

ExitCode run_collective_worker(const CollectiveOrder& order, const PeerSet& peers, const Say& say) {
  if (order.threads) return run_threads(order, peers, say);
  const std::unique_ptr<RankEndpoints> endpoints = make_process_endpoints(order.options.timeout);
  return run_one(order, *endpoints, peers, say, [&] { pin_process(endpoints->home(), order.options.timeout); });
}

}  // namespace hbench

#include "bench/collective/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <set>

#include "analysis/points/collectives.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/nccl_log.hpp"
#include "bench/launch/process.hpp"
#include "bench/launch/start_ranks.hpp"
#include "bench/worker/collective.hpp"
#include "bench/worker/rank_resources.hpp"
#include "collectives/transport/host_place.hpp"

namespace hbench {
namespace {

/// An order is one argument, which Linux limits to 128 KiB.
constexpr std::size_t kMostCases = 200;
/// A set of processes that fails so often in one launch is not tried again.
constexpr int kMostFailures = 3;

void fail(CaseResult& result, ExitCode code, std::string reason) {
  result.status = CaseStatus::failed;
  result.failure = std::move(reason);
  result.exit_code = static_cast<int>(code);
}

/// Records what the ranks of one launch report, as they report it.
class LaunchRecorder {
 public:
  /// `on_end` is called with each case when its last line has come, while the others go on.
  LaunchRecorder(std::vector<CaseResult>& results, int launch, const NcclLog& nccl, const RunProgress& progress,
                 std::function<void(int index)> on_end)
      : results_(results), launch_(launch), nccl_(nccl), progress_(progress), on_end_(std::move(on_end)) {}

  void record(const WorkerLine& line) {
    std::visit([this](const auto& each) { add(each); }, line);
  }

  RankReports reports;
  std::set<int> ended;  ///< cases
  int working = -1;     ///< the case that is running

 private:
  void add(const DoneLine&) { reports.complete = true; }
  void add(const SizeLine& size) {
    pending_.clear();
    working = size.cases.empty() ? -1 : size.cases.front();
  }
  void add(const WorkingLine& line) {
    working = line.index;
    const Case& asked = results_.at(static_cast<std::size_t>(line.index)).asked;
    progress_.doing(fmt::format("{} B, {} on {} ranks", asked.collective.bytes, candidate_label(asked), asked.gpus));
  }
  void add(const SamplesLine& line) {
    std::ranges::move(samples_of(line, launch_), std::back_inserter(pending_[line.index]));
  }
  void add(const CaseLine& line) {
    CaseResult& result = results_.at(static_cast<std::size_t>(line.index));
    add_to(result, {line.index, line.refusal, pending_[line.index]}, launch_);
    // It connects when a collective first needs that: now it has.
    if (uses_nccl(result.asked))
      std::ranges::move(transport_samples(nccl_.transports(), launch_), std::back_inserter(result.samples));
    ended.insert(line.index);
    on_end_(line.index);
  }
  /// What `start_ranks` records, and what only trainings and probes report.
  template <class Line>
  void add(const Line&) {}

  std::vector<CaseResult>& results_;
  int launch_;
  const NcclLog& nccl_;
  const RunProgress& progress_;
  std::function<void(int index)> on_end_;
  std::map<int, std::vector<Sample>> pending_;
};

class Runner {
 public:
  Runner(const CollectivePlan& plan, const RunOptions& options, const RunProgress& progress)
      : plan_(plan), options_(options), progress_(progress), results_(static_cast<std::size_t>(plan.cases)) {
    for (const ProcessSet& set : plan_.sets)
      for (const LoopCase& each : set.cases) result_of(each.index).asked = each.asked;
  }

  std::vector<CaseResult> run() {
    for (int launch = 0; launch < options_.launches && !interrupted(); ++launch) {
      std::vector<const ProcessSet*> order;
      for (const ProcessSet& set : plan_.sets) order.push_back(&set);
      if (launch % 2 == 1) std::ranges::reverse(order);
      for (const ProcessSet* set : order)
        if (!interrupted()) run_set(*set, launch);
    }
    return std::move(results_);
  }

 private:
  CaseResult& result_of(int index) { return results_[static_cast<std::size_t>(index)]; }

  void finish(int index, int launch) {
    const CaseResult& result = result_of(index);
    if (result.status == CaseStatus::failed || launch + 1 == options_.launches) progress_.done(result);
  }

  void run_set(const ProcessSet& set, int launch) {
    std::vector<LoopCase> open;
    for (const LoopCase& each : set.cases)
      if (result_of(each.index).status == CaseStatus::done) open.push_back(each);
    int failures = 0;
    while (!open.empty() && !interrupted()) {
      const std::vector<LoopCase> now(open.begin(),
                                      open.begin() + static_cast<std::ptrdiff_t>(std::min(open.size(), kMostCases)));
      const bool with_nccl = std::ranges::any_of(now, [](const LoopCase& each) { return uses_nccl(each.asked); });
      const NcclLog nccl(with_nccl, std::getenv("NCCL_DEBUG"));
      LaunchRecorder recorder(results_, launch, nccl, progress_, [&](int index) { finish(index, launch); });
      const JobOutcome outcome = start(set, now, nccl, recorder);
      if (interrupted()) return;
      std::set<int> over = recorder.ended;
      if (outcome.code != ExitCode::good) {
        // Where no case was running, the ranks did not even start: that will not change.
        const bool hopeless = recorder.working < 0 || ++failures == kMostFailures;
        for (const LoopCase& each : open) {
          if (over.contains(each.index) || (!hopeless && each.index != recorder.working)) continue;
          fail(result_of(each.index), outcome.code, fmt::format("launch {}: {}", launch + 1, outcome.reason));
          finish(each.index, launch);
          over.insert(each.index);
        }
        if (over.empty()) return;
      }
      std::erase_if(open, [&](const LoopCase& each) { return over.contains(each.index); });
    }
  }

  /// To hbench built with another MPI, that library is the MPI that it has.
  static std::vector<LoopCase> as_told(const RankProgram& program, std::vector<LoopCase> cases) {
    if (!program.executor.empty())
      for (LoopCase& each : cases) each.asked.collective.executor = program.executor;
    return cases;
  }

  JobOutcome start(const ProcessSet& set, const std::vector<LoopCase>& cases, const NcclLog& nccl,
                   LaunchRecorder& recorder) {
    LoopOptions loop = options_.loop;
    loop.delay = test_delay();
    const RankProgram& program = options_.programs.at(set.program);
    const CollectiveOrder order{loop, as_told(program, cases), set.ranks, set.threads};
    std::map<std::string, std::string> environment = program.environment;
    environment.merge(nccl.environment());
    const RankStart start{.launcher = set.threads ? "local" : program.launcher,
                          .processes = set.threads ? 1 : set.ranks,
                          .worker = {program.path, "worker", to_json(order)},
                          .environment = std::move(environment),
                          // A library's collective does not name who is late: the parent does, at its time-out.
                          .timeout = options_.loop.timeout * 2 + kGrace};
    return start_ranks(start, options_.host, recorder.reports, [&](const WorkerLine& line) { recorder.record(line); });
  }

  const CollectivePlan& plan_;
  const RunOptions& options_;
  const RunProgress& progress_;
  std::vector<CaseResult> results_;
};

}  // namespace

void add_to(CaseResult& result, const LoopResult& loop, int launch) {
  for (Sample sample : loop.samples) {
    sample.launch = launch;
    result.samples.push_back(std::move(sample));
  }
  if (!loop.refusal.empty()) return fail(result, ExitCode::usage, loop.refusal);
  const CollectiveFigures figures = collective_figures(result);
  const std::int64_t wrong = figures.in_place.wrong.value_or(0) + figures.out_of_place.wrong.value_or(0);
  if (wrong > 0) fail(result, ExitCode::wrong_data, fmt::format("{} elements failed the check", wrong));
}

double launch_seconds(const CollectivePlan& plan, const LoopOptions& loop) {
  constexpr double kSecondsToStart = 1;  // of the ranks
  return plan.cases * (loop.out_of_place ? 2 : 1) * loop.budget.value +
         static_cast<double>(plan.sets.size()) * kSecondsToStart;
}

std::vector<CaseResult> run_collectives(const CollectivePlan& plan, const RunOptions& options,
                                        const RunProgress& progress) {
  return Runner(plan, options, progress).run();
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

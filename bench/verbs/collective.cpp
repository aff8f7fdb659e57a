// What `hbench collective` prints and writes.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/prediction/simulated_collective.hpp"
#include "analysis/records/fingerprint.hpp"
#include "analysis/store/store.hpp"
#include "bench/collective/machine.hpp"
#include "bench/collective/plan.hpp"
#include "bench/collective/request.hpp"
#include "bench/collective/run.hpp"
#include "bench/collective/summary.hpp"
#include "bench/collective/table.hpp"
#include "bench/command/program.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/keeping.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {
namespace {

/// What the results answer.
struct CollectiveAnswer {
  const CollectiveOptions& options;
  const CollectivePlan& plan;
  const Run& run;
  const std::vector<Profile>& clusters;  ///< on which was simulated
};

std::vector<std::string> notes_of(const Run& run, bool peers) {
  std::vector<std::string> notes;
  // Peers are named with their versions, but the MPI that hbench was built with is not.
  if (const auto mpi = run.environment.find("mpi_library"); peers && mpi != run.environment.end())
    notes.push_back(fmt::format("mpi: {}", mpi->second));
  if (const auto delay = run.environment.find("test_delay"); delay != run.environment.end())
    notes.push_back(
        fmt::format("warning: no real figures: a test made a rank slower (HBENCH_TEST_DELAY={})", delay->second));
  return notes;
}

TableContext context_of(const CollectiveAnswer& answer) {
  if (answer.options.request.simulates())
    return {.machine = {},
            .comparison = answer.plan.comparison,
            .notes = curve_notes(answer.plan.simulated, answer.clusters)};
  const auto& facts = answer.run.environment;
  const std::string cores =
      fmt::format("{} core{} of {}", facts.at("cores"), facts.at("cores") == "1" ? "" : "s", facts.at("cpu"));
  return {.machine = facts.contains("gpu_uuid") ? facts.at("gpu") + " and " + cores : cores,
          .comparison = answer.plan.comparison,
          .launches = answer.options.launches,
          .link = answer.options.link,
          .notes = notes_of(answer.run, answer.options.request.peers)};
}

/// The worst: a lost rank before wrong data, before what could not be done at all.
ExitCode verdict(const std::vector<CaseResult>& results) {
  ExitCode worst = ExitCode::good;
  bool any = false;
  for (const CaseResult& result : results) {
    any = any || result.status == CaseStatus::done;
    if (result.status != CaseStatus::failed) continue;
    const auto code = static_cast<ExitCode>(result.exit_code);
    if (code != ExitCode::usage) worst = std::max(worst, code);
  }
  return worst == ExitCode::good && !any ? ExitCode::usage : worst;
}

/// Prints or writes the results as they were asked for, and returns the exit code that they mean. After Ctrl-C
/// these are the results of the cases that have ended; without any it prints nothing.
ExitCode publish(const CollectiveAnswer& answer, std::vector<CaseResult> results) {
  if (interrupted()) {
    std::erase_if(results, [](const CaseResult& result) {
      return result.status != CaseStatus::failed && result.samples.empty();
    });
    if (results.empty()) return ExitCode::interrupted;
  }
  const std::vector<CollectiveRow> rows = collective_rows(results);
  answer.options.output.deliver(
      collective_document(rows, context_of(answer)),
      [&] { return collective_json(rows, answer.plan.refused, answer.run, answer.options.link); },
      [&] { return collective_csv(rows); });
  return verdict(results);
}

/// Returns a line for each case, what is left out, and how long all of it takes.
std::string plan_in_words(const CollectivePlan& plan, double seconds) {
  std::string text;
  for (const ProcessSet& set : plan.sets) {
    text += fmt::format("{} rank{} {}\n", set.ranks, set.ranks == 1 ? "" : "s",
                        set.threads           ? "as threads of one process"
                        : set.program.empty() ? "under mpirun"
                                              : "under mpirun, with " + set.program);
    for (const LoopCase& each : set.cases)
      text += fmt::format("{:>14} B  {} {} {}, {}{}\n", each.asked.collective.bytes, each.asked.collective.name,
                          each.asked.collective.data_type, each.asked.collective.operation, candidate_label(each.asked),
                          each.tensors.size() > 1 ? fmt::format(", {} buffers", each.tensors.size()) : "");
  }
  for (const Case& asked : plan.simulated)
    text += fmt::format("{:>14} B  {} {} {}, {} ranks, {}\n", asked.collective.bytes, asked.collective.name,
                        asked.collective.data_type, asked.collective.operation, asked.gpus, candidate_label(asked));
  for (const Refusal& refusal : plan.refused) text += fmt::format("left out: {}: {}\n", refusal.what, refusal.why);
  text += fmt::format("{} cases, about {:.0f} s\n", plan.cases + std::ssize(plan.simulated), seconds);
  return text;
}

/// One run from plan to tables.
class CollectiveBench {
 public:
  CollectiveBench(const Call& call, CollectiveOptions options, const StartedRanks& started)
      : options_(std::move(options)), started_(started) {
    const CollectiveRequest& request = options_.request;
    std::vector<std::int64_t> tensors;
    if (!request.workload.empty())
      tensors = tensors_of(load_data().traces.load(request.workload).timeline, request.fusion, request.type);
    refuse_for_started(options_, started_);
    setup_ = request.simulates() ? look_for_clusters(request) : look_for_programs(options_);
    setup_.machine.fixed_ranks = started_.ranks;
    plan_ = make_collective_plan(request, setup_.machine, tensors);
    options_.loop.out_of_place = !plan_.comparison;
    run_.command = call.command;
  }

  ExitCode run() {
    if (started_.rank == 0) options_.output.check();
    if (options_.dry_run)
      return started_.rank == 0 ? fmt::print("{}", plan_in_words(plan_, seconds())) : void(), ExitCode::good;
    describe_run();
    if (!options_.database.empty() && started_.rank == 0) {
      store_.emplace(options_.database);
      run_id_ = store_->begin_run(run_);
    }
    if (started_.ranks == 0) catch_interrupts();
    std::vector<CaseResult> results = measure();
    if (started_.rank > 0) return ExitCode::good;
    const ExitCode code = publish({options_, plan_, run_, setup_.machine.clusters}, std::move(results));
    keeping_.finish();
    if (!interrupted()) return code;
    inform("hbench: interrupted{}\n",
           store_ ? fmt::format("; every finished case is in {}", options_.database.string()) : "");
    return ExitCode::interrupted;
  }

 private:
  /// Who answers, and on what machine: its libraries are asked, which takes half a second.
  void describe_run() {
    run_ = {run_.command, HBENCH_VERSION, now_utc(), {}, options_.labels};
    if (options_.request.simulates()) return;
    run_.environment = environment_facts(std::ranges::any_of(options_.request.executors, works_on_gpu));
    for (ProcessSet& set : plan_.sets)
      for (LoopCase& each : set.cases) place_on_this_machine(each.asked, run_);
  }

  double seconds() const { return options_.launches * launch_seconds(plan_, options_.loop); }

  /// Simulates, works as one of the ranks that a launcher has started (rank 0 reports), or starts ranks.
  std::vector<CaseResult> measure() {
    const bool simulates = options_.request.simulates(), first = started_.rank == 0;
    Progress progress(simulates ? static_cast<double>(plan_.simulated.size()) : seconds(),
                      first ? options_.verbosity : Verbosity::quiet);
    if (first)
      for (const Refusal& refusal : plan_.refused)
        progress.note(fmt::format("left out: {}: {}", refusal.what, refusal.why), true);
    const double share = simulates ? 1 : plan_.cases > 0 ? seconds() / plan_.cases : 0;
    std::string last;
    const auto done = [&](const CaseResult& result) {
      if (store_) keeping_.keep([&] { store_->append(run_id_, result); });
      // Of launches a line for each size, not for each candidate.
      std::string size = fmt::format("{} B on {} ranks", result.asked.collective.bytes, result.asked.gpus);
      progress.done(share, size == last || simulates || started_.ranks > 0 ? "" : size);
      last = std::move(size);
    };
    if (simulates) return simulate_collectives(plan_.simulated, setup_.machine.clusters, interrupted, done);
    if (started_.ranks > 0) return run_as_started(plan_, options_.loop, started_, done);
    RunOptions run = setup_.run;
    run.loop = options_.loop;
    run.launches = options_.launches;
    return run_collectives(plan_, run, {.doing = [&](const std::string& what) { progress.doing(what); }, .done = done});
  }

  CollectiveOptions options_;
  StartedRanks started_;
  CollectiveSetup setup_;
  CollectivePlan plan_;
  Run run_;
  std::optional<Store> store_;
  Keeping keeping_;
  std::int64_t run_id_ = 0;
};

ExitCode run_collective(const Call& call) {
  const StartedRanks started = find_started_ranks();
  try {
    auto options = parse_collective_options(call);
    return options ? CollectiveBench(call, std::move(*options), started).run() : ExitCode::good;
  } catch (const Error& error) {
    // What all ranks find wrong, one says.
    if (started.rank > 0 && error.code() == ExitCode::usage) return error.code();
    throw;
  }
}

}  // namespace

extern const Verb kCollective;
constinit const Verb kCollective{
    .name = "collective",
    .summary = "time collectives over message sizes, beside the libraries' own",
    .place = 3,
    .libraries = [](const Call&) { return find_started_ranks().ranks > 0 ? Libraries::of_ranks : Libraries::none; },
    .run = run_collective,
};

}  // namespace hbench

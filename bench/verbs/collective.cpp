#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/prediction/simulated_collective.hpp"
#include "analysis/records/fingerprint.hpp"
#include "analysis/store/store.hpp"
#include "bench/collective/machine.hpp"
#include "bench/collective/run.hpp"
#include "bench/collective/started.hpp"
#include "bench/collective/tensors.hpp"
#include "bench/doctor/available_memory.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/output_file.hpp"
#include "bench/verbs/collective_answer.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {
namespace {

/// One run from plan to tables.
class CollectiveBench {
 public:
  CollectiveBench(const Call& call, CollectiveOptions options, const StartedRanks& started)
      : options_(std::move(options)), started_(started) {
    const CollectiveRequest& request = options_.request;
    std::vector<std::int64_t> tensors;
    if (!request.workload.empty())
      tensors = tensors_of(load_data().traces.load(request.workload).timeline, request.fusion, request.type);
    if (request.simulates())
      look_for_clusters();
    else
      setup_ = look_for_programs(options_);
    setup_.machine.fixed_ranks = started_.ranks;
    if (started_.ranks > 0 && options_.launches > 1)
      throw Error(ExitCode::usage, "--launches starts ranks afresh, and a launcher has started these",
                  "run hbench collective without the launcher; it starts its ranks itself");
    plan_ = make_collective_plan(request, setup_.machine, tensors);
    options_.loop.out_of_place = !plan_.comparison;
    run_.command = call.command;
  }

  ExitCode run() {
    if (!options_.output_file.empty() && started_.rank == 0) check_writable(options_.output_file, "--output-file");
    if (options_.dry_run)
      return started_.rank == 0 ? fmt::print("{}", plan_in_words(plan_, seconds())) : void(), ExitCode::good;
    describe_run();
    if (started_.ranks > 0) return run_here();
    open_store();
    catch_interrupts();
    std::vector<CaseResult> results = options_.request.simulates() ? simulate() : run_there();
    if (!interrupted()) return publish(answer(), results);
    std::erase_if(results, [](const CaseResult& result) { return !has_ended(result); });
    if (!results.empty()) publish(answer(), results);
    return report_interruption();
  }

 private:
  /// Nothing is measured, so neither launchers nor libraries are looked for.
  void look_for_clusters() {
    if (started_.ranks > 0)
      throw Error(ExitCode::usage, "a launcher has started these ranks, and --profile simulates them",
                  "run hbench collective without the launcher");
    const Data data = load_data();
    for (const std::string& name : options_.request.profiles)
      setup_.machine.clusters.push_back(data.profiles.load(name));
    setup_.machine.memory = available_memory();
  }

  /// Who answers, and on what machine: its libraries are asked, which takes half a second.
  void describe_run() {
    if (options_.request.simulates()) {
      run_ = {run_.command, HBENCH_VERSION, now_utc(), {}, options_.labels};
      return;
    }
    run_ = {run_.command, HBENCH_VERSION, now_utc(),
            environment_facts(std::ranges::any_of(options_.request.executors, works_on_gpu)), options_.labels};
    for (ProcessSet& set : plan_.sets)
      for (LoopCase& each : set.cases) place_on_this_machine(each.asked, run_);
  }

  static bool has_ended(const CaseResult& result) {
    return result.status == CaseStatus::failed || !result.samples.empty();
  }

  CollectiveAnswer answer() const { return {options_, plan_, run_, setup_.machine.clusters}; }

  double seconds() const { return options_.launches * launch_seconds(plan_, options_.loop); }

  void note_refusals(Progress& progress) const {
    for (const Refusal& refusal : plan_.refused)
      progress.note(fmt::format("left out: {}: {}", refusal.what, refusal.why));
  }

  void open_store() {
    if (options_.database.empty()) return;
    store_.emplace(options_.database);
    run_id_ = store_->begin_run(run_);
  }

  std::vector<CaseResult> run_there() {
    Progress progress(seconds(), options_.verbosity);
    note_refusals(progress);
    RunOptions run = setup_.run;
    run.loop = options_.loop;
    run.launches = options_.launches;
    const double share = plan_.cases > 0 ? seconds() / plan_.cases : 0;
    std::string last;
    return run_collectives(plan_, run,
                           {.doing = [&](const std::string& what) { progress.doing(what); },
                            .done =
                                [&](const CaseResult& result) {
                                  if (store_) store_->append(run_id_, result);
                                  // A line for each size, not for each candidate.
                                  std::string size =
                                      fmt::format("{} B on {} ranks", result.asked.collective.bytes, result.asked.gpus);
                                  progress.done(share, size == last ? "" : size);
                                  last = std::move(size);
                                }});
  }

  std::vector<CaseResult> simulate() {
    Progress progress(static_cast<double>(plan_.simulated.size()), options_.verbosity);
    note_refusals(progress);
    return simulate_collectives(plan_.simulated, setup_.machine.clusters, interrupted, [&](const CaseResult& result) {
      if (store_) store_->append(run_id_, result);
      progress.done(1);
    });
  }

  /// A launcher has started this program itself: all ranks work, rank 0 speaks.
  ExitCode run_here() {
    const bool first = started_.rank == 0;
    if (first) open_store();
    Progress progress(seconds(), first ? options_.verbosity : Verbosity::quiet);
    if (first) note_refusals(progress);
    std::vector<CaseResult> results = run_as_started(plan_, options_.loop, started_, [&](const CaseResult& result) {
      if (store_) store_->append(run_id_, result);
      progress.done(seconds() / plan_.cases);
    });
    return first ? publish(answer(), results) : ExitCode::good;
  }

  ExitCode report_interruption() const {
    fmt::print(stderr, "hbench: interrupted{}\n",
               store_ ? fmt::format("; every finished case is in {}", options_.database.string()) : "");
    return ExitCode::interrupted;
  }

  CollectiveOptions options_;
  StartedRanks started_;
  CollectiveSetup setup_;
  CollectivePlan plan_;
  Run run_;
  std::optional<Store> store_;
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
    .needs_libraries = [](const Call&) { return find_started_ranks().ranks > 0; },
    .run = run_collective,
};

}  // namespace hbench

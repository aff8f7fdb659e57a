// `hbench recover`: trains, loses ranks on purpose, and says what it takes to go on.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/recover/recovery.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/common_options.hpp"
#include "bench/command/program.hpp"
#include "bench/hosts/preflight.hpp"
#include "bench/launch/process.hpp"
#include "bench/launch/start_ranks.hpp"
#include "bench/output/console.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/feature.hpp"
#include "bench/sweep/measured_cases.hpp"
#include "bench/verbs/sweep_preparation.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/units.hpp"
#include "reports/recover/recovery.hpp"

namespace hbench {
namespace {

/// A job that loses its ranks again and again is given up, and sooner where it comes to no step.
constexpr std::size_t kMostLosses = 64;
constexpr int kMostLivesWithoutStep = 3;

struct RecoverOptions {
  std::filesystem::path folder;  ///< of checkpoints; empty: one that goes with the program
  int every = 20;
  std::vector<std::string> policies{"restart", "shrink"};
  std::string inject;
};

/// One training with all that happens to it.
class Job {
 public:
  Job(Case asked, MeasureOptions options, std::vector<PlantedFault> faults, std::optional<CheckpointRequest> checkpoint)
      : asked_(std::move(asked)),
        options_(std::move(options)),
        faults_(std::move(faults)),
        checkpoint_(std::move(checkpoint)),
        cycle_(method_of(asked_).plan(true).cycle()) {}

  /// \throws Error where the job ends for another reason than a lost rank.
  RecoveryRun run(std::optional<OnFailure> policy) {
    run_.policy = policy;
    int without_step = 0;
    while (!interrupted()) {
      const JobOutcome end = live();
      without_step = done_ > 0 ? 0 : without_step + 1;
      if (interrupted() || end.code == ExitCode::good) break;
      if (end.code != ExitCode::lost_rank) throw Error(end.code, end.reason);
      run_.failure = end.reason;
      if (!policy || run_.losses.size() == kMostLosses || without_step == kMostLivesWithoutStep) break;
      run_.losses.push_back(
          {.reason = end.reason, .at = last_at(), .done = done_, .resumed = 0, .ranks = 0, .seconds = {}});
      if (*policy == OnFailure::stop || (*policy == OnFailure::shrink && !shrink(end.lost_rank))) break;
      run_.failure.clear();
      run_.losses.back().ranks = asked_.workers();
      checkpoint_->resume = true;
      std::erase_if(faults_, [&](const PlantedFault& fault) { return fault.kills() && fault.from <= done_; });
    }
    return run_;
  }

 private:
  static MethodChoice method_of(const Case& asked) { return planned(asked).strategy.method; }
  double last_at() const { return run_.seen.empty() ? 0 : run_.seen.back().at; }

  /// From the start of all ranks to their end.
  JobOutcome live() {
    LaunchPlan plan = plan_launch(asked_, options_, 0);
    if (!plan.refusal.empty()) return {ExitCode::usage, plan.refusal};
    plan.order.checkpoint = checkpoint_;
    plan.order.faults = faults_;
    plan.start.worker = worker_command(options_, plan.order);
    RankReports reports;
    int ended = 0;
    done_ = 0;
    return start_ranks(plan.start, options_.host, reports, [&](const WorkerLine& line) {
      if (const auto* step = std::get_if<StepLine>(&line)) note(*step, reports);
      if (const auto* checkpoint = std::get_if<CheckpointLine>(&line)) note(*checkpoint);
      if (const auto* done = std::get_if<DoneLine>(&line)) {
        run_.digest = done->digest;
        reports.complete = ++ended == plan.ranks;
      }
    });
  }

  void note(const StepLine& step, RankReports& reports) {
    reports.last_step[step.rank] = step.iteration;
    const int steps = (step.iteration + 1) * cycle_;
    if (steps <= done_) return;
    const double at = seconds_since(begin_);
    if (!run_.losses.empty() && !run_.losses.back().seconds) {
      Loss& loss = run_.losses.back();
      loss.seconds = at - loss.at;
      loss.resumed = steps - cycle_;
    }
    done_ = steps;
    run_.seen.push_back({at, steps, step.seconds});
  }

  void note(const CheckpointLine& line) {
    const CheckpointReport& report = line.report;
    if (report.what == CheckpointReport::What::damaged) ++run_.damaged;
    if (report.what == CheckpointReport::What::written)
      run_.checkpoints.push_back({static_cast<double>(report.bytes), report.stall.value, report.writing.value});
  }

  /// Leaves out the lost rank, or of several hosts the lost one. Returns whether some are left.
  bool shrink(Rank lost) {
    Allocation& hosts = options_.allocation;
    if (hosts.is_local()) {
      --asked_.gpus;
    } else {
      std::vector<std::string> gone;
      for (const Finding& each : lost_hosts(hosts, options_.program, options_.network, options_.host))
        gone.push_back(each.what);
      if (gone.empty() && lost >= 0)
        gone.push_back(plan_launch(asked_, options_, 0).host_of_rank[static_cast<std::size_t>(lost)]);
      std::erase_if(hosts.hosts, [&](const AllocatedHost& host) { return std::ranges::count(gone, host.name) > 0; });
      const int nodes = std::min(asked_.nodes, static_cast<int>(hosts.hosts.size()));
      asked_.gpus = gone.empty() ? 0 : asked_.gpus / asked_.nodes * nodes;
      asked_.nodes = nodes;
    }
    if (asked_.gpus < 1) {
      run_.failure += "; nobody is left to go on";
      return false;
    }
    PlannedCase job = planned(asked_);
    if (job.strategy.servers > 0) {
      job.strategy.set_servers(job.strategy.servers, asked_.workers());
      asked_ = planned(asked_, job.strategy).asked;
    }
    return true;
  }

  Case asked_;
  MeasureOptions options_;
  std::vector<PlantedFault> faults_;
  std::optional<CheckpointRequest> checkpoint_;
  int cycle_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  int done_ = 0;  ///< steps of this life
  RecoveryRun run_;
};

/// Those of the sweep that plans it.
std::vector<std::string> recovery_arguments(std::vector<std::string> flags) {
  add_usual(
      flags,
      {{"--gpus", "2"}, {"--algorithm", "ring"}, {"--compressor", "none"}, {"--steps", "60"}, {"--fusion", "byteps"}});
  flags.insert(flags.end(), {"--evidence", "measured", "--no-calibrate"});
  return flags;
}

/// The one case of ranks that meet. \throws Error (usage) for none or several, and for one without checkpoints.
Case only_case(const SweepPreparation& sweep) {
  std::vector<Case> cases;
  for (const PlannedCase& each : sweep.plan.cases)
    if (each.asked.is_timed() && each.strategy.communicates()) cases.push_back(each.asked);
  if (cases.size() != 1)
    throw Error(ExitCode::usage,
                cases.empty() ? fmt::format("there is nothing to train: {}", reasons(sweep.plan.refused))
                              : fmt::format("one training at a time is recovered, and {} are asked for", cases.size()),
                "give one number to --gpus, and one --method, --algorithm and --compressor");
  const PlannedCase job = planned(cases.front());
  const std::string refusal = job.asked.strategy.of_framework()
                                  ? "a framework's training has no checkpoints of hbench's"
                                  : refuse_checkpoints(job.strategy, job.world(workers_per_node(job.asked)));
  if (!refusal.empty()) throw Error(ExitCode::usage, refusal, "hbench list methods has others");
  return cases.front();
}

/// Returns the faults that are asked for, or else the usual one: the last rank is lost midway, and half of what is
/// between two checkpoints is to be done again. \throws Error (usage) for what cannot be.
std::vector<PlantedFault> faults_of(const RecoverOptions& asked, const Case& job, const MeasureOptions& measure) {
  std::vector<PlantedFault> faults = parse_faults(asked.inject, "--inject");
  int steps = measure.warmup_steps + measure.steps, midway = steps / 2;
  if (midway >= asked.every) midway += asked.every / 2 - midway % asked.every;
  if (asked.inject.empty()) faults.push_back({.rank = job.workers() - 1, .from = midway, .until = midway});
  if (job.training.epochs > 0) steps = std::numeric_limits<int>::max();  // data set it themselves
  if (const std::string refusal = refuse_faults(faults, job.workers(), steps); !refusal.empty())
    throw Error(ExitCode::usage, "--inject " + refusal, "or train for more --steps, on more --gpus");
  return faults;
}

/// All trainings, the undisturbed one first; fewer after Ctrl-C.
Recovery recover(const RecoverOptions& asked, const std::vector<OnFailure>& policies,
                 const std::vector<PlantedFault>& faults, const Case& job, const MeasureOptions& measure,
                 Progress& progress) {
  Recovery recovery{.asked = job,
                    .every = asked.every,
                    .repeatable = repeats_bits(planned(job).strategy, job.workers()),
                    .faults = faults,
                    .runs = {}};
  progress.doing("undisturbed");
  recovery.runs.push_back(Job(job, measure, {}, std::nullopt).run(std::nullopt));
  if (const std::string& failure = recovery.undisturbed().failure; !failure.empty())
    throw Error(ExitCode::lost_rank, failure);
  for (const OnFailure policy : policies) {
    if (interrupted()) break;
    progress.doing(to_string(policy));
    const std::filesystem::path folder = std::filesystem::absolute(asked.folder) / to_string(policy);
    const CheckpointRequest checkpoint{.folder = folder, .every = asked.every};
    recovery.runs.push_back(Job(job, measure, faults, checkpoint).run(policy));
  }
  return recovery;
}

/// Wrong data where as many ranks end with other parameters; a lost rank where nobody has gone on who was to.
ExitCode exit_code_of(const Recovery& recovery) {
  const auto wrong = [&](const RecoveryRun& run) { return recovery.same_bits(run) == false; };
  if (std::ranges::any_of(recovery.runs, wrong)) return ExitCode::wrong_data;
  const auto lost = [](const RecoveryRun& run) { return run.policy != OnFailure::stop && !run.failure.empty(); };
  return std::ranges::any_of(recovery.runs, lost) ? ExitCode::lost_rank : ExitCode::good;
}

void add_options(Arguments& app, RecoverOptions& asked) {
  app.footer(
      "Flags of hbench sweep go along: --gpus N, --workload, --method, --compressor, --optimizer, --steps, -H ...\n"
      "Examples:\n  hbench recover --gpus 2 --steps 40 --every 10\n"
      "  hbench recover --inject kill:rank=0@step=15,delay:rank=1:20ms@step=20.. --on-failure restart --steps 40");
  app.add_option("--checkpoint", asked.folder, "folder of checkpoints, which stay there; else they go with hbench");
  app.add_option("--every", asked.every, "steps between checkpoints", in_range(1, 1 << 20));
  app.add_list("--on-failure", asked.policies, "stop, restart with as many ranks, or shrink to those that are left");
  app.add_option("--inject", asked.inject,
                 "kill:rank=R@step=S or delay:rank=R:TIME@step=S.., with commas; else the last rank is killed midway");
}

ExitCode run_recover(const Call& call) {
  RecoverOptions asked;
  std::vector<std::string> sweep_flags;
  DocumentOutput output;
  Verbosity verbosity = Verbosity::usual;
  Arguments app(
      "Trains with checkpoints, kills a rank on purpose, and says what going on takes: steps that are done again, "
      "seconds until the next one, and the speed after it.",
      "hbench recover");
  add_options(app, asked);
  app.pass_on(sweep_flags);
  output.add_options(app);
  add_verbosity(app, verbosity);
  if (app.parse(call)) return ExitCode::good;
  output.check();
  std::vector<OnFailure> policies;
  for (const std::string& each : asked.policies) policies.push_back(parse_on_failure(each, "--on-failure"));
  const Call sweep_call{recovery_arguments(std::move(sweep_flags)), call.command};
  SweepOptions options = parse_sweep_options(sweep_call).value();
  options.verbosity = verbosity;
  SweepPreparation sweep = plan_sweep(sweep_call, std::move(options));
  const Case job = only_case(sweep);
  MeasureOptions& measure = sweep.options.measure;
  measure.budget = Seconds(0);
  measure.traced_steps = 0;
  const std::vector<PlantedFault> faults = faults_of(asked, job, measure);
  if (asked.folder.empty() && !measure.allocation.is_local())
    throw Error(ExitCode::usage, "ranks on several hosts need a folder for their checkpoints", "give --checkpoint DIR");
  if (sweep.options.dry_run) {
    fmt::print("{}", plan_in_words(sweep));
    return ExitCode::good;
  }
  catch_interrupts();
  std::optional<ScratchFolder> scratch;
  if (asked.folder.empty()) asked.folder = scratch.emplace().path();
  Progress progress(0, verbosity);
  const Recovery recovery = recover(asked, policies, faults, job, measure, progress);
  progress.clear();
  if (interrupted()) return ExitCode::interrupted;
  Document answer = recovery_document(recovery);
  if (output.for_terminal()) answer.title.clear();  // the first line answers
  output.deliver(answer, [&] { return recovery_json(recovery); });
  return exit_code_of(recovery);
}

Recovery described_recovery() {
  return {.asked = {}, .runs = {RecoveryRun{.policy = {}, .seen = {}, .losses = {Loss()}}}};
}

constexpr Verb kRecover{.name = "recover",
                        .summary = "kill ranks of a training on purpose: what it takes to go on",
                        .place = 21,
                        .starts_ranks = true,
                        .run = run_recover};
constexpr std::array kRecoverVerbs{&kRecover};
constexpr std::array kRecoverSchemas{
    PublishedSchema{"recover-1", [] { return recovery_json(described_recovery(), Form::schema); }},
};

}  // namespace

extern const Feature kRecoverFeature;
constinit const Feature kRecoverFeature{.verbs = kRecoverVerbs, .schemas = kRecoverSchemas};

}  // namespace hbench

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "analysis/records/words.hpp"
#include "analysis/store/uuid.hpp"
#include "analysis/track/check.hpp"
#include "analysis/track/history.hpp"
#include "bench/command/common_options.hpp"
#include "bench/command/program.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/keeping.hpp"
#include "bench/track/bisect.hpp"
#include "bench/track/git.hpp"
#include "bench/track/measured_command.hpp"
#include "bench/track/pair.hpp"
#include "bench/track/project.hpp"
#include "bench/track/track.hpp"
#include "bench/track/tracked_command.hpp"
#include "bench/track/tracked_run.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"
#include "reports/track/history.hpp"

namespace hbench {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  hbench track bisect --db nightly.db\n"
    "  hbench track bisect --db nightly.db --case step_ms --build make --measure './my_benchmark --json'\n"
    "  hbench track bisect --db nightly.db --case step_ms --build make --measure './my_benchmark --json' --run\n"
    "Without --run it prints the commands. With it, each commit that git bisect chooses is built and measured in turns "
    "with the good one, as hbench track pair does; git bisect reset ends it.\n"
    "Exit code: 0 where the first bad commit is found; 11 where it is not.";

/// Adds `--metric`.
void add_metric(Arguments& app, std::string& metric) {
  app.add_option("--metric", metric, "of what the commands print, only cases with this in their names");
}

/// Where the good commit is checked out by what is printed: beside the repository, or beside this folder.
std::string printed_tree(const BisectRange& range) {
  const GitAnswer top = git({"rev-parse", "--show-toplevel"});
  return fmt::format("{}-{}", top.good() ? top.out : "../good", short_commit(range.good));
}

/// What is not given is that of the `[[command]]` which the case is of.
void take_commands(BisectRequest& request, const std::optional<Project>& project) {
  const auto command = project ? command_of(*project, request.range.name) : std::nullopt;
  if (command && request.measure.text.empty()) {
    request.measure.text = command->run.text;
    if (request.pattern.expression.empty()) request.pattern = command->pattern;
    // A command without one needs none: it is a script, or builds itself.
    if (request.build.text.empty()) request.build.text = command->build.text.empty() ? "true" : command->build.text;
  }
  request.pattern.apply(request.range.name, request.measure);
}

ExitCode drive(const BisectRequest& request, const DocumentOutput& output, Verbosity verbosity) {
  for (const auto* command : {&request.build, &request.measure})
    if (command->text.empty())
      throw Error(ExitCode::usage, fmt::format("--run needs {}", command->name),
                  "give it, or add it to a [[command]] of hbench.toml");
  catch_interrupts();
  try {
    Progress progress(0, verbosity);
    const BisectReport report = bisect(request, [&](const std::string& what) { progress.note(what); });
    output.deliver(bisect_document(report), [&] { return bisect_json(report); });
    if (!interrupted()) return report.first_bad.size() == 1 ? ExitCode::good : ExitCode::inconclusive;
  } catch (const Error&) {
    if (!interrupted()) throw;  // what was cut off has failed for that
  }
  return ExitCode::interrupted;
}

ExitCode run_bisect(const Call& call) {
  std::filesystem::path file, database;
  std::string label;
  HistoryRequest history_request;
  BisectRequest request;
  DocumentOutput output;
  bool drives = false;
  Verbosity verbosity = Verbosity::usual;
  Arguments app(
      "Finds the commit that has made a case slower: takes the newest change that hbench track history dates, or that "
      "hbench track check has found, and searches the commits between its two runs.",
      "hbench track bisect");
  app.footer(kFooter);
  add_project_options(app, file, database);
  add_history_options(app, history_request.match, label);
  add_build(app, request.build.text, "a shell's command that builds a commit in this folder (default: the file's)");
  app.add_option("--measure", request.measure.text,
                 "a shell's command that prints what hbench track pair reads (default: the file's)");
  request.pattern.add_options(app);
  add_metric(app, request.metric);
  add_launches(app, request.launches, "pairs of launches that decide about a commit");
  add_timeout(app, request.timeout, "stop a launch that takes longer, and a build that prints nothing for so long",
              "600 s");
  app.add_flag("--run", drives, "do it, in the repository of this folder");
  output.add_options(app);
  add_verbosity(app, verbosity);
  if (app.parse(call)) return ExitCode::good;
  if (!drives && app.count("--json") > 0)
    throw Error(ExitCode::usage, "--json needs --run", "without --run it prints commands, and measures nothing");
  const std::optional<Project> project = find_project(file);
  history_request.labels = parse_baseline(baseline_of(project, label));
  if (project) history_request.rule.least_effect = project->all.rule.least_effect;
  output.check();
  const Store store(database_of(project, database), Store::Mode::read_only);
  std::vector<CaseHistory> cases = history(store, history_request);
  add_regressions(cases, store);
  request.range = bisect_range(cases);
  take_commands(request, project);
  if (drives) return drive(request, output, verbosity);
  if (request.build.text.empty() || request.measure.text.empty())
    fmt::print("# your commands take the place of BUILD and MEASURE; --build and --measure put them there\n");
  if (request.build.text.empty()) request.build.text = "BUILD";
  if (request.measure.text.empty()) request.measure.text = "MEASURE";
  fmt::print("# {}: {} between {} and {}\n{}", one_line(request.range.name), signed_percent(request.range.shift),
             request.range.good, request.range.bad, bisect_commands(request, printed_tree(request.range)));
  return ExitCode::good;
}

struct PairOptions {
  PairRequest request;
  Seconds timeout{0};
  std::filesystem::path database;
  std::map<std::string, std::string> labels;
  Verbosity verbosity = Verbosity::usual;
};

constexpr const char* kPairFooter =
    "Examples:\n"
    "  hbench track pair --base './my_benchmark --json' --head 'THREADS=2 ./my_benchmark --json'\n"
    "  hbench track pair --base 'NCCL_ALGO=Ring ./all_reduce_perf -g 8' --head 'NCCL_ALGO=Tree ./all_reduce_perf -g "
    "8'\n"
    "  hbench track pair --base './my_benchmark' --head './my_benchmark' --metric step_ms --db pairs.db\n"
    "  hbench track pair --base old.toml --head new.toml  # experiment files, as hbench track run takes them\n"
    "What either side prints is read as hbench import reads it: nccl-tests' table, Google Benchmark's JSON, or a last "
    "line such as {\"step_ms\": 12.3}.\n"
    "Exit code: 0 pass, new or improved; 10 regressed; 11 slower, but by too few pairs to be sure, and with --fail-on "
    "whatever is inconclusive; 12 where no case is on both sides; before these 4 or 5 where a side has failed.";

/// Pairs as they are measured: on the screen and in the database.
class PairBench {
 public:
  PairBench(const PairOptions& options, const Run& run, const std::string& pair)
      : options_(options), store_(options.database, run_of_side(run, "base", pair), run_of_side(run, "head", pair)) {}

  TrackReport run() {
    progress_.emplace(0, options_.verbosity);
    PairHooks hooks{.launch = [&](const MeasuredCommand& command) { return launch(command); },
                    .begins = [&](std::size_t cases, const PairRule& rule, int most) { begin(cases, rule, most); },
                    .keep =
                        [&](int number, const PairLaunches& pair) {
                          keeping_.keep([&] { store_.keep(number, pair); });
                          pairs_ = number + 1;
                          progress_->done(pair_seconds_);
                        },
                    .note = [&](const std::string& what) { progress_->note(what); },
                    .interrupted = interrupted};
    TrackReport report = measure_pairs(options_.request, hooks);
    progress_.reset();
    report.head = store_.head();
    report.runs = {store_.base()};
    report.request.baseline = report.runs.front().labels;
    return report;
  }
  /// After the report is shown. \throws Error (environment) where a pair was not stored.
  void finish() const { keeping_.finish(); }

 private:
  CommandLaunch launch(const MeasuredCommand& command) {
    const auto began = std::chrono::steady_clock::now();
    progress_->doing(
        fmt::format("{} {}", command.name, pairs_ < 0 ? "to warm up" : fmt::format("of pair {}", pairs_ + 1)));
    CommandLaunch launch = launch_command(command, options_.timeout);
    seconds_ += seconds_since(began);
    return launch;
  }

  /// The launches that warmed up tell how long pairs take.
  void begin(std::size_t cases, const PairRule& rule, int most) {
    pairs_ = 0;
    pair_seconds_ = seconds_;
    progress_.emplace(rule.pairs * pair_seconds_, options_.verbosity);
    progress_->note(fmt::format("{} case{}, {} pairs of launches, about {}; up to {} pairs where something is slower",
                                cases, cases == 1 ? "" : "s", rule.pairs, format(Seconds(rule.pairs * pair_seconds_)),
                                most));
    if (const int fewest = fewest_pairs(cases, rule.level); rule.pairs < fewest)
      progress_->note(fmt::format("too few pairs to distinguish a change from chance: it takes --launches {}", fewest));
  }

  const PairOptions& options_;
  PairStore store_;
  Keeping keeping_;
  std::optional<Progress> progress_;
  int pairs_ = -1;
  double seconds_ = 0, pair_seconds_ = 0;
};

ExitCode run_pair(const Call& call) {
  PairOptions options;
  PairRequest& request = options.request;
  TrackOutput output;
  PatternOptions pattern;
  Arguments app(
      "Measures two commands in turns, launch by launch, and says which of the cases that they print are slower with "
      "the second one. Each launch is held to its neighbour, so that neither slow drift of the machine nor other "
      "hardware matters.",
      "hbench track pair");
  app.footer(kPairFooter);
  app.add_option("--base", request.base.text, "a shell's command, or an experiment file: what the head is held to");
  app.add_option("--head", request.head.text, "a shell's command, or an experiment file: what is judged");
  pattern.add_options(app);
  add_launches(app, request.launches,
               "pairs that decide (default: as many as the cases need, 12 for one and 16 for 20)");
  std::optional<double> effect;
  bool unconfirmed = false;
  add_least_effect(app, effect, "3%");
  app.add_option("--max-launches", request.most_launches,
                 "pairs, with those that have to confirm a change (default: twice those that decide)",
                 in_range(1, 2000));
  add_no_confirm(app, unconfirmed);
  add_metric(app, request.metric);
  add_timeout(app, options.timeout, "stop a launch that takes longer", "600 s");
  add_database(app, options.database, "also store both sides in this database, as two runs");
  add_labels(app, options.labels);
  output.add_options(app);
  add_verbosity(app, options.verbosity);
  if (app.parse(call)) return ExitCode::good;
  request.rule.least_effect = effect.value_or(request.rule.least_effect);
  request.rule.confirm = !unconfirmed;
  check_request(request);
  for (MeasuredCommand* command : {&request.base, &request.head}) pattern.apply("number", *command);
  request.fail_on_inconclusive = output.fails_on_inconclusive().value_or(false);
  output.check();
  catch_interrupts();
  Run run{.command = call.command, .version = HBENCH_VERSION, .started_at = now_utc(), .labels = options.labels};
  if (!options.database.empty()) run.environment = environment_facts(false);
  PairBench bench(options, run, store::random_uuid());
  const TrackReport report = bench.run();
  if (!report.results.empty()) output.deliver(report);
  bench.finish();
  if (!interrupted()) return report.exit_code();
  inform("hbench: interrupted after {} pairs{}\n", report.paired->pairs,
         options.database.empty() ? "" : fmt::format("; they are in {}", options.database.string()));
  return ExitCode::interrupted;
}

}  // namespace

constinit const Action kTrackBisect{"bisect", "finds the commit that has made a case slower", run_bisect};

constinit const Action kTrackPair{"pair", "measures two commands in turns, and judges one by the other", run_pair};

}  // namespace hbench

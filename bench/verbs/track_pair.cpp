#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "analysis/store/uuid.hpp"
#include "bench/command/inform.hpp"
#include "bench/command/labels.hpp"
#include "bench/command/values.hpp"
#include "bench/command/verbosity.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/output_file.hpp"
#include "bench/track/pair.hpp"
#include "bench/track/pair_store.hpp"
#include "bench/track/pattern_options.hpp"
#include "bench/track/project.hpp"
#include "bench/track/track_output.hpp"
#include "bench/verbs/track.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

struct PairOptions {
  PairRequest request;
  Seconds timeout{0};
  std::filesystem::path database;
  std::map<std::string, std::string> labels;
  Verbosity verbosity = Verbosity::usual;
};

constexpr const char* kFooter =
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
                          store_.keep(number, pair);
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

 private:
  CommandLaunch launch(const MeasuredCommand& command) {
    const auto began = std::chrono::steady_clock::now();
    progress_->doing(
        fmt::format("{} {}", command.name, pairs_ < 0 ? "to warm up" : fmt::format("of pair {}", pairs_ + 1)));
    CommandLaunch launch = launch_command(command, options_.timeout);
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
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
  app.footer(kFooter);
  app.add_option("--base", request.base.text, "a shell's command, or an experiment file: what the head is held to");
  app.add_option("--head", request.head.text, "a shell's command, or an experiment file: what is judged");
  pattern.add_options(app);
  app.add_option("--launches", request.launches,
                 "pairs that decide (default: as many as the cases need, 12 for one and 16 for 20)", in_range(1, 1000));
  app.add_option("--max-launches", request.most_launches,
                 "pairs in all, where further ones have to confirm a change (default: twice as many)",
                 in_range(1, 2000));
  app.add_parsed("--least-effect", request.rule.least_effect, parse_share,
                 "the least change that counts (default: 3%)");
  app.add_option("--metric", request.metric, "only cases with this in their names");
  app.add_parsed("--timeout", options.timeout, time_flag, "stop a launch that takes longer", "600 s");
  app.add_flag_callback(
      "--no-confirm", [&] { request.rule.confirm = false; },
      "say regressed or improved without further pairs that show it again");
  app.add_option("--db", options.database, "also store both sides in this database, as two runs");
  add_labels(app, options.labels);
  output.add_options(app);
  add_verbosity(app, options.verbosity);
  if (app.parse(call)) return ExitCode::good;
  check_request(request);
  request.base.pattern = request.head.pattern = pattern.pattern("number");
  request.fail_on_inconclusive = output.fails_on_inconclusive().value_or(false);
  output.check();
  catch_interrupts();
  Run run{.command = call.command, .version = HBENCH_VERSION, .started_at = now_utc(), .labels = options.labels};
  if (!options.database.empty()) run.environment = environment_facts(false);
  const TrackReport report = PairBench(options, run, store::random_uuid()).run();
  if (!report.results.empty()) output.deliver(report);
  if (!interrupted()) return report.exit_code();
  inform("hbench: interrupted after {} pairs{}\n", report.paired->pairs,
         options.database.empty() ? "" : fmt::format("; they are in {}", options.database.string()));
  return ExitCode::interrupted;
}

}  // namespace

constinit const Action kTrackPair{"pair", "measures two commands in turns, and judges one by the other", run_pair};

}  // namespace hbench

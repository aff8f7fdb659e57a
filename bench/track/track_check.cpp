#include <fmt/format.h>

#include <algorithm>

#include "analysis/track/check.hpp"
#include "bench/command/common_options.hpp"
#include "bench/command/program.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/document_output.hpp"
#include "bench/track/git.hpp"
#include "bench/track/track.hpp"
#include "bench/track/tracked_run.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// What `hbench track run` was asked for.
struct RunFlags {
  std::filesystem::path file, database;
  std::string gate;
  std::map<std::string, std::string> labels;
  int launches = 0;
  bool dry_run = false, json = false;
  Verbosity verbosity = Verbosity::usual;

  /// Those that a check of the run needs too, with a blank before each.
  std::string in_shell() const {
    std::string words = gate.empty() ? "" : " --gate " + shell_word(gate);
    if (!file.empty()) words += " --file " + shell_word(file.string());
    if (!database.empty()) words += " --db " + shell_word(database.string());
    return words;
  }
};

/// Those of the flags before those of the repository.
std::map<std::string, std::string> labels_of(const RunFlags& flags, const Project& project) {
  std::map<std::string, std::string> labels = flags.labels;
  if (!flags.gate.empty()) labels.emplace("gate", flags.gate);
  const std::map<std::string, std::string> known = repository_labels(project.file.parent_path());
  // Of another commit than that of the repository its branch and its changes say nothing.
  const bool other = labels.contains("commit") && known.contains("commit") && labels["commit"] != known.at("commit");
  if (!other) labels.insert(known.begin(), known.end());
  return labels;
}

ExitCode measure(const Call& call, const RunFlags& flags, const Project& project) {
  if (project.experiments.empty())
    throw Error(ExitCode::usage, fmt::format("{}: it lists no experiment", project.file.string()),
                "add a [[command]], a [[sweep]] or a [[collective]]");
  const Gate& gate = project.gate(flags.gate);
  TrackedRun tracked(project, gate);
  const Launching launching{.count = flags.launches > 0 ? flags.launches : gate.rule.launches};
  const std::filesystem::path database = flags.database.empty() ? project.database : flags.database;
  if (flags.dry_run) {
    if (std::filesystem::exists(database)) {
      const Store store(database, Store::Mode::read_only);
      if (const std::vector<Run> runs = store.runs(); !runs.empty()) tracked.remember(store.of_run(runs.back().id));
    }
    fmt::print("{}{}, {} launches each, about {}\n", tracked.in_words(launching),
               counted(std::ssize(tracked.cases()), "case"), launching.count, tracked.time_in_words(launching));
    return ExitCode::good;
  }
  Run run{
      .command = call.command, .version = HBENCH_VERSION, .started_at = now_utc(), .labels = labels_of(flags, project)};
  tracked.place(run);
  Store store(database);
  catch_interrupts();
  const ExitCode code = tracked.launch(store, run, launching, flags.verbosity);
  const std::int64_t id = run.id;
  if (code == ExitCode::interrupted) {
    const std::string kept = id == 0
                                 ? "nothing was measured"
                                 : fmt::format("run {} of {} has the cases that were measured", id, database.string());
    inform("hbench: interrupted; {}\n", kept);
    return code;
  }
  if (flags.json)
    fmt::print("{}",
               stored_run_json({id, database.string(), tracked.cases().size(), launching.count, run.labels, code}));
  else
    fmt::print("Run {}: {}, {} launches each, in {}\nNext: hbench track check{}\n", id,
               counted(std::ssize(tracked.cases()), "case"), launching.count, one_line(database.string()),
               flags.in_shell());
  return code;
}

ExitCode run_run(const Call& call) {
  RunFlags flags;
  Arguments app("Measures what the project's file lists, and stores it as one labelled run.", "hbench track run");
  app.footer(
      "Examples:\n  hbench track run\n  hbench track run --gate quick --label branch=topic\n"
      "  hbench track run --dry-run\n"
      "The labels branch, commit and dirty are those of the git repository, unless they are given. hbench track init "
      "writes the file.");
  add_project_options(app, flags.file, flags.database, &flags.gate);
  add_labels(app, flags.labels);
  add_launches(app, flags.launches, "of each case (default: the file's)");
  add_dry_run(app, flags.dry_run);
  add_json(app, flags.json);
  add_verbosity(app, flags.verbosity);
  if (app.parse(call)) return ExitCode::good;
  const std::optional<Project> project = find_project(flags.file);
  if (!project)
    throw Error(ExitCode::usage, fmt::format("there is no {} in this folder", kProjectFile),
                "hbench track init writes one; --file names another");
  return measure(call, flags, *project);
}

/// Texts of flags that the project's file may say instead.
struct CheckFlags {
  std::filesystem::path file, database, baseline_database;
  std::string gate;
  std::optional<std::string> baseline;
  std::optional<double> effect;
  int max_launches = 0;
  bool unconfirmed = false;
  Verbosity verbosity = Verbosity::usual;
  TrackOutput output;
};

void add_options(Arguments& app, CheckFlags& flags, TrackRequest& request) {
  add_project_options(app, flags.file, flags.database, &flags.gate);
  app.add_option("--head", request.head, "the run to judge (default: the one stored last)", in_range(1, 1'000'000'000));
  app.add_option("--baseline", flags.baseline,
                 "a branch, a label such as release=2.1, or what hbench track freeze has named: runs with it are the "
                 "baseline (default: the file's, or main)");
  app.add_option("--baseline-db", flags.baseline_database, "another database that has the runs of the baseline");
  add_least_effect(app, flags.effect);
  app.add_option("--max-launches", flags.max_launches,
                 "of a case, with those that have to confirm a change, which are measured where that can be done "
                 "(default: the file's, or twice those that decide)",
                 in_range(1, 2000));
  add_no_confirm(app, flags.unconfirmed);
  flags.output.add_options(app);
  add_verbosity(app, flags.verbosity);
}

/// What is asked, by the flags or else by the file; the baseline's name is looked up in `baselines`.
void understand(const CheckFlags& flags, const std::optional<Project>& project, const Store& baselines,
                TrackRequest& request) {
  if (!flags.gate.empty() && !project)
    throw Error(ExitCode::usage, fmt::format("--gate {}: there is no {} here", flags.gate, kProjectFile),
                "name the file with --file");
  if (project) {
    const Gate& gate = project->gate(flags.gate);
    request.rule = gate.rule;
    request.fail_on_inconclusive = gate.fail_on_inconclusive;
    request.limits = project->limits;
  }
  request.rule.least_effect = flags.effect.value_or(request.rule.least_effect);
  if (flags.max_launches > 0) request.rule.confirming = std::max(0, flags.max_launches - request.rule.launches);
  if (flags.unconfirmed) request.rule.confirming = 0;
  request.fail_on_inconclusive = flags.output.fails_on_inconclusive().value_or(request.fail_on_inconclusive);
  choose_baseline(request, flags.baseline.value_or(project ? project->baseline : "main"), baselines);
}

/// One check: the databases, the request, and the launches that confirm.
class Check {
 public:
  Check(const CheckFlags& flags, TrackRequest request)
      : flags_(flags),
        project_(find_project(flags.file)),
        database_(open_to_keep(database_of(project_, flags.database), read_only_)),
        request_(std::move(request)) {
    if (!flags_.baseline_database.empty()) baselines_.emplace(flags_.baseline_database, Store::Mode::read_only);
    understand(flags_, project_, baselines_ ? *baselines_ : database_, request_);
  }

  TrackReport run() {
    TrackReport report = judged();
    if (std::string why = confirm(report); !why.empty())
      report.notes.push_back(fmt::format("Launches that would confirm a change are not measured here: {}.", why));
    if (read_only_.empty())
      keep_verdicts(database_, report, HBENCH_VERSION, now_utc());
    else
      report.notes.push_back(fmt::format("The verdicts are not stored: {}.", read_only_));
    return report;
  }

 private:
  TrackReport judged() const { return check(database_, request_, baselines_ ? &*baselines_ : nullptr); }

  /// Measures what changes still lack, and judges again. Why that cannot be done here; empty where nothing lacks.
  std::string confirm(TrackReport& report) {
    const Launching wanted = confirming_launches(report);
    if (wanted.questions.empty()) return "";
    if (!project_) return fmt::format("there is no {}", kProjectFile);
    if (!read_only_.empty()) return read_only_;
    TrackedRun tracked(*project_, project_->all);
    std::string why = confirm_here(tracked, database_, report.head, wanted, flags_.verbosity);
    if (why.empty()) report = judged();
    return why;
  }

  const CheckFlags& flags_;
  std::optional<Project> project_;
  std::string read_only_;  ///< why nothing can be written; empty where it can
  Store database_;
  std::optional<Store> baselines_;
  TrackRequest request_;
};

ExitCode run_check(const Call& call) {
  CheckFlags flags;
  TrackRequest request;
  Arguments app(
      "Judges a run of a database against earlier ones: which timed cases have become slower or faster, by how much, "
      "and how surely.",
      "hbench track check");
  app.footer(
      "Examples:\n  hbench track run && hbench track check\n"
      "  hbench track check --head 13 --junit track.xml --github --fail-on inconclusive\n"
      "  hbench track check --head 13 --baseline v2.1 --baseline-db nightly.db\n"
      "  hbench track check --format markdown > comment.md\n"
      "The launch is the unit: the first 5 of a case decide, and 5 further ones confirm a change. Where the run is one "
      "of hbench track run on this machine, they are measured now; else give sweep and collective --launches 10, and "
      "hbench import 10 files.\n"
      "Exit code: 0 pass, new or improved; 10 regressed; 11 slower, but by too few launches to be sure, and with "
      "--fail-on whatever is inconclusive; 12 incomparable, or no baseline (0 where the run is the "
      "first of it); before these 4 or 5 where cases of the run have failed.");
  add_options(app, flags, request);
  if (app.parse(call)) return ExitCode::good;
  flags.output.check();
  const TrackReport report = Check(flags, request).run();
  flags.output.deliver(report);
  return report.exit_code();
}

}  // namespace

constinit const Action kTrackRun{"run", "measures what is tracked", run_run};

constinit const Action kTrackCheck{"check", "judges a run against earlier ones", run_check};

}  // namespace hbench

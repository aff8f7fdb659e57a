#include "bench/track/track.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/points/timed_steps.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "analysis/records/words.hpp"
#include "analysis/track/check.hpp"
#include "analysis/track/history.hpp"
#include "bench/command/common_options.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/feature.hpp"
#include "bench/sweep/measured_place.hpp"
#include "bench/track/git.hpp"
#include "bench/track/project.hpp"
#include "bench/track/starter.hpp"
#include "bench/track/tracked_command.hpp"
#include "bench/track/tracked_run.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "reports/import/imported.hpp"
#include "reports/track/history.hpp"

namespace hbench {
namespace {

ExitCode run_track(const Call& call) {
  const std::array actions{kTrackInit,   kTrackRun,    kTrackCheck, kTrackHistory,
                           kTrackAccept, kTrackFreeze, kTrackPair,  kTrackBisect};
  return run_action(
      call,
      {.verb = "hbench track",
       .description = "Tracks how fast a project is over its commits.",
       .kind = "action on tracked runs",
       .footer = "Examples:\n  hbench track init && hbench track run\n  hbench track check --baseline main\n"
                 "  hbench track history --out history.html\nhbench track check --help and so on say more."},
      actions);
}

Store open_existing(const std::filesystem::path& file, std::filesystem::path database,
                    Store::Mode mode = Store::Mode::read_write) {
  if (database.empty()) database = database_of(find_project(file), database);
  if (!std::filesystem::exists(database))
    throw Error(ExitCode::usage, fmt::format("there is no database '{}'", database.string()), "name it with --db");
  return Store(database, mode);
}

ExitCode run_accept(const Call& call) {
  std::filesystem::path file, database;
  int run = 0;
  std::string reason;
  Arguments app(
      "Accepts that a run is slower or faster than those before it: later runs are held to it and to those after it, "
      "and runs before it only tell how far runs differ.",
      "hbench track accept");
  app.footer(
      "Examples:\n  hbench track accept --reason \"checks every gradient now\"\n"
      "  hbench track accept 7 --reason \"new driver\" --db nightly.db");
  app.add_option("RUN", run, "the run (default: the newest)", in_range(1, 1'000'000'000));
  app.add_option("--reason", reason, "why it is wanted");
  add_project_options(app, file, database);
  if (app.parse(call)) return ExitCode::good;
  Store store = open_existing(file, database);
  fmt::print("Accepted run {}: {}\n", accept(store, run, reason, now_utc()), one_line(reason));
  return ExitCode::good;
}

void list_frozen(const Store& store) {
  const std::vector<FrozenBaseline> all = store.frozen();
  if (all.empty()) fmt::print("Nothing is frozen. hbench track freeze NAME freezes the newest runs of a branch.\n");
  for (const FrozenBaseline& each : all)
    fmt::print("{}: {}, {} to {}, frozen {}\n", one_line(each.name), counted(std::ssize(each.runs), "run"),
               each.runs.front(), each.runs.back(), one_line(each.frozen_at));
}

ExitCode run_freeze(const Call& call) {
  std::filesystem::path file, database;
  std::string name, baseline = "main";
  std::vector<std::string> runs;
  bool remove = false;
  Arguments app("Gives runs a name, by which later ones can be held to them for as long as the name stands.",
                "hbench track freeze");
  app.footer(
      "Examples:\n  hbench track freeze v2.1\n  hbench track freeze cluster-acceptance --run 12 --run 13\n"
      "  hbench track check --baseline v2.1\n  hbench track freeze v2.1 --remove\n"
      "Without a name it lists those that there are.");
  app.add_option("NAME", name, "the name; the runs that had it lose it");
  app.add_option("--run", runs, "a run (repeatable; default: those that a run would be held to now)");
  app.add_option("--baseline", baseline, "without --run: the newest runs of this branch, or with this label");
  app.add_flag("--remove", remove, "forget the name; the runs stay");
  add_project_options(app, file, database);
  if (app.parse(call)) return ExitCode::good;
  if (name.empty() && app.count("--remove") + app.count("--run") + app.count("--baseline") > 0)
    throw Error(ExitCode::usage, "no name to freeze or to forget", "give it, such as hbench track freeze v2.1");
  if (!runs.empty() && app.count("--baseline") > 0)
    throw Error(ExitCode::usage, "--run and --baseline both say which runs are frozen", "give one of the two");
  Store store = open_existing(file, database, name.empty() ? Store::Mode::read_only : Store::Mode::read_write);
  if (name.empty()) return list_frozen(store), ExitCode::good;
  if (remove) {
    if (!store.unfreeze(name))
      throw Error(ExitCode::usage, fmt::format("no runs are frozen as '{}'", name), "hbench track freeze lists them");
    fmt::print("Forgot {}.\n", one_line(name));
    return ExitCode::good;
  }
  FrozenBaseline frozen{.name = name, .frozen_at = now_utc()};
  const std::vector<Run> known = store.runs();
  for (const std::string& each : runs) {
    const auto found = std::ranges::find_if(known, [&](const Run& run) { return fmt::to_string(run.id) == each; });
    if (found == known.end())
      throw Error(ExitCode::usage, fmt::format("--run {}: there is no such run", each),
                  known.empty() ? "the database has none" : fmt::format("the newest is {}", known.back().id));
    frozen.runs.push_back(found->id);
  }
  const TrackRequest request{.baseline = parse_baseline(baseline)};
  if (runs.empty())
    for (const Run& run : next_baseline(store, request).runs) frozen.runs.push_back(run.id);
  if (frozen.runs.empty())
    throw Error(ExitCode::usage, fmt::format("no run has {}", labels_text(request.baseline)),
                "name another --baseline, or runs with --run");
  store.freeze(frozen);
  fmt::print("Froze {} as {}.\n", counted(std::ssize(frozen.runs), "run"), one_line(name));
  return ExitCode::good;
}

ExitCode run_history(const Call& call) {
  std::filesystem::path file, database;
  std::string baseline;
  std::optional<double> effect;
  HistoryRequest request;
  DocumentOutput output;
  Arguments app(
      "Shows how fast cases were over the runs of a database, where their level has changed, and between which "
      "commits.",
      "hbench track history");
  app.footer(
      "Examples:\n  hbench track history\n  hbench track history --case step_ms --out history.html\n"
      "  hbench track history --label branch=main --json\n"
      "Cases are those of the newest run. Runs tell their commits by hbench sweep --label commit=$(git rev-parse "
      "HEAD).");
  add_project_options(app, file, database);
  add_history_options(app, request.match, baseline);
  add_least_effect(app, effect);
  output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  const std::optional<Project> project = find_project(file);
  if (project) request.rule.least_effect = project->all.rule.least_effect;
  request.labels = parse_baseline(baseline_of(project, baseline));
  if (effect) request.rule.least_effect = *effect;
  output.check();
  const std::vector<CaseHistory> cases =
      history(Store(database_of(project, database), Store::Mode::read_only), request);
  output.deliver(history_document(cases, request), [&] { return history_json(cases); });
  return ExitCode::good;
}

/// `./bench --json` of its words; one word is a shell's command already.
std::string shell_command(const std::vector<std::string>& words) {
  if (words.size() == 1) return words.front();
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + shell_word(word);
  return command;
}

/// Whether the repository of this folder is the one that hbench was built in.
bool is_built_here() {
  const GitAnswer top = git({"rev-parse", "--show-toplevel"});
  return top.good() && installation().worker.string().starts_with(top.out + "/");
}

/// `: 255 ms`, `: median of 4, 150 ms to 4.04 s`; empty where nothing of it counts.
std::string printed_in_words(const CaseResult& result) {
  const TrackedMetric metric = tracked_metric(result);
  const Launches launches = timed_steps(result, metric.name).launches;
  if (launches.empty()) return "";
  const auto [least, most] = std::ranges::minmax(launches.front());
  const std::string value = value_text(median(launches.front()), metric.unit);
  if (least == most) return ": " + value;
  return fmt::format(": {}, median of {}, {} to {}", value, launches.front().size(), value_text(least, metric.unit),
                     value_text(most, metric.unit));
}

/// What one launch of it prints, in lines. \throws Error where it cannot be launched, or its output is not understood.
std::string launched_in_words(const TrackedCommand& command) {
  if (!command.build.text.empty())
    if (const CommandLaunch built = run_command(command.build, command.timeout); built.code != ExitCode::good)
      throw Error(built.code, built.reason, built.said);
  const CommandLaunch launch = launch_command(command.run, command.timeout);
  if (launch.code != ExitCode::good) throw Error(launch.code, launch.reason, launch.said);
  std::string text;
  for (const CaseResult& result : launch.cases)
    text += fmt::format("\n  {}{}", one_line(tracked_name(result.asked)), printed_in_words(result));
  for (const std::string& line : left_out_lines(launch.left_out)) text += "\n  " + line;
  return text;
}

ExitCode write_starter(const Project& project, const std::string& text, const std::string& what) {
  write_whole(project.file, text, "--file");
  fmt::print("Wrote {}: {}\n", project.file.string(), what);
  const std::string results = project.database.filename().string();
  // With SQLite's journals, whose names begin so.
  if (ignore_file(project.file.parent_path(), results, results + "*"))
    fmt::print("Added {}* to .gitignore: commit it with {}\n", results, project.file.filename().string());
  fmt::print("Next: hbench track run\n");
  return ExitCode::good;
}

ExitCode init_command(const std::filesystem::path& file, const StarterCommand& command, const std::string& branch) {
  const std::string text = starter_file(command, branch);
  const Project project = parse_project(text, file);
  const std::string printed = launched_in_words(*command_of(project, command.name()));
  return write_starter(project, text, fmt::format("'{}', which prints{}", one_line(command.run), printed));
}

ExitCode run_init(const Call& call) {
  std::filesystem::path file = kProjectFile;
  std::vector<std::string> words;
  StarterCommand command;
  bool force = false;
  Arguments app(
      "Writes a file that says what is tracked: a program of yours or, without one, what hbench measures on this "
      "machine.",
      "hbench track init");
  app.footer(
      "Examples:\n  hbench track init -- ./my_benchmark --json\n"
      "  hbench track init --build make --pattern 'step: ([0-9.]+) ms' --unit ms -- ./my_benchmark --text\n"
      "  hbench track init\n"
      "Then: hbench track run, at least five times on the branch that is the baseline, and hbench track check.\n"
      "A program, or cat FILE, prints what hbench import reads (hbench list imports), or what --pattern finds.\n"
      "Ready files for GitHub, also for its own runners, GitLab and Jenkins: share/hbench/ci of the installation.");
  app.add_option("COMMAND", words, "a program to track, after --; it is launched once, to see what it prints");
  add_project_file(app, file, "the file");
  add_build(app, command.build, "a shell's command that builds the program");
  command.pattern.add_options(app);
  add_force(app, force);
  if (app.parse(call)) return ExitCode::good;
  if (std::filesystem::exists(file) && !force)
    throw Error(ExitCode::usage, fmt::format("'{}' is there already", file.string()),
                "edit it, or write a new one with --force");
  const std::map<std::string, std::string> labels = repository_labels(file.parent_path());
  const auto branch = labels.find("branch");
  command.run = shell_command(words);
  if (!words.empty()) return init_command(file, command, branch == labels.end() ? "" : branch->second);
  if (app.count("--build") + app.count("--pattern") + app.count("--better") > 0)
    throw Error(ExitCode::usage, "no program to track", "write it after --, such as -- ./my_benchmark --json");
  StarterMachine machine{.local = local_machine(0), .mpi = mpi_availability().available};
  if (branch != labels.end()) machine.branch = branch->second;
  const std::string text = starter_file(machine);
  const Project project = parse_project(text, file);
  const TrackedRun tracked(project, project.all);
  const Launching launching{.count = project.all.rule.launches};
  if (!labels.empty() && !is_built_here())
    fmt::print("To track a program of this repository instead: hbench track init --force -- ./my_benchmark --json\n");
  return write_starter(project, text,
                       fmt::format("{}, about {} for a run.", counted(std::ssize(tracked.cases()), "case"),
                                   tracked.time_in_words(launching)));
}

constexpr Verb kTrack{.name = "track",
                      .summary = "find what has become slower, for CI",
                      .place = 10,
                      .starts_ranks = true,
                      .run = run_track};
constexpr std::array kTrackVerbs{&kTrack};
constexpr std::array kTrackSchemas{
    PublishedSchema{"track-bisect-1", [] { return bisect_json({}, Form::schema); }},
    PublishedSchema{"track-history-1", [] { return history_json({}, Form::schema); }},
    PublishedSchema{"track-run-1", [] { return stored_run_json({}, Form::schema); }},
};

}  // namespace

extern const Feature kTrackFeature;
constinit const Feature kTrackFeature{.verbs = kTrackVerbs, .schemas = kTrackSchemas};

constinit const Action kTrackAccept{"accept", "says that a change is wanted", run_accept};
constinit const Action kTrackFreeze{"freeze", "gives a baseline a name that stays", run_freeze};

constinit const Action kTrackHistory{"history", "shows what has changed over runs, and when", run_history};

constinit const Action kTrackInit{"init", "writes a file of what is tracked here", run_init};

}  // namespace hbench

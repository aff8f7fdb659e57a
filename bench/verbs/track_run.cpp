#include <fmt/format.h>

#include "bench/command/arguments.hpp"
#include "bench/command/inform.hpp"
#include "bench/command/labels.hpp"
#include "bench/command/verbosity.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/output_file.hpp"
#include "bench/track/git.hpp"
#include "bench/track/tracked_run.hpp"
#include "bench/verbs/track.hpp"
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
               counted(std::ssize(tracked.cases()), "case"), launching.count, database.string(),
               flags.gate.empty() ? "" : " --gate " + flags.gate);
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
  app.add_option("--file", flags.file, "the file (default: hbench.toml in this folder)");
  app.add_option("--gate", flags.gate, "only the experiments of this gate");
  add_labels(app, flags.labels);
  app.add_option("--launches", flags.launches, "of each case (default: the file's)", in_range(1, 1000));
  app.add_option("--db", flags.database, "the database (default: the file's)");
  app.add_flag("--dry-run", flags.dry_run, "print the plan and its estimate, run nothing");
  app.add_flag("--json", flags.json, "print the run's number and labels as JSON");
  add_verbosity(app, flags.verbosity);
  if (app.parse(call)) return ExitCode::good;
  const std::optional<Project> project = find_project(flags.file);
  if (!project)
    throw Error(ExitCode::usage, fmt::format("there is no {} in this folder", kProjectFile),
                "hbench track init writes one; --file names another");
  return measure(call, flags, *project);
}

}  // namespace

constinit const Action kTrackRun{"run", "measures what is tracked", run_run};

}  // namespace hbench

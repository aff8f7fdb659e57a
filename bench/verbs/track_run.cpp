#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/command/arguments.hpp"
#include "bench/front/worker_program.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/output_file.hpp"
#include "bench/producer.hpp"
#include "bench/sweep/local_machine.hpp"
#include "bench/track/git.hpp"
#include "bench/track/starter.hpp"
#include "bench/track/tracked_run.hpp"
#include "bench/verbs/track.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {
namespace {

std::string minutes(double seconds) {
  return seconds < 90 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
}

ExitCode run_init(const Call& call) {
  std::filesystem::path file = kProjectFile;
  bool force = false;
  Arguments app("Writes a file that says what is tracked, for the machine that it is run on.", "hbench track init");
  app.footer(
      "Examples:\n  hbench track init\n  hbench track init --file bench/hbench.toml\n"
      "Then: hbench track run, at least five times on the branch that is the baseline, and hbench track check.");
  app.add_option("--file", file, "the file")->capture_default_str();
  app.add_flag("--force", force, "write it also where there is one");
  if (app.parse(call)) return ExitCode::good;
  if (std::filesystem::exists(file) && !force)
    throw Error(ExitCode::usage, fmt::format("'{}' is there already", file.string()),
                "edit it, or write a new one with --force");
  StarterMachine machine{.local = local_machine(0), .mpi = mpi_availability().available, .branch = {}};
  const std::map<std::string, std::string> labels = repository_labels(file.parent_path());
  if (const auto branch = labels.find("branch"); branch != labels.end()) machine.branch = branch->second;
  const std::string text = starter_file(machine);
  const Project project = parse_project(text, file);
  const TrackedRun tracked(project, project.all);
  write_whole(file, text, "--file");
  const Launching launching{.count = project.all.rule.launches};
  fmt::print("Wrote {}: {}, about {} for a run.\nNext: hbench track run\n", file.string(),
             counted(std::ssize(tracked.cases()), "case"), minutes(tracked.seconds(launching)));
  return ExitCode::good;
}

/// What `hbench track run` was asked for.
struct RunFlags {
  std::filesystem::path file, database;
  std::string gate;
  std::vector<std::string> labels;
  int launches = 0;
  bool dry_run = false, json = false, quiet = false;
};

/// Those of the flags before those of the repository.
std::map<std::string, std::string> labels_of(const RunFlags& flags, const Project& project) {
  std::map<std::string, std::string> labels = parse_labels(flags.labels);
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
  if (flags.dry_run) {
    fmt::print("{}{}, {} launches each, about {}\n", tracked.in_words(launching),
               counted(std::ssize(tracked.cases()), "case"), launching.count, minutes(tracked.seconds(launching)));
    return ExitCode::good;
  }
  Run run{.command = call.command,
          .version = HBENCH_VERSION,
          .started_at = now_utc(),
          .environment = {},
          .labels = labels_of(flags, project)};
  tracked.place(run);
  const std::filesystem::path database = flags.database.empty() ? project.database : flags.database;
  Store store(database);
  catch_interrupts();
  const std::int64_t id = store.begin_run(run);
  const ExitCode code = tracked.launch(store, id, launching, flags.quiet);
  if (code == ExitCode::interrupted) {
    fmt::print(stderr, "hbench: interrupted; run {} of {} has the cases that were measured\n", id, database.string());
    return code;
  }
  if (flags.json)
    fmt::print("{}\n", nlohmann::ordered_json{{"run", id},
                                              {"database", database.string()},
                                              {"cases", tracked.cases().size()},
                                              {"launches", launching.count},
                                              {"labels", run.labels},
                                              {"exit_code", static_cast<int>(code)}}
                           .dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
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
  app.add_option("--label", flags.labels, kLabelHelp);
  app.add_option("--launches", flags.launches, "of each case (default: the file's)")->check(in_range(1, 1000));
  app.add_option("--db", flags.database, "the database (default: the file's)");
  app.add_flag("--dry-run", flags.dry_run, "print the plan and its estimate, run nothing");
  app.add_flag("--json", flags.json, "print the run's number and labels as JSON");
  app.add_flag("--quiet", flags.quiet, "no progress");
  if (app.parse(call)) return ExitCode::good;
  const std::optional<Project> project = find_project(flags.file);
  if (!project)
    throw Error(ExitCode::usage, fmt::format("there is no {} in this folder", kProjectFile),
                "hbench track init writes one; --file names another");
  return measure(call, flags, *project);
}

}  // namespace

constinit const Action kTrackInit{"init", "writes a file of what is tracked here", run_init};
constinit const Action kTrackRun{"run", "measures what is tracked", run_run};

}  // namespace hbench

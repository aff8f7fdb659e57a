#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/track/sides.hpp"
#include "analysis/tracked_metric.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/shell_word.hpp"
#include "bench/front/worker_program.hpp"
#include "bench/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/output_file.hpp"
#include "bench/producer.hpp"
#include "bench/sweep/local_machine.hpp"
#include "bench/track/git.hpp"
#include "bench/track/starter.hpp"
#include "bench/track/tracked_command.hpp"
#include "bench/track/tracked_run.hpp"
#include "bench/track/words.hpp"
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

/// What one launch of it prints, in lines. \throws Error where it cannot be launched, or its output is not understood.
std::string launched_in_words(const TrackedCommand& command) {
  if (!command.build.text.empty())
    if (const CommandLaunch built = run_command(command.build, command.timeout); built.code != ExitCode::good)
      throw Error(built.code, built.reason, built.said);
  const CommandLaunch launch = launch_command(command.run, command.timeout);
  if (launch.code != ExitCode::good) throw Error(launch.code, launch.reason, launch.said);
  std::string text;
  for (const CaseResult& result : launch.cases) {
    const Launch values = launch_values(result);
    text += fmt::format("\n  {}{}", tracked_name(result.asked),
                        values.empty() ? "" : ": " + value_text(values.front(), tracked_metric(result).unit));
  }
  return text;
}

ExitCode write_starter(const std::filesystem::path& file, const std::string& text, const std::string& what) {
  write_whole(file, text, "--file");
  fmt::print("Wrote {}: {}\nNext: hbench track run\n", file.string(), what);
  return ExitCode::good;
}

ExitCode init_command(const std::filesystem::path& file, const StarterCommand& command, const std::string& branch) {
  const std::string text = starter_file(command, branch);
  const auto tracked = command_of(parse_project(text, file), command.name());
  const std::string printed = launched_in_words(*tracked);
  return write_starter(file, text, fmt::format("'{}', which prints{}", command.run, printed));
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
      "A program prints what hbench import reads (hbench list imports), or a number that --pattern finds.");
  app.add_option("COMMAND", words, "a program to track, after --; it is launched once, to see what it prints");
  app.add_option("--file", file, "the file")->capture_default_str();
  app.add_option("--build", command.build, "a shell's command that builds the program");
  command.pattern.add_options(app);
  app.add_flag("--force", force, "write it also where there is one");
  if (app.parse(call)) return ExitCode::good;
  if (std::filesystem::exists(file) && !force)
    throw Error(ExitCode::usage, fmt::format("'{}' is there already", file.string()),
                "edit it, or write a new one with --force");
  const std::map<std::string, std::string> labels = repository_labels(file.parent_path());
  const auto branch = labels.find("branch");
  command.run = shell_command(words);
  if (!words.empty()) return init_command(file, command, branch == labels.end() ? "" : branch->second);
  if (app.count("--build") + app.count("--pattern") > 0)
    throw Error(ExitCode::usage, "no program to track", "write it after --, such as -- ./my_benchmark --json");
  StarterMachine machine{.local = local_machine(0), .mpi = mpi_availability().available, .branch = {}};
  if (branch != labels.end()) machine.branch = branch->second;
  const std::string text = starter_file(machine);
  const Project project = parse_project(text, file);
  const TrackedRun tracked(project, project.all);
  const Launching launching{.count = project.all.rule.launches};
  if (!labels.empty() && !is_built_here())
    fmt::print("To track a program of this repository instead: hbench track init --force -- ./my_benchmark --json\n");
  return write_starter(file, text,
                       fmt::format("{}, about {} for a run.", counted(std::ssize(tracked.cases()), "case"),
                                   minutes(tracked.seconds(launching))));
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
  const std::filesystem::path database = flags.database.empty() ? project.database : flags.database;
  if (flags.dry_run) {
    if (std::filesystem::exists(database)) {
      const Store store(database, Store::Mode::read_only);
      if (const std::vector<Run> runs = store.runs(); !runs.empty()) tracked.remember(store.of_run(runs.back().id));
    }
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
  Store store(database);
  catch_interrupts();
  const ExitCode code = tracked.launch(store, run, launching, flags.quiet);
  const std::int64_t id = run.id;
  if (code == ExitCode::interrupted) {
    const std::string kept = id == 0
                                 ? "nothing was measured"
                                 : fmt::format("run {} of {} has the cases that were measured", id, database.string());
    fmt::print(stderr, "hbench: interrupted; {}\n", kept);
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

#include <fmt/format.h>

#include "analysis/points/tracked_metric.hpp"
#include "analysis/records/words.hpp"
#include "analysis/track/sides.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/shell_word.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/output_file.hpp"
#include "bench/sweep/local_machine.hpp"
#include "bench/track/git.hpp"
#include "bench/track/starter.hpp"
#include "bench/track/tracked_command.hpp"
#include "bench/track/tracked_run.hpp"
#include "bench/verbs/track.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/endpoints/endpoint.hpp"

namespace hbench {
namespace {

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
  app.add_option("--file", file, "the file");
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
  StarterMachine machine{.local = local_machine(0), .mpi = mpi_availability().available};
  if (branch != labels.end()) machine.branch = branch->second;
  const std::string text = starter_file(machine);
  const Project project = parse_project(text, file);
  const TrackedRun tracked(project, project.all);
  const Launching launching{.count = project.all.rule.launches};
  if (!labels.empty() && !is_built_here())
    fmt::print("To track a program of this repository instead: hbench track init --force -- ./my_benchmark --json\n");
  return write_starter(file, text,
                       fmt::format("{}, about {} for a run.", counted(std::ssize(tracked.cases()), "case"),
                                   tracked.time_in_words(launching)));
}

}  // namespace

constinit const Action kTrackInit{"init", "writes a file of what is tracked here", run_init};

}  // namespace hbench

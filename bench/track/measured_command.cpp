#include "bench/track/measured_command.hpp"

#include <fmt/format.h>
#include <string.h>

#include "analysis/import/import.hpp"
#include "analysis/store/store.hpp"
#include "bench/command/command_line.hpp"
#include "bench/command/common_options.hpp"
#include "bench/launch/process.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr const char *kOnly = "only", *kLast = "last", *kMedian = "median", *kLower = "lower", *kHigher = "higher";

constexpr int kNotExecutable = 126, kSignal = 128;
constexpr std::size_t kLastLines = 5;
/// More than any output that is read has; it is kept whole.
constexpr std::size_t kMostOutput = std::size_t{16} << 20;

/// The last of what a command wrote: enough to see why it failed.
std::string last_lines(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  std::size_t begin = text.size();
  for (std::size_t line = 0; line < kLastLines && begin != text.npos; ++line)
    begin = begin == 0 ? text.npos : text.rfind('\n', begin - 1);
  return std::string(begin == text.npos ? text : text.substr(begin + 1));
}

std::string quoted(const MeasuredCommand& command) {
  constexpr std::size_t kMost = 60;
  const std::string line = without_secrets(one_line(command.text));
  return fmt::format("{} '{}'", command.name, line.size() > kMost ? line.substr(0, kMost) + "..." : line);
}

CommandLaunch failed(ExitCode code, std::string reason, std::string said = {}) {
  CommandLaunch launch;
  launch.code = code;
  launch.reason = std::move(reason);
  launch.said = std::move(said);
  return launch;
}

/// By its exit code. hbench's own code for wrong data stays what it is.
CommandLaunch failed_by_exit(const MeasuredCommand& command, const Exit& exit, const std::string& out) {
  const std::string said = last_lines(exit.error_tail.empty() ? std::string_view(out) : exit.error_tail);
  if (exit.code == kNoProgram || exit.code == kNotExecutable)
    return failed(ExitCode::usage, fmt::format("{}: no such command (exit code {})", quoted(command), exit.code), said);
  if (exit.code > kSignal)
    return failed(
        ExitCode::lost_rank,
        fmt::format("{} ended by signal {} ({})", quoted(command), exit.code - kSignal, strsignal(exit.code - kSignal)),
        said);
  const bool wrong = exit.code == static_cast<int>(ExitCode::wrong_data);
  return failed(wrong ? ExitCode::wrong_data : ExitCode::lost_rank,
                fmt::format("{} ended with exit code {}", quoted(command), exit.code), said);
}

CommandLaunch understood(const MeasuredCommand& command, const std::string& printed) {
  const std::string out = without_colours(printed), name = fmt::format("the output of {}", command.name);
  try {
    ImportedOutput output = command.pattern != nullptr
                                ? command.pattern->read(printed, name)
                                : recognise(out, name).parse(out, name, {.better = command.better});
    if (!output.later.empty())
      throw Error(ExitCode::usage, fmt::format("{}: it has the same cases {} times", name, output.later.size() + 1),
                  "print them once: each launch of the command is one");
    refuse_implausible(output.cases, name);
    if (command.pattern == nullptr) refuse_idle_better(command.better, output.cases, name);
    return {.cases = std::move(output.cases),
            .environment = std::move(output.environment),
            .left_out = std::move(output.left_out)};
  } catch (const Error& error) {
    return failed(error.code(), error.what(), fmt::format("{}\n{}", last_lines(out), error.hint()));
  }
}

/// How a launch ended, and what it printed.
struct Ended {
  Exit exit;
  std::string out;
};

/// What a command is run for: a launch has its time, and a build may take long as long as it prints something.
enum class Purpose { launch, build };

Ended run_argv(std::vector<std::string> argv, Seconds timeout, Purpose purpose = Purpose::launch) {
  Ended ended;
  const bool launch = purpose == Purpose::launch;
  ended.exit = run_process({.argv = std::move(argv),
                            .on_line =
                                [&](std::string_view line) {
                                  ended.out.append(line) += '\n';
                                  // Of a build only the last lines are wanted.
                                  if (ended.out.size() > kMostOutput) ended.out.erase(0, ended.out.size() / 2);
                                },
                            .output_timeout = launch ? Seconds(0) : timeout,
                            .time_limit = launch ? timeout : Seconds(0),
                            .most_output = launch ? kMostOutput : 0,
                            .group_ends_with_us = true});
  return ended;
}

Ended run_in_shell(const MeasuredCommand& command, Seconds timeout, Purpose purpose) {
  const std::string go =
      command.folder.empty() ? "" : fmt::format("cd {} || exit; ", shell_word(command.folder.string()));
  return run_argv({"/bin/sh", "-c", go + command.text}, timeout, purpose);
}

/// Why a launch means nothing; its code is good where it does.
CommandLaunch failure_of(const MeasuredCommand& command, const Ended& ended, Seconds timeout,
                         Purpose purpose = Purpose::launch) {
  if (ended.exit.interrupted) return failed(ExitCode::interrupted, "interrupted");
  if (ended.exit.too_much)
    return failed(ExitCode::usage, fmt::format("{} printed more than 16 MiB and was stopped", quoted(command)),
                  "print figures alone: send the rest to a file or to /dev/null");
  if (ended.exit.timed_out)
    return failed(ExitCode::lost_rank,
                  fmt::format("{} {} {} and was stopped; --timeout gives it more", quoted(command),
                              purpose == Purpose::launch ? "took more than" : "printed nothing for", format(timeout)),
                  last_lines(ended.exit.error_tail));
  return ended.exit.code == 0 ? CommandLaunch() : failed_by_exit(command, ended.exit, ended.out);
}

bool is_experiment_file(const std::string& text) {
  std::error_code ignored;
  return text.ends_with(".toml") && std::filesystem::is_regular_file(text, ignored);
}

/// By this program, into a database of its own.
CommandLaunch launch_experiments(const MeasuredCommand& command, Seconds timeout) {
  const ScratchFolder folder;
  const std::filesystem::path database = folder.path() / "launch.db";
  const Ended ended = run_argv({std::filesystem::read_symlink("/proc/self/exe"), "track", "run", "--file", command.text,
                                "--launches", "1", "--db", database, "--quiet"},
                               timeout);
  CommandLaunch launch = failure_of(command, ended, timeout);
  if (ended.exit.code == static_cast<int>(ExitCode::usage)) launch.code = ExitCode::usage;  // of what the file says
  // Cases with wrong data are stored, and say so.
  if (launch.code != ExitCode::good && launch.code != ExitCode::wrong_data) return launch;
  const Store store(database, Store::Mode::read_only);
  return {.cases = store.of_run(store.runs().back().id)};
}

}  // namespace

void PatternOptions::add_options(Arguments& app) {
  Option* pattern = app.add_option("--pattern", expression,
                                   "a regular expression whose first group is the number that counts, a second one its "
                                   "unit; after (?s) it may go on over lines");
  app.add_option("--unit", unit, "of that number: ms, images/s, MiB")->needs(pattern);
  add_better(app, better, "which numbers are better (default: lower times, higher rates)");
  app.add_option("--take", take, "which number counts where there are several: the only one, the last, the median",
                 one_of({kOnly, kLast, kMedian}))
      ->needs(pattern);
}

void PatternOptions::apply(const std::string& name, MeasuredCommand& command) const {
  if (!better.empty()) command.better = better == kHigher ? BetterValue::higher : BetterValue::lower;
  if (expression.empty()) return;
  NumberPatternRequest request{.name = name, .expression = expression, .unit = unit, .better = command.better};
  if (take != kOnly) request.take = take == kLast ? TakeNumbers::last : TakeNumbers::median;
  command.pattern = std::make_shared<const NumberPattern>(std::move(request));
}

std::string PatternOptions::in_shell() const {
  std::string text = expression.empty() ? "" : fmt::format(" --pattern {}", shell_word(expression));
  if (!unit.empty()) text += fmt::format(" --unit {}", shell_word(unit));
  if (!better.empty()) text += fmt::format(" --better {}", better);
  if (take != kOnly) text += fmt::format(" --take {}", take);
  return text;
}

CommandLaunch launch_command(const MeasuredCommand& command, Seconds timeout) {
  if (is_experiment_file(command.text)) return launch_experiments(command, timeout);
  const Ended ended = run_in_shell(command, timeout, Purpose::launch);
  CommandLaunch launch = failure_of(command, ended, timeout);
  return launch.code == ExitCode::good ? understood(command, ended.out) : launch;
}

CommandLaunch run_command(const MeasuredCommand& command, Seconds timeout) {
  return failure_of(command, run_in_shell(command, timeout, Purpose::build), timeout, Purpose::build);
}

}  // namespace hbench

#include "bench/track/pair_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include "bench/import/format.hpp"
#include "bench/launch/process.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr int kNoSuchCommand = 127, kNoProgram = 126, kSignal = 128;
constexpr std::size_t kLastLines = 5;

/// The last of what a command wrote: enough to see why it failed.
std::string last_lines(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  std::size_t begin = text.size();
  for (std::size_t line = 0; line < kLastLines && begin != text.npos; ++line)
    begin = begin == 0 ? text.npos : text.rfind('\n', begin - 1);
  return std::string(begin == text.npos ? text : text.substr(begin + 1));
}

std::string quoted(const PairCommand& command) {
  constexpr std::size_t kMost = 60;
  const std::string line = one_line(command.text);
  return fmt::format("--{} '{}'", command.side, line.size() > kMost ? line.substr(0, kMost) + "..." : line);
}

std::string known_formats() {
  std::vector<std::string> known;
  for (const ImportFormat* format : import_formats())
    known.push_back(fmt::format("{} ({})", format->name, format->summary));
  return fmt::format("{}", fmt::join(known, "; "));
}

CommandLaunch failed(ExitCode code, std::string reason, std::string said = {}) {
  CommandLaunch launch;
  launch.code = code;
  launch.reason = std::move(reason);
  launch.said = std::move(said);
  return launch;
}

/// By its exit code. hbench's own code for wrong data stays what it is.
CommandLaunch failed_by_exit(const PairCommand& command, const Exit& exit, const std::string& out) {
  const std::string said = last_lines(exit.error_tail.empty() ? std::string_view(out) : exit.error_tail);
  if (exit.code == kNoSuchCommand || exit.code == kNoProgram)
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

CommandLaunch understood(const PairCommand& command, const std::string& out) {
  const std::string name = fmt::format("the output of --{}", command.side);
  const ImportFormat* format = nullptr;
  try {
    format = &recognise(out, name);
    ImportedOutput output = format->parse(out, name);
    return {.cases = std::move(output.cases), .environment = std::move(output.environment)};
  } catch (const Error& error) {
    const std::string cure = format != nullptr ? error.hint() : "print what hbench import reads: " + known_formats();
    return failed(error.code(), error.what(), fmt::format("{}\n{}", last_lines(out), cure));
  }
}

}  // namespace

CommandLaunch launch_command(const PairCommand& command, Seconds timeout) {
  std::string out;
  const Exit exit = run_process({.argv = {"/bin/sh", "-c", command.text},
                                 .environment = {},
                                 .on_line = [&](std::string_view line) { out.append(line) += '\n'; },
                                 .input = {},
                                 .output_timeout = timeout});
  if (exit.interrupted) return failed(ExitCode::interrupted, "interrupted");
  if (exit.timed_out)
    return failed(ExitCode::lost_rank,
                  fmt::format("{} printed nothing for {} and was stopped; --timeout gives it more", quoted(command),
                              format(timeout)),
                  last_lines(exit.error_tail));
  return exit.code == 0 ? understood(command, out) : failed_by_exit(command, exit, out);
}

}  // namespace hbench

#include "bench/calibrate/record_step.hpp"

#include <fmt/format.h>

#include <system_error>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

constexpr std::string_view kBegin = "hbench: ";
/// Verbs bound every wait of their own; this is for one that does not.
constexpr Seconds kOutputTimeout(900);

bool is_usage(const Exit& exit) { return exit.code == static_cast<int>(ExitCode::usage); }

ExitCode code_of(const Exit& exit) {
  for (const ExitCode code : {ExitCode::environment, ExitCode::wrong_data, ExitCode::lost_rank})
    if (exit.code == static_cast<int>(code)) return code;
  if (exit.code == kNoProgram || is_usage(exit)) return ExitCode::environment;
  return exit.code > 128 ? ExitCode::lost_rank : ExitCode::internal;
}

std::vector<std::string> arguments_for(const StepRecording& recording) {
  std::vector<std::string> arguments{"calibrate", "--model", recording.own ? recording.own->file : recording.model};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty() && value != "0") arguments.insert(arguments.end(), {flag, value});
  };
  if (recording.own != nullptr) {
    add("--input", recording.own->input.text());
    add("--loss", recording.own->loss);
  }
  add("--device", recording.device);
  add("--batch", std::to_string(recording.batch));
  add("--image-size", std::to_string(recording.image_size));
  add("--precision", recording.precision);
  add("--optimizer", recording.optimizer);
  add("--out", recording.file.string());
  return arguments;
}

}  // namespace

VerbOutcome run_own_verb(const std::string& program, const std::vector<std::string>& arguments) {
  VerbOutcome outcome;
  Spawn spawn;
  spawn.argv = {program};
  spawn.argv.insert(spawn.argv.end(), arguments.begin(), arguments.end());
  spawn.on_line = [&](std::string_view line) { outcome.out.append(line) += '\n'; };
  spawn.output_timeout = kOutputTimeout;
  outcome.exit = run_process(spawn);
  return outcome;
}

void throw_as_said(const Exit& exit, const std::string& doing, ArgumentsOf whose) {
  const std::string& tail = exit.error_tail;
  const std::size_t begin = tail.rfind(kBegin);
  if (begin == std::string::npos) throw Error(code_of(exit), fmt::format("{}: exit code {}", doing, exit.code));
  const std::size_t message = begin + kBegin.size(), end = std::min(tail.find('\n', message), tail.size());
  std::string hint = end + 1 < tail.size() ? one_line(tail.substr(end + 1)) : "";
  hint.erase(0, hint.find_first_not_of(' '));
  hint.erase(hint.find_last_not_of(' ') + 1);
  const std::string said = tail.substr(message, end - message);
  if (is_usage(exit) && whose == ArgumentsOf::user) throw Error(ExitCode::usage, said, hint);
  if (is_usage(exit)) hint = "hbench doctor says what this machine lacks";
  throw Error(code_of(exit), fmt::format("{}: {}", doing, said), hint);
}

std::string record_step(const std::string& program, const StepRecording& recording) {
  const VerbOutcome child = run_own_verb(program, arguments_for(recording));
  if (child.exit.code == 0) return child.out.substr(0, child.out.find('\n'));
  throw_as_said(child.exit,
                fmt::format("recording a step of {}", recording.own ? recording.own->name() : recording.model),
                recording.own ? ArgumentsOf::user : ArgumentsOf::program);
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    throw Error(ExitCode::environment, fmt::format("cannot make {}: {}", folder.string(), failure.message()),
                "it is made beside the database: choose another one with --db FILE");
}

std::filesystem::path calibration_folder(const std::filesystem::path& database) {
  return database.parent_path() / (database.stem().string() + "-calibration");
}

}  // namespace hbench

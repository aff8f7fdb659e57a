#include "bench/calibrate/record_step.hpp"

#include <fmt/format.h>

#include <system_error>
#include <vector>

#include "bench/calibrate/own_verb.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

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

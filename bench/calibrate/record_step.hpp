#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/launch/process.hpp"
#include "bench/sweep/request.hpp"
#include "workloads/models/own_model.hpp"

namespace hbench {

/// A step that `hbench calibrate` records, in a process of its own. What is empty or 0 it chooses by itself.
struct StepRecording {
  std::string model;              ///< a name of `hbench list models`
  const OwnModel* own = nullptr;  ///< in its place
  std::string device, precision, optimizer;
  int batch = 0, image_size = 0;
  std::filesystem::path file;  ///< of the timeline
};
/// Returns the timeline in words. \throws Error; of a model of one's own that cannot be trained, usage.
std::string record_step(const std::string& program, const StepRecording& recording);

/// Makes a folder beside a database. \throws Error (environment).
void make_folder(const std::filesystem::path& folder);
/// `hbench-calibration` of `hbench.db`: what was recorded and measured of this machine.
std::filesystem::path calibration_folder(const std::filesystem::path& database);

/// What a verb of hbench left, run in a process of its own, so that what it holds (GPU memory, say) goes with it.
struct VerbOutcome {
  Exit exit;
  std::string out;  ///< its standard output
};
VerbOutcome run_own_verb(const std::string& program, const std::vector<std::string>& arguments);

/// Whose mistake it is when a child refuses its arguments: where they are ours, it is something that the machine lacks.
enum class ArgumentsOf : std::uint8_t { program, user };
/// What such a child complained of, as if it were our own; `doing` begins the message. What it takes for a mistake in
/// its arguments is an Error (environment), or of the user's (usage) and passed on as it is. \pre it failed.
[[noreturn]] void throw_as_said(const Exit& exit, const std::string& doing, ArgumentsOf whose = ArgumentsOf::program);

}  // namespace hbench

#pragma once

#include <filesystem>
#include <string>

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

}  // namespace hbench

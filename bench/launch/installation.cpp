#include "bench/launch/installation.hpp"

#include <unistd.h>

#include <cstdlib>
#include <system_error>

namespace hbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kData = "share/hbench";
constexpr const char* kWorker = "libexec/hbench/hbench-worker";
constexpr const char* kTrainer = "libexec/hbench/hbench-trainer";

/// The folder above the programs: one level above `hbench`, two above the others.
fs::path find_prefix(const fs::path& self) {
  std::error_code ignored;
  for (fs::path folder = self.parent_path().parent_path(); folder != folder.root_path(); folder = folder.parent_path())
    if (fs::is_directory(folder / kData, ignored)) return folder;
  return self.parent_path().parent_path();
}

}  // namespace

bool may_be_run(const std::string& file) {
  std::error_code ignored;
  return access(file.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(file, ignored);
}

std::string find_program(std::string_view program, std::string_view path) {
  if (program.find('/') != std::string_view::npos) return std::string(program);
  while (!path.empty()) {
    const std::size_t colon = path.find(':');
    const std::string file = std::string(path.substr(0, colon)) + "/" + std::string(program);
    if (may_be_run(file)) return file;
    path = colon == std::string_view::npos ? std::string_view() : path.substr(colon + 1);
  }
  return "";
}

bool on_path(std::string_view program, std::string_view path) { return !find_program(program, path).empty(); }

Availability program_availability(std::string_view program, std::string_view path, std::string_view cure) {
  if (on_path(program, path)) return {};
  return {false, std::string(program) + " is not on the PATH", std::string(cure)};
}

Installation find_installation(const fs::path& self, const char* (*variable)(const char* name)) {
  const fs::path prefix = find_prefix(self);
  Installation found{.worker = prefix / kWorker, .trainer = prefix / kTrainer, .data = prefix / kData};
  if (const char* worker = variable("HBENCH_WORKER"); worker != nullptr && *worker != '\0') found.worker = worker;
  if (const char* data = variable("HBENCH_DATA"); data != nullptr && *data != '\0') found.data = data;
  return found;
}

const Installation& installation() {
  static const Installation kFound = find_installation(
      fs::read_symlink("/proc/self/exe"), [](const char* name) -> const char* { return std::getenv(name); });
  return kFound;
}

Data load_data() {
  const std::filesystem::path& data = installation().data;
  return {ProfileLibrary(data / "cluster-profiles"), TraceLibrary(data / "traces")};
}

}  // namespace hbench

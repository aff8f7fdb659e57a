#include "bench/launch/installation.hpp"

#include <cstdlib>
#include <system_error>

namespace hbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kData = "share/hbench";
constexpr const char* kWorker = "libexec/hbench/hbench-worker";

/// The folder above the programs: one level above `hbench`, two above `hbench-worker`.
fs::path find_prefix(const fs::path& self) {
  std::error_code ignored;
  for (fs::path folder = self.parent_path().parent_path(); folder != folder.root_path(); folder = folder.parent_path())
    if (fs::is_directory(folder / kData, ignored)) return folder;
  return self.parent_path().parent_path();
}

}  // namespace

Installation find_installation(const fs::path& self, const char* (*variable)(const char* name)) {
  const fs::path prefix = find_prefix(self);
  Installation found{.worker = prefix / kWorker, .data = prefix / kData};
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

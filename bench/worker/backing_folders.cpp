#include "bench/worker/backing_folders.hpp"

#include <cstdlib>
#include <filesystem>

namespace hbench {

void forget_absent_backing_folders() {
  for (const char* name : kBackingFolderVariables) {
    const char* folder = std::getenv(name);
    std::error_code ignored;
    if (folder != nullptr && !std::filesystem::is_directory(folder, ignored)) unsetenv(name);
  }
}

}  // namespace hbench

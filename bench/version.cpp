#include "bench/version.hpp"

#include <fmt/format.h>

namespace hbench {

/// Of the file that `commit.cmake` writes.
extern const char* const kCommit;

std::string version_text() {
  return fmt::format("hbench {}\ncommit: {}\ncompiler: {}\nlibraries: {}\n", HBENCH_VERSION, kCommit, HBENCH_COMPILER,
                     HBENCH_LIBRARIES);
}

}  // namespace hbench

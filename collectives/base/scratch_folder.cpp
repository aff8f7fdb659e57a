#include "collectives/base/scratch_folder.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "collectives/base/error.hpp"

namespace hbench {

std::filesystem::path temporary_base() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

ScratchFolder::ScratchFolder() {
  std::string name = temporary_base() / "hbench-scratch-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw Error(ExitCode::environment, fmt::format("cannot make a folder {}: {}", name, std::strerror(errno)),
                "set TMPDIR to a folder that you may write");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace hbench

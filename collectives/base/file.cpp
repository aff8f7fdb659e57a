#include "collectives/base/file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "collectives/base/error.hpp"

namespace hbench {

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file))
    throw Error(ExitCode::usage,
                fmt::format("cannot read {}: {}", file.string(), in ? "it is a folder" : std::strerror(errno)));
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace hbench

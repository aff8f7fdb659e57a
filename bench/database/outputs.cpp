#include "bench/database/outputs.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string_view>

#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"

namespace hbench {

// How a file of SQLite begins: sqlite.org/fileformat2.html, 1.3.
bool is_database(const std::filesystem::path& file) {
  constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  std::string begin(kMagic.size(), ' ');
  std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kMagic;
}

std::vector<ImportFile> read_outputs(const std::vector<std::string>& names) {
  std::vector<ImportFile> files;
  for (const std::string& name : names) {
    if (is_database(name)) continue;
    std::error_code ignored;
    for (const ImportFile& file : files)
      if (std::filesystem::equivalent(file.name, name, ignored))
        throw Error(ExitCode::usage, fmt::format("{} is given twice", name), "each file is one launch: give each once");
    files.push_back({.name = name, .text = read_file(name)});
  }
  return files;
}

}  // namespace hbench

#pragma once

#include <filesystem>
#include <string>

namespace hbench {

/// The whole of a file. \throws Error (usage) that names it when it cannot be read.
std::string read_file(const std::filesystem::path& file);

}  // namespace hbench

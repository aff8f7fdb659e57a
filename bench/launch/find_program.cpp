#include "bench/launch/find_program.hpp"

#include <unistd.h>

#include <filesystem>

namespace hbench {

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

}  // namespace hbench

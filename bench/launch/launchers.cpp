#include <unistd.h>

#include <array>
#include <filesystem>

#include "bench/launch/launcher.hpp"

namespace hbench {

extern const Launcher kLocalLauncher, kMpirunLauncher, kMpichLauncher;

namespace {
constexpr std::array kLaunchers{&kLocalLauncher, &kMpirunLauncher, &kMpichLauncher};
}

std::span<const Launcher* const> launchers() { return kLaunchers; }

bool on_path(std::string_view program, std::string_view path) {
  while (!path.empty()) {
    const std::size_t colon = path.find(':');
    const std::string file = std::string(path.substr(0, colon)) + "/" + std::string(program);
    std::error_code ignored;
    if (access(file.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(file, ignored)) return true;
    path = colon == std::string_view::npos ? std::string_view() : path.substr(colon + 1);
  }
  return false;
}

}  // namespace hbench

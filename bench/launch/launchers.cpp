#include <array>

#include "bench/launch/launcher.hpp"

namespace hbench {

extern const Launcher kLocalLauncher, kMpirunLauncher, kSrunLauncher, kMpichLauncher;

namespace {
constexpr std::array kLaunchers{&kLocalLauncher, &kMpirunLauncher, &kSrunLauncher, &kMpichLauncher};
}

std::span<const Launcher* const> launchers() { return kLaunchers; }

}  // namespace hbench

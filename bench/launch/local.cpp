#include "bench/launch/launcher.hpp"

namespace hbench {

extern const Launcher kLocalLauncher;
constinit const Launcher kLocalLauncher{
    .name = "local",
    .summary = "one process, started directly: the baseline without communication",
    .availability = [](std::string_view) { return Availability{}; },
    .argv = [](const Job& job) { return job.worker; },
};

}  // namespace hbench

#include "collectives/base/error.hpp"
#include "workloads/libtorch.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

constexpr const char* kReason = "hbench was built without LibTorch";
constexpr const char* kCure =
    "install LibTorch (Debian: libtorch-dev) or unpack it and set CMAKE_PREFIX_PATH, then build again with "
    "-DHBENCH_WITH_TORCH=ON";

}  // namespace

Availability torch_availability() { return {.available = false, .reason = kReason, .cure = kCure}; }

Availability training_availability() { return torch_availability(); }

Availability gpu_training_availability() { return torch_availability(); }

std::map<std::string, std::string> torch_facts() { return {}; }

TrainingEnd train(const TrainingRequest&, Endpoint*, const std::function<void(const StepReport&)>&,
                  const std::function<void(const Learned&)>&, const std::function<void(const CheckpointReport&)>&) {
  throw Error(ExitCode::environment, kReason, kCure);
}

std::uint64_t loss_fingerprint() { throw Error(ExitCode::environment, kReason, kCure); }

StepTimeline record_timeline(const RecordingRequest&) { throw Error(ExitCode::environment, kReason, kCure); }

}  // namespace hbench

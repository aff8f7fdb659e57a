#include "bench/worker/rank_endpoints.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "collectives/executors/executor.hpp"

namespace hbench {
namespace {

/// Than twice the time-out, after which whoever starts ranks has stopped those that it reaches.
constexpr Seconds kLonger{20};

class ProcessEndpoints final : public RankEndpoints {
 public:
  explicit ProcessEndpoints(Seconds timeout) : home_(make_home(timeout)) {}
  Endpoint& home() override { return *home_; }
  Endpoint& of(std::string_view executor) override {
    const ExecutorKind* kind = find_executor(executor);
    if (kind == nullptr || kind->make_endpoint == nullptr) return *home_;
    auto& made = made_[kind->make_endpoint];
    if (made == nullptr) made = kind->make_endpoint(*home_);
    return *made;
  }

 private:
  static std::unique_ptr<Endpoint> make_home(Seconds timeout) {
    forget_absent_backing_folders();
    if (timeout.value > 0) alarm(static_cast<unsigned>((timeout * 2 + kLonger).value));
    std::unique_ptr<Endpoint> home = make_mpi_endpoint();
    alarm(0);
    return home;
  }

  std::unique_ptr<Endpoint> home_;
  /// By how it is made: executors may share an endpoint.
  std::map<decltype(ExecutorKind::make_endpoint), std::unique_ptr<Endpoint>> made_;
};

}  // namespace

void forget_absent_backing_folders() {
  for (const char* name : kBackingFolderVariables) {
    const char* folder = std::getenv(name);
    std::error_code ignored;
    if (folder != nullptr && !std::filesystem::is_directory(folder, ignored)) unsetenv(name);
  }
}

std::unique_ptr<RankEndpoints> make_process_endpoints(Seconds timeout) {
  return std::make_unique<ProcessEndpoints>(timeout);
}

}  // namespace hbench

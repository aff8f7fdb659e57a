#include "bench/worker/rank_endpoints.hpp"

#include <map>

#include "bench/worker/backing_folders.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {
namespace {

class ProcessEndpoints final : public RankEndpoints {
 public:
  Endpoint& home() override { return *home_; }
  Endpoint& of(std::string_view executor) override {
    const ExecutorKind* kind = find_executor(executor);
    if (kind == nullptr || kind->make_endpoint == nullptr) return *home_;
    auto& made = made_[kind->make_endpoint];
    if (made == nullptr) made = kind->make_endpoint(*home_);
    return *made;
  }

 private:
  static std::unique_ptr<Endpoint> make_home() {
    forget_absent_backing_folders();
    return make_mpi_endpoint();
  }

  std::unique_ptr<Endpoint> home_ = make_home();
  /// By how it is made: executors may share an endpoint.
  std::map<decltype(ExecutorKind::make_endpoint), std::unique_ptr<Endpoint>> made_;
};

}  // namespace

std::unique_ptr<RankEndpoints> make_process_endpoints() { return std::make_unique<ProcessEndpoints>(); }

}  // namespace hbench

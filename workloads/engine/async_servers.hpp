#pragma once

/// A rank's part in training with servers that apply gradients as they come.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "workloads/engine/parameter_server.hpp"
#include "workloads/engine/push_codes.hpp"
#include "workloads/engine/some_exchange.hpp"

namespace hbench {

/// One rank's: a worker's way to the servers, and the server on this rank, where there is one.
class AsyncServers final : public SomeExchange {
 public:
  /// Rank 0's parameters are what servers begin with. The references outlive it. \throws Error (lost_rank).
  AsyncServers(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout, const StepPlan& plan,
               const ModelMemory& memory);

  /// Pushes the gradients of a bucket, and pulls the parameters that they lead to.
  std::unique_ptr<Operation> exchange(const Bucket& bucket) override;
  bool progress() override { return server_ != nullptr && server_->progress(); }
  bool answers() const override { return server_ != nullptr; }
  bool done() const override { return server_ == nullptr || server_->done(); }
  /// The worker's parameters are the final ones then.
  void leave(int iterations) override;
  std::map<int, std::int64_t> gather_unseen() override;

 private:
  void bring_initial(std::span<float> parameters);

  const TrainingRequest& request_;
  Endpoint& endpoint_;
  ModelMemory memory_;
  std::vector<std::vector<ServerPiece>> pieces_;  ///< by tensor
  PushEncoder encoder_;
  std::unique_ptr<ParameterServer> server_;
};

}  // namespace hbench

#pragma once

// Ranks of the engine that walk their plans for themselves, without LibTorch: threads that sleep, and count.

#include <chrono>
#include <cmath>
#include <numeric>

#include "tests/workloads/engine_ranks.hpp"
#include "workloads/engine/worker.hpp"

namespace hbench {

/// Gradients are rank + 1 everywhere, so that parameters count what was applied, or another number.
class CountingCompute final : public Compute {
 public:
  CountingCompute(Rank rank, Seconds pass, std::optional<float> gradient = {})
      : rank_(rank), pass_(pass), gradient_(gradient.value_or(static_cast<float>(rank + 1))) {}

  GradientLayout record_layout() override { return test_layout(); }
  /// Parameters begin with another number on each rank where ranks mix them, and where servers do not begin with rank
  /// 0's.
  void lay_out(const GradientLayout& layout, const ModelMemory& memory) override {
    tensors_ = layout.tensors();
    memory_ = memory;
    std::ranges::fill(memory_.means.empty() ? std::span<float>() : memory_.parameters, first_of(rank_));
  }
  static float first_of(Rank rank) { return std::sin(static_cast<float>(rank)); }
  Device& device() override { return host_device(); }
  void warm_up() override {}
  void add_gradients(bool) override {}
  void leave_momenta(double) override {}
  void forward(int) override { ++iterations; }
  void backward(const std::function<void(int)>& ready, double) override {
    std::this_thread::sleep_for(std::chrono::duration<double>(pass_.value));
    std::ranges::fill(memory_.gradients, gradient_);
    for (int tensor = 0; ready && tensor < tensors_; ++tensor) ready((tensor + rank_) % tensors_);
  }
  bool gradients_are_finite() const override { return true; }
  void apply(double, double) override {}
  void apply_momenta(double, double) override {}
  void apply_parts(double, double, std::span<const ElementRange>) override {}
  void begin_outer(const OuterUpdate&, const std::vector<std::vector<int>>&) override {}
  void take_deltas(int) override {}
  void apply_deltas(int, int) override {}
  double loss() const override { return 0; }
  std::uint64_t digest() const override { return 0; }
  std::span<const float> parameters() const { return memory_.parameters; }

  int iterations = 0;

 private:
  Rank rank_;
  Seconds pass_;
  float gradient_;
  int tensors_ = 0;
  ModelMemory memory_;
};

struct Trained {
  std::vector<std::string> failures;
  std::vector<int> iterations;                 ///< by worker
  std::vector<std::vector<float>> parameters;  ///< by worker
  std::vector<std::vector<StepReport>> steps;  ///< by worker
  std::map<int, std::int64_t> unseen;
  std::optional<double> consensus_distance;
};

struct Counting {
  std::function<Seconds(Rank)> pass = [](Rank) { return Seconds(1e-4); };
  /// Called with each worker's steps; a worker that throws there is lost.
  std::function<void(Rank, const StepReport&)> stop = [](Rank, const StepReport&) {};
  DeviceFactory devices = {};          ///< of host memory, whose work may be done later
  std::optional<float> gradient = {};  ///< of all workers
};

inline Trained train_counting(const TrainingRequest& request, const Counting& how = {}) {
  const auto workers = static_cast<std::size_t>(request.world.workers);
  Trained all{.failures = {},
              .iterations = std::vector<int>(workers),
              .parameters = std::vector<std::vector<float>>(workers),
              .steps = std::vector<std::vector<StepReport>>(workers),
              .unseen = {},
              .consensus_distance = {}};
  all.failures = on_all_ranks(
      request.world.ranks(),
      [&](Endpoint& endpoint) {
        const Rank rank = endpoint.transport().rank();
        if (rank >= request.world.workers) return serve(request, endpoint);
        const auto worker = static_cast<std::size_t>(rank);
        CountingCompute compute(rank, how.pass(rank), how.gradient);
        const TrainingEnd end = train_together(compute, request, endpoint, [&](const StepReport& step) {
          all.steps[worker].push_back(step);
          how.stop(rank, step);
        });
        if (rank == 0) all.unseen = end.unseen, all.consensus_distance = end.consensus_distance;
        all.iterations[worker] = compute.iterations;
        all.parameters[worker].assign(compute.parameters().begin(), compute.parameters().end());
      },
      how.devices);
  return all;
}

/// What all ranks have done, as a share of what they would have if all were as fast as the fastest: how busy the
/// machine is makes no difference.
inline double share_done(const Trained& all) {
  const int sum = std::accumulate(all.iterations.begin(), all.iterations.end(), 0);
  return static_cast<double>(sum) / (std::ranges::max(all.iterations) * static_cast<double>(all.iterations.size()));
}

}  // namespace hbench

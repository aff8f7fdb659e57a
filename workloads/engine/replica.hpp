#pragma once

/// One worker's copy of a model, with its data: all that LibTorch does, and none of its types.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workloads/data/dataset.hpp"
#include "workloads/engine/compute.hpp"
#include "workloads/models/models.hpp"
#include "workloads/models/own_model.hpp"
#include "workloads/optimizers/optimizer.hpp"
#include "workloads/step/precision.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

struct ReplicaOptions {
  int batch = 16;
  int image_size = 64;
  unsigned seed = 1;  ///< of parameters and data
  int rank = 0;
  int workers = 1;
  bool freeze_batch_norm = false;
  int threads = 1;
  std::optional<int> gpu;  ///< none: on the CPU
  Precision precision = Precision::float32;
  bool channels_last = false;  ///< images and convolutions lie as tensor cores want them
  OptimizerChoice optimizer = parse_optimizer("sgd");
  const Dataset* data = nullptr;  ///< outlives the replica; null: samples are drawn
};

/// Used by the thread that made it: LibTorch's thread count belongs to that thread. On a GPU the calls enqueue work and
/// return before it is done. Errors of LibTorch become Error (environment).
class Replica final : public Compute {
 public:
  Replica(const ModelEntry& entry, const ReplicaOptions& options);
  /// A model of one's own, which takes one step to show that it can be trained; `image_size` is not looked at.
  /// \throws Error (usage) where it cannot.
  Replica(const OwnModel& model, const ReplicaOptions& options);
  ~Replica() override;
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// On the smallest images that the model is known to take.
  GradientLayout record_layout() override;
  void lay_out(const GradientLayout& layout, const ModelMemory& memory) override;
  /// Without a layout, tensors are counted as parameters are, in forward order.
  std::vector<std::string> tensor_names() const;
  std::vector<std::int64_t> tensor_elements() const;
  Device& device() override;

  void warm_up() override;
  void add_gradients(bool adds) override;
  bool fetch(int batch) override;
  void forward(int batch) override;
  void backward(const std::function<void(int)>& ready, double scale = 1) override;
  void leave_momenta(double divisor) override;
  bool gradients_are_finite() const override;
  void apply(double rate, double divisor) override;
  void apply_momenta(double rate, double divisor) override;
  void apply_parts(double rate, double divisor, std::span<const ElementRange> parts) override;
  void begin_outer(const OuterUpdate& update, const std::vector<std::vector<int>>& fragments) override;
  void take_deltas(int fragment) override;
  void apply_deltas(int fragment, int ranks) override;
  double loss() const override;

  /// Keeps a copy of the model as it is, numbered from 0. \pre there is data, for the next two as well
  void keep_state();
  /// Judges the model as it is, or as it was kept; then it is no model to train any more.
  Judged judge();
  Judged judge_kept(int number);

  /// Of what ranks agree on.
  std::uint64_t digest() const override;
  void walk(StateWalk& state) override;
  /// A copy of what ranks agree on, in forward order: what outer updates start from, or without such all parameters.
  std::vector<float> agreed() const;
  /// A copy of all parameters, in forward order.
  std::vector<float> parameters() const;

 private:
  struct Samples;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hbench

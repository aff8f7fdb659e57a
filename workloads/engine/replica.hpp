#pragma once

/// One worker's copy of a model, with its data: all that LibTorch does, and none of its types.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/device/device.hpp"
#include "workloads/engine/layout.hpp"
#include "workloads/models/models.hpp"
#include "workloads/precision.hpp"

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
};

/// Used by the thread that made it: LibTorch's thread count belongs to that thread. On a GPU the calls enqueue work and
/// return before it is done. Errors of LibTorch become Error (environment).
class Replica {
 public:
  Replica(const ModelEntry& entry, const ReplicaOptions& options);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// Trains nothing; finds out in which order the gradients become ready, on the smallest images.
  GradientLayout record_layout();
  /// From now on gradients are copied to `memory`, of `layout.total()` elements on this replica's device, and tensors
  /// are counted as in `layout`. The memory outlives the replica.
  void lay_out(const GradientLayout& layout, std::span<float> memory);
  /// Without a layout, tensors are counted as parameters are, in forward order.
  std::vector<std::string> tensor_names() const;
  std::vector<std::int64_t> tensor_elements() const;
  /// Where the model computes: its events say when enqueued work is done.
  Device& device();

  /// One forward and backward pass that nobody uses: on a GPU, libraries look for their fastest kernels, load them and
  /// take their memory before a step is timed, and before another rank's collective would have to wait for that.
  void rehearse();
  /// Drops the gradients and computes the loss of the data of step `step`.
  void forward(int step);
  /// Computes the gradients of the loss times `scale`; `ready(tensor)` is called, by one thread at a time, once
  /// all work of that gradient is enqueued. An empty function leaves the backward pass alone.
  void backward(const std::function<void(int)>& ready, double scale = 1);
  /// Whether no gradient is infinite or NaN. Waits for the device.
  bool gradients_are_finite() const;
  /// Stochastic gradient descent: parameter -= rate * gradient.
  void apply(double rate);
  /// That of the last forward pass. Returns when all enqueued work is done.
  double loss() const;

  std::uint64_t digest() const;
  /// A copy of all parameters, in forward order.
  std::vector<float> parameters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hbench

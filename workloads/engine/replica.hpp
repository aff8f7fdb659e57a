#pragma once

/// One worker's copy of a model, with its data: all that LibTorch does, and none of its types.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/engine/layout.hpp"
#include "workloads/models/models.hpp"

namespace hbench {

struct ReplicaOptions {
  int batch = 16;
  int image_size = 64;
  unsigned seed = 1;  ///< of parameters and data
  int rank = 0;
  int workers = 1;
  bool freeze_batch_norm = false;
  int threads = 1;
};

/// Used by the thread that made it: LibTorch's thread count belongs to that thread. Errors of LibTorch become
/// Error (environment).
class Replica {
 public:
  Replica(const ModelEntry& entry, const ReplicaOptions& options);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// Trains nothing; finds out in which order the gradients become ready, on the smallest images.
  GradientLayout record_layout();
  /// From now on gradients live in one buffer, and tensors are counted as in `layout`.
  void lay_out(const GradientLayout& layout);
  /// Without a layout, tensors are counted as parameters are, in forward order.
  std::vector<std::string> tensor_names() const;
  std::vector<std::int64_t> tensor_elements() const;
  /// Empty without a layout.
  std::span<float> gradients();

  /// Drops the gradients and computes the loss of the data of step `step`.
  double forward(int step);
  /// Computes the gradients of the loss; `ready(tensor)` is called, on this thread, as each is complete. An
  /// empty function leaves the backward pass alone.
  void backward(const std::function<void(int)>& ready);
  /// Stochastic gradient descent: parameter -= rate * gradient.
  void apply(double rate);

  std::uint64_t digest() const;
  /// A copy of all parameters, in forward order.
  std::vector<float> parameters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hbench

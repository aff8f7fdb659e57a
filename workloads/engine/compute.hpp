#pragma once

/// What a worker does between exchanges: it computes gradients and applies their sums.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectives/device/device.hpp"
#include "workloads/engine/memories.hpp"
#include "workloads/optimizers/optimizer.hpp"

namespace hbench {

/// Passes of one unit of the model (`StepPlan::units`) at a time, of a worker that can be stopped between them. Forward
/// from the first unit, then backward from the last one.
class UnitPasses {
 public:
  virtual ~UnitPasses() = default;
  virtual const std::vector<std::vector<int>>& units() const = 0;
  virtual void forward(int batch, int unit) = 0;
  virtual void backward(int unit) = 0;
  /// The next pass waited for others so long.
  virtual void held_up(Seconds by) = 0;
};

/// One worker's. A model that LibTorch trains (`replica.hpp`), or the replay of a recorded timeline (`replay.hpp`).
/// Used by one thread at a time, step after step: `forward`, `backward`, `apply` or `apply_parts`, `take_deltas` and
/// `apply_deltas`, `loss`. On a GPU the calls enqueue work and return before it is done.
class Compute {
 public:
  virtual ~Compute() = default;
  /// Trains nothing; says in which order the gradients become ready.
  virtual GradientLayout record_layout() = 0;
  /// From now on gradients are left in `memory`, of `layout.total()` elements on this worker's device, and tensors are
  /// counted as in `layout`; so are parameters, where there is memory for them. The memory outlives the worker.
  virtual void lay_out(const GradientLayout& layout, const ModelMemory& memory) = 0;
  /// Where it computes: its events say when enqueued work is done.
  virtual Device& device() = 0;
  /// One forward and backward pass that nobody uses: on a GPU, libraries look for their fastest kernels, load them and
  /// take their memory before a step is timed, and before another rank's collective would have to wait for that.
  virtual void warm_up() = 0;
  /// Whether the next passes add their gradients to those that are there, and do not take their places.
  virtual void add_gradients(bool adds) = 0;
  /// Reads a batch by its number, which the next `forward` is of and would read itself otherwise. Returns whether there
  /// was anything to read: what is drawn is there from the beginning.
  virtual bool fetch(int) { return false; }
  /// Drops the gradients, unless the next ones are added to them, and computes the loss of a batch by its number.
  virtual void forward(int batch) = 0;
  /// Computes the gradients of the loss times `scale`; `ready(tensor)` is called, by one thread at a time, once all
  /// work of that gradient is enqueued. An empty function leaves the backward pass alone.
  virtual void backward(const std::function<void(int)>& ready, double scale) = 0;
  /// In the place of `forward` and `backward`; null where a pass is never stopped.
  virtual UnitPasses* by_units() { return nullptr; }
  /// From now on passes leave momenta in the place of gradients, which are sums and are divided by `divisor`; 0: they
  /// leave gradients. \pre a step of an optimizer that has a `MomentumStep` was done
  virtual void leave_momenta(double divisor) = 0;
  /// Whether no gradient is infinite or NaN. Waits for the device.
  virtual bool gradients_are_finite() const = 0;
  /// A step of the optimizer by the gradients, which are sums and are divided by `divisor`.
  virtual void apply(double rate, double divisor) = 0;
  /// A step by momenta, which are sums as well.
  virtual void apply_momenta(double rate, double divisor) = 0;
  /// `apply` for these parts of the memory alone. \pre parameters lie in memory that was given; parts are always the
  /// same where the optimizer keeps state, which is there for them alone.
  virtual void apply_parts(double rate, double divisor, std::span<const ElementRange> parts) = 0;
  /// From now on ranks agree by outer updates, and begin with the parameters as they are. \param fragments the tensors
  /// that each of them is of
  virtual void begin_outer(const OuterUpdate& update, const std::vector<std::vector<int>>& fragments) = 0;
  /// Leaves what the parameters of a fragment have changed by since its last outer update where deltas lie.
  /// \pre begin_outer
  virtual void take_deltas(int fragment) = 0;
  /// The outer update of a fragment, by the sum of the deltas of `ranks`, which lies there. \pre take_deltas
  virtual void apply_deltas(int fragment, int ranks) = 0;
  /// That of the last forward pass. Returns when all enqueued work is done.
  virtual double loss() const = 0;
  /// Of the state that training has left, which is equal on all workers after a cycle of the plan: of what the next
  /// outer updates start from where there are such.
  virtual std::uint64_t digest() const = 0;
  /// All that the next steps depend on: parameters, the optimizer's state, what is drawn from. \pre `lay_out` and
  /// `begin_outer` were called where they will be
  virtual void walk(StateWalk&) {}
};

}  // namespace hbench

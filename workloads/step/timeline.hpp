#pragma once

/// A training step as the network sees it: plain data, recorded or computed, no model code.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench {

/// One gradient, in backward order.
struct GradientEvent {
  std::string tensor;
  std::int64_t elements = 0;
  /// Since the backward pass began, undisturbed by communication.
  Seconds ready;
};

/// A model of equal blocks of layers, with an embedding before them and an output layer after them.
struct EqualBlocks {
  int count = 0;
  double share = 0;     ///< of each pass, in one block
  double elements = 0;  ///< of the gradients of one
  /// The same of the embedding, and of the output layer, which has a copy of the words where it shares them.
  double before = 0, after = 0;
  double passed_on = 0;  ///< bytes that a block passes on to the next, of a sample
};

/// One undisturbed step on one GPU, without communication.
struct StepTimeline {
  int batch = 1;     ///< samples per step
  Seconds forward;   ///< until the backward pass begins
  Seconds backward;  ///< from there to its end; with the optimizer's time where `update` is 0
  Seconds update;    ///< what begins only after the last gradient was reduced: the optimizer's; or 0
  std::vector<GradientEvent> gradients;  ///< ready times ascending, at most `backward`
  /// Micro-batches of the step, where passes are of one each and follow each other; the batch, the passes and the
  /// gradients are one's.
  int micro_batches = 1;
  std::optional<EqualBlocks> blocks = {};  ///< where the model is known to be made so
  /// Bytes of a parameter that a unit gathers for each byte of its gradient: half as many where passes compute in 16
  /// bits and gradients are added up in float32.
  double gathered = 1;
  /// The time in which memory moves one number of each parameter; 0: not known.
  Seconds memory_pass;

  /// The size of each gradient.
  std::vector<std::int64_t> elements() const;
  std::int64_t all_elements() const;
  /// Returns the time of all forward and backward passes, beside which gradients travel.
  Seconds passes() const { return (forward + backward) * micro_batches; }
  Seconds step() const { return passes() + update; }
  double samples_per_second() const { return batch * micro_batches / step().value; }
  /// Returns the same step at another speed and batch: every time scaled so that `samples_per_second() == rate`. The
  /// passes grow with the batch, and the update, whose work is that of the parameters, does not.
  StepTimeline rescaled(double rate, int new_batch) const;
  /// Returns a step of as many micro-batches like this one, whose gradients are added up. They travel with the last
  /// one, so that the passes of all others count as forward.
  StepTimeline accumulated(int count) const;
  /// Returns a step of as many micro-batches like this one, which all exchange something.
  StepTimeline repeated(int count) const;
  /// Returns the same step where the backward pass repeats a share of the forward pass, evenly over its layers.
  StepTimeline recomputed(double share_of_forward) const;
  /// Returns the same step with gradients in 16 bits: to all that carries gradients these are half as many numbers of 4
  /// bytes.
  StepTimeline with_half_gradients() const;
  /// Returns the same step with the update as the end of the backward pass, for those who apply gradients one by one.
  StepTimeline merged() const;
};

/// Returns the tensors of each unit, by their places in the timeline, in the order of the forward pass: a block of
/// layers, which fully sharded training gathers, and frees, at once. Tensors whose names are the same up to their first
/// number (`h11.mlp.fc.weight`, `h11.ln_1.bias`) are of one unit, as those who wrap each block of a transformer have
/// them; so are those without a number that follow each other. A unit of less than a tenth of the middle one joins its
/// neighbour: nobody gathers a norm alone.
std::vector<std::vector<int>> model_units(const StepTimeline& timeline);

/// How long the backward pass of a unit takes: until the last of its gradients, since the last of the units after it.
/// The first unit of the model has the end of the pass. Its forward pass takes the same share of the whole.
Seconds backward_of(const std::vector<std::vector<int>>& units, std::size_t unit, const StepTimeline& timeline);

/// Returns the elements of a unit.
std::int64_t elements_of(const std::vector<int>& unit, const StepTimeline& timeline);

}  // namespace hbench

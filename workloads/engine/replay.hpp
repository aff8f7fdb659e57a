#pragma once

/// Plays a recorded step again instead of computing it: gradients of the right sizes are ready at the recorded times.

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "workloads/engine/compute.hpp"
#include "workloads/methods/method.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// One worker's replay. Waits by sleeping, with a spin at the end. Gradients, and parameters where they travel, are
/// integers that depend on the worker, the step and the position, whose sums and means over all workers are exact in
/// float32. Some of every step's are compared, others in each, and all of the last step's.
class Replay final : public Compute, private UnitPasses {
 public:
  /// Whether this rank has a collective in flight: asked now and then while it computes, by the compute thread.
  using Communicating = std::function<bool()>;

  /// \param exact whether gradients travel as they are; else nothing is compared.
  /// \param plan of the job: what travels in which step
  Replay(const ReplayRequest& request, Rank rank, int workers, bool exact,
         StepPlan plan = parse_method("synchronous").plan(true));

  void watch(Communicating communicating) { communicating_ = std::move(communicating); }

  GradientLayout record_layout() override;
  void lay_out(const GradientLayout& layout, const ModelMemory& memory) override;
  Device& device() override;
  void warm_up() override {}
  void add_gradients(bool) override {}  // the timeline of a step has its micro-batches
  void forward(int step) override;
  void backward(const std::function<void(int)>& ready, double scale) override;
  /// Where passes are of units.
  UnitPasses* by_units() override { return passes_by_unit(plan_) ? this : nullptr; }
  void leave_momenta(double) override {}
  bool gradients_are_finite() const override { return true; }
  /// Takes the timeline's update, at the recorded pace on all ranks. \throws Error as `compare`.
  void apply(double rate, double divisor) override;
  void apply_momenta(double rate, double divisor) override;
  /// Takes this rank's share of it.
  void apply_parts(double rate, double divisor, std::span<const ElementRange> parts) override;
  void begin_outer(const OuterUpdate&, const std::vector<std::vector<int>>& fragments) override {
    fragments_ = fragments;
    taken_.assign(fragments.size(), 0);
  }
  /// Leaves integers as gradients are.
  void take_deltas(int fragment) override;
  /// Compares some of the sums, and updates nothing: there are no parameters. \throws Error as `compare`.
  void apply_deltas(int fragment, int ranks) override;
  double loss() const override { return 0; }
  /// Of the last sums or parameters, all of which are compared again. \throws Error as `compare`.
  std::uint64_t digest() const override;

  /// What the replay itself took of its core so far: filling, comparing, and waking up.
  Seconds processor_time() const { return processor_time_; }

 private:
  using Clock = std::chrono::steady_clock;

  const std::vector<std::vector<int>>& units() const override { return plan_.units; }
  void forward(int step, int unit) override;
  void backward(int unit) override;
  void held_up(Seconds by) override {
    at_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(by.value));
  }

  void begin_step(int step);
  /// Leaves a gradient when its time has come.
  void make_gradient(int tensor);
  /// Returns once `work` of this step's compute is done, in recorded time without the wait for gradients.
  void compute_until(Seconds work);
  /// Leaves `times` the pattern of this step in a range of the buffer.
  void fill(std::span<float> buffer, ElementRange range, float times);
  /// What is in a buffer once ranks have exchanged: a multiple of the pattern of a step.
  struct Expected {
    std::span<const float> buffer;
    float times = 1;
    const char* what = "sum";
    int step = 0;  ///< whose pattern it is
  };
  Expected sums() const;
  Expected parameters() const;
  Expected deltas(int fragment) const;
  /// The means with neighbours that this step's update began with.
  Expected means() const;
  /// Of ranks that keep their own parts alone, gathered before a pass: those of the step before.
  Expected gathered() const;
  std::uint64_t digest_deltas() const;
  float mean_times() const;  ///< of a mean over all workers
  /// What a rank leaves in the place of parameters, by its pattern: means of few ranks are exact, too.
  float parameter_times(Rank rank) const;
  /// Whether an exchange of this step leaves all parameters the same on all ranks.
  bool exchanges_parameters() const;
  bool averages_parameters() const;
  /// Where the tensor lies.
  ElementRange range_of(int tensor) const {
    return {offsets_[static_cast<std::size_t>(tensor)], offsets_[static_cast<std::size_t>(tensor) + 1]};
  }
  /// \throws Error as `compare`
  void compare_gathered(int unit);
  /// Whether what was gathered for the forward pass of a unit is freed after it.
  bool frees(int unit) const;
  void forget_some(int unit);
  /// Those runs of a range that are looked at in this step.
  template <class Use>
  void for_some_runs(ElementRange within, Use use) const;
  void compare_some(const Expected& expected, ElementRange within) const;
  /// \throws Error (wrong_data) that names the first element that is wrong.
  void compare(const Expected& expected, ElementRange range) const;

  const ReplayRequest& request_;
  Rank rank_;
  int workers_;
  bool exact_;
  StepPlan plan_;
  float scale_;  ///< of all contributions: lossy codecs of 16 bits have no large numbers
  Communicating communicating_;
  std::vector<std::int64_t> offsets_;
  ModelMemory memory_;
  std::vector<ElementRange> own_;            ///< the parts that the last update was of
  std::vector<std::vector<int>> fragments_;  ///< as `begin_outer` has them
  std::vector<int> taken_;                   ///< by fragment: the step whose deltas were taken last
  int step_ = 0;
  double pace_ = 1;       ///< of this rank in this step: how much longer than recorded it computes
  Seconds forward_;       ///< of the step's units so far
  Seconds done_;          ///< of the step's compute, in recorded time
  Clock::time_point at_;  ///< when that was done
  Seconds processor_time_;
};

}  // namespace hbench

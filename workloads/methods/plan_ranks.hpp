#pragma once

/// What ranks and servers hold while the proof of a plan walks it: symbols in the place of numbers.

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workloads/methods/step_plan.hpp"

namespace hbench {

/// A gradient's rank and micro-batch, counted over all iterations, and how much of it is in a number.
using Sum = std::map<std::pair<int, int>, double>;

inline constexpr double kRounding = 1e-9;  ///< of shares

inline void add(Sum& to, const Sum& what, double weight = 1) {
  for (const auto& [gradient, share] : what) to[gradient] += weight * share;
}

/// What a rank holds of one part of a unit of the model.
struct Held {
  Sum parameters, gradients, deltas;
  Sum reduced;               ///< gradients of earlier micro-batches, which have been reduced
  Sum original;              ///< the parameters after the last outer update
  std::optional<Sum> aside;  ///< the mean of parameters that an apply task takes
  bool defined = false;      ///< the gradients
  bool has_deltas = false;
  int newest = -1;     ///< the last iteration whose gradients of all ranks the parameters have
  bool there = true;   ///< the parameters
  bool frees = false;  ///< the next pass frees the parameters, where they are not the rank's own
};

/// Leaves out what rounding has left of nothing.
inline void drop_nothing(Sum& sum) {
  std::erase_if(sum, [](const auto& each) { return std::abs(each.second) < kRounding; });
}

/// All ranks. Each unit has as many parts as there are ranks; rank r owns part r of each, or of parts that are shared
/// out within groups those of its place. Without units the model is one.
class PlanRanks {
 public:
  PlanRanks(const StepPlan& plan, int ranks)
      : ranks_(ranks),
        parts_(ranks * std::max(1, static_cast<int>(plan.units.size()))),
        sharded_(hbench::sharded(plan)),
        held_(static_cast<std::size_t>(ranks * parts_)),
        servers_(static_cast<std::size_t>(parts_)) {
    free_all();
  }

  int ranks() const { return ranks_; }
  int parts() const { return parts_; }
  Held& held(int rank, int part) { return held_[static_cast<std::size_t>(rank * parts_ + part)]; }
  Sum& server(int part) { return servers_[static_cast<std::size_t>(part)]; }
  bool owns(int rank, int part) const { return is_of(rank, part, sharded_.groups); }
  /// Whether it is the rank's, where parts are shared out among these groups.
  bool is_of(int rank, int part, const RankGroups& groups) const {
    return part % groups.size_among(ranks_) == groups.place(rank, ranks_);
  }
  /// Each rank keeps its own part of the parameters alone.
  bool sharded() const { return sharded_.parameters; }
  /// Where parameters are sharded they are left with their owners alone.
  void free_all() {
    for (int rank = 0; rank < ranks_; ++rank)
      for (int part = 0; part < parts_; ++part) held(rank, part).there = !sharded() || owns(rank, part);
  }
  bool is_of(const Task& task, int part) const { return task.unit == Task::kWhole || part / ranks_ == task.unit; }
  /// Calls `use(rank, part)` for the parts that the task is of.
  template <class Use>
  void for_all(const Task& task, Use use) {
    for (int rank = 0; rank < ranks_; ++rank)
      for (int part = 0; part < parts_; ++part)
        if (is_of(task, part)) use(rank, part);
  }

 private:
  int ranks_, parts_;
  Sharded sharded_;
  std::vector<Held> held_;    ///< by rank and part
  std::vector<Sum> servers_;  ///< what they hold, by part
};

/// Adds gradients to parameters. Returns which of them they had before; empty where all is well.
/// \param micro_batches of an iteration
std::string apply_to(Sum& parameters, const Sum& gradients, int micro_batches, double weight = 1);

/// What an exchange does to a part of the model. Returns what is wrong with it, without its name; empty where nothing
/// is. \pre the task is a collective of `plan`
std::string exchange(PlanRanks& ranks, const StepPlan& plan, const Task& task, int part, int iteration);

}  // namespace hbench

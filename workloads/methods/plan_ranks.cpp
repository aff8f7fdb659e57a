#include "workloads/methods/plan_ranks.hpp"

#include <fmt/format.h>

namespace hbench {
namespace {

/// One exchange of one part.
class Exchanging {
 public:
  Exchanging(PlanRanks& ranks, const Task& task, int part) : ranks_(ranks), task_(task), part_(part) {}

  /// One rank after the other, which is one of the orders that are possible; `bound` alone limits the others.
  std::string with_servers(int micro_batches) {
    Sum& server = ranks_.server(part_);
    for (int rank = 0; rank < ranks_.ranks(); ++rank) {
      Held& mine = held(rank);
      if (!mine.defined) return lacks("gradients", rank);
      if (std::string wrong = apply_to(server, mine.gradients, micro_batches); !wrong.empty()) return wrong;
      mine.defined = false;
    }
    return {};
  }

  void with_some(int iteration) {
    const int all = ranks_.ranks();
    const bool neighbours = task_.among == Among::neighbours;
    for (int rank = 0; rank < all; ++rank) {
      std::vector<int> with{rank};
      if (neighbours) std::ranges::copy(neighbours_of(rank, all), std::back_inserter(with));
      // Pairs of neighbours stand for pairs that are drawn; of an odd number one is alone.
      const int partner = (rank + iteration) % 2 == 0 ? rank + 1 : rank - 1;
      if (!neighbours && partner >= 0 && partner < all) with.push_back(partner);
      Sum mean;
      for (const int other : with) add(mean, held(other).parameters, 1.0 / static_cast<double>(with.size()));
      held(rank).aside = std::move(mean);
    }
  }

  std::string of_deltas() {
    Sum mean;
    for (int rank = 0; rank < ranks_.ranks(); ++rank) {
      if (!held(rank).has_deltas) return lacks("deltas", rank);
      add(mean, held(rank).deltas, 1.0 / ranks_.ranks());
    }
    drop_nothing(mean);
    for (int rank = 0; rank < ranks_.ranks(); ++rank) held(rank).deltas = mean;
    return {};
  }

  std::string of_gradients() {
    for (const std::vector<Rank>& group : groups())
      if (!task_.part_among || ranks_.is_of(group.front(), part_, *task_.part_among))
        if (std::string wrong = of_gradients(group); !wrong.empty()) return wrong;
    return {};
  }

  std::string of_parameters() {
    const CollectiveKind kind = task_.collective;
    if (kind == CollectiveKind::reduce_scatter) return "leaves parameters undefined";
    for (const std::vector<Rank>& group : groups()) {
      Sum next;
      const double share = kind == CollectiveKind::all_reduce ? 1.0 / static_cast<double>(group.size()) : 1;
      for (const Rank rank : group) {
        if (kind != CollectiveKind::all_reduce && !is_source(rank)) continue;
        if (!held(rank).there) return lacks("parameters", rank);
        add(next, held(rank).parameters, share);
      }
      for (const Rank rank : group) {
        held(rank).parameters = next;
        held(rank).there = true;
      }
    }
    for (int rank = 0; rank < ranks_.ranks(); ++rank) held(rank).frees = task_.frees;
    return {};
  }

 private:
  Held& held(int rank) { return ranks_.held(rank, part_); }
  static std::string lacks(std::string_view what, int rank) {
    return fmt::format("sends {} that rank {} lacks", what, rank);
  }
  /// The groups of the task, in each of which it is done.
  std::vector<std::vector<Rank>> groups() const { return task_.groups.members(ranks_.ranks()); }
  /// Whether all get the rank's data.
  bool is_source(Rank rank) const {
    return task_.collective == CollectiveKind::broadcast ? task_.groups.place(rank, ranks_.ranks()) == 0
                                                         : ranks_.is_of(rank, part_, task_.groups);
  }

  std::string of_gradients(const std::vector<Rank>& group) {
    const CollectiveKind kind = task_.collective;
    Sum sum;
    for (const Rank rank : group) {
      const bool needed = reduces(kind) || is_source(rank);
      if (needed && !held(rank).defined) return lacks("gradients", rank);
      if (needed) add(sum, held(rank).gradients);
    }
    if (std::ranges::any_of(sum, [](const auto& each) { return each.second > 1 + kRounding; }))
      return "adds up what is a sum already";
    for (const Rank rank : group) {
      held(rank).defined = kind != CollectiveKind::reduce_scatter || ranks_.is_of(rank, part_, task_.groups);
      held(rank).gradients = sum;
      add(held(rank).gradients, std::exchange(held(rank).reduced, {}));
    }
    return {};
  }

  PlanRanks& ranks_;
  const Task& task_;
  int part_;
};

}  // namespace

std::string apply_to(Sum& parameters, const Sum& gradients, int micro_batches, double weight) {
  for (const auto& [gradient, share] : gradients)
    if (parameters.contains(gradient))
      return fmt::format("applies the gradient of rank {} in iteration {} a second time", gradient.first,
                         gradient.second / micro_batches);
  add(parameters, gradients, weight);
  return {};
}

std::string exchange(PlanRanks& ranks, const StepPlan& plan, const Task& task, int part, int iteration) {
  Exchanging exchanging(ranks, task, part);
  if (task.among == Among::servers) return exchanging.with_servers(plan.micro_batches);
  if (task.among != Among::all) {
    exchanging.with_some(iteration);
    return {};
  }
  switch (task.carried) {
    case Carried::deltas:
      return exchanging.of_deltas();
    case Carried::gradients:
    case Carried::momenta:  // of gradients of this iteration as of all before
      return exchanging.of_gradients();
    case Carried::parameters:
      return exchanging.of_parameters();
  }
  return {};
}

}  // namespace hbench

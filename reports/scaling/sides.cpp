#include "reports/scaling/sides.hpp"

#include <algorithm>
#include <tuple>

namespace hbench {
namespace {

/// One percentage point: less is within the rounding of what reports print.
constexpr double kLevel = 0.01;

/// What two points must share to be compared.
auto question_of(const Case& asked) {
  return std::tie(asked.evidence, asked.workload, asked.image_size, asked.gpus, asked.batch_per_gpu, asked.profile,
                  asked.training.device, asked.training.precision);
}

const Point* most_efficient(const Pointers& points) {
  const auto found = std::ranges::max_element(points, {}, efficiency_of);
  return found == points.end() ? nullptr : *found;
}

const Point* best_of(const Pointers& points, bool with_servers) {
  const auto of_side = [&](const Point* point) { return point->asked.strategy.uses_servers() == with_servers; };
  const auto plain = [](const Point* point) { return !point->asked.strategy.compresses(); };
  const Pointers side = filtered(points, of_side), uncompressed = filtered(side, plain);
  return most_efficient(uncompressed.empty() ? side : uncompressed);
}

}  // namespace

const Point& BestOfSides::better() const {
  if (!both()) return servers ? *servers : *all_reduce;
  return lead_of_servers() > 0 ? *servers : *all_reduce;
}

const Point* BestOfSides::other() const {
  if (!both()) return nullptr;
  return &better() == servers ? all_reduce : servers;
}

std::vector<BestOfSides> best_of_sides(const Pointers& points) {
  std::vector<Pointers> questions;
  for (const Point* point : points) {
    const auto same = [&](const Pointers& group) {
      const Case& known = group.front()->asked;
      return question_of(known) == question_of(point->asked) && known.nodes_label() == point->asked.nodes_label();
    };
    auto group = std::ranges::find_if(questions, same);
    if (group == questions.end()) group = questions.insert(questions.end(), Pointers{});
    group->push_back(point);
  }
  std::vector<BestOfSides> sides;
  for (const Pointers& group : questions) sides.push_back({best_of(group, false), best_of(group, true)});
  std::ranges::stable_sort(sides, std::ranges::greater{},
                           [](const BestOfSides& side) { return *side.better().efficiency; });
  return sides;
}

bool clearly_ahead(const Point& a, const Point& b) {
  if (*a.efficiency - *b.efficiency < kLevel) return false;
  const bool intervals = a.efficiency_low && b.efficiency_high;
  return !intervals || *a.efficiency_low > *b.efficiency_high;
}

const Point* other_placement(const Pointers& points, const Point& servers) {
  return most_efficient(filtered(points, [&](const Point* point) {
    const Strategy& strategy = point->asked.strategy;
    return question_of(point->asked) == question_of(servers.asked) && strategy.uses_servers() &&
           strategy.compressor == servers.asked.strategy.compressor &&
           strategy.holds_slices() != servers.asked.strategy.holds_slices();
  }));
}

}  // namespace hbench

#include "reports/scaling/headline.hpp"

#include <algorithm>
#include <cmath>

namespace hbench {
namespace {

int gpus_of(const Point* point) { return point->asked.gpus; }

int most_gpus(const Pointers& points) {
  return points.empty() ? 0 : gpus_of(*std::ranges::max_element(points, {}, gpus_of));
}

Pointers of_evidence(const Pointers& points, Evidence evidence) {
  return filtered(points, [&](const Point* point) { return point->asked.evidence == evidence; });
}

/// Points of the evidence that speaks for these, at its largest GPU count.
Pointers speaking(const Pointers& points) {
  Pointers chosen;
  for (Evidence evidence : {Evidence::measured, Evidence::emulated, Evidence::simulated}) {
    Pointers candidates = of_evidence(points, evidence);
    if (most_gpus(candidates) > most_gpus(chosen)) chosen = std::move(candidates);
  }
  if (chosen.empty()) chosen = points;
  return filtered(chosen, [most = most_gpus(chosen)](const Point* point) { return gpus_of(point) == most; });
}

/// Between the best configurations of either side, over all networks. What nobody would choose does not count.
double spread(const Pointers& points) {
  if (points.empty()) return -1;
  double low = INFINITY, high = -INFINITY;
  for (const BestOfSides& sides : best_of_sides(points))
    for (const Point* point : {sides.all_reduce, sides.servers}) {
      if (point == nullptr) continue;
      low = std::min(low, efficiency_of(point));
      high = std::max(high, efficiency_of(point));
    }
  return high - low;
}

Pointers scaling_points(const std::vector<Point>& points) {
  Pointers pointers;
  for (const Point& point : points)
    if (shows_scaling(point)) pointers.push_back(&point);
  return pointers;
}

Pointers of_subject(const Pointers& points, const Subject& subject) {
  return filtered(points, [&](const Point* point) { return subject_of(point->asked) == subject; });
}

std::vector<Subject> subjects_of(const std::vector<Point>& points) {
  std::vector<Subject> subjects;
  for (const Point& point : points)
    if (const Subject subject = subject_of(point.asked); std::ranges::find(subjects, subject) == subjects.end())
      subjects.push_back(subject);
  return subjects;
}

bool same_label(const Point& a, const Point& b) { return a.asked.strategy.label() == b.asked.strategy.label(); }

/// The least efficient strategy where `best` is, beside it; null where there is none that is less efficient.
const Point* least_beside(const Point& best, const Pointers& points) {
  const Pointers others = filtered(points, [&](const Point* point) {
    return !same_label(*point, best) && point->asked.profile == best.asked.profile &&
           *point->efficiency < *best.efficiency;
  });
  const auto found = std::ranges::min_element(others, {}, efficiency_of);
  return found == others.end() ? nullptr : *found;
}

/// \pre points are not empty and of one subject, evidence and GPU count.
Headline headline_of(const Pointers& points) {
  Headline headline{best_of_sides(points)};
  if (std::ranges::none_of(headline.networks, &BestOfSides::both))
    headline.worst = least_beside(headline.hardest().better(), points);
  return headline;
}

}  // namespace

const BestOfSides* Headline::servers_lead() const {
  const BestOfSides* most = nullptr;
  for (const BestOfSides& sides : networks)
    if (sides.both() && clearly_ahead(*sides.servers, *sides.all_reduce) &&
        (most == nullptr || sides.lead_of_servers() > most->lead_of_servers()))
      most = &sides;
  return most;
}

bool shows_scaling(const Point& point) {
  return !point.failed && point.asked.strategy.communicates() && point.efficiency && std::isfinite(*point.efficiency);
}

Subject subject_of(const Case& asked) { return {asked.workload, asked.image_size}; }

std::optional<Headline> find_headline(const std::vector<Point>& points) {
  const Pointers speakers = speaking(scaling_points(points));
  Pointers widest;
  for (const Subject& subject : subjects_of(points))
    if (Pointers candidates = of_subject(speakers, subject); spread(candidates) > spread(widest))
      widest = std::move(candidates);
  if (widest.empty()) return std::nullopt;
  return headline_of(widest);
}

std::optional<Headline> find_headline(const std::vector<Point>& points, const Subject& subject) {
  const Pointers speakers = speaking(of_subject(scaling_points(points), subject));
  if (speakers.empty()) return std::nullopt;
  return headline_of(speakers);
}

std::vector<Subject> subjects_by_spread(const std::vector<Point>& points) {
  const Pointers scaling = scaling_points(points);
  const auto spread_of = [&](const Subject& subject) { return spread(speaking(of_subject(scaling, subject))); };
  std::vector<Subject> subjects = subjects_of(points);
  std::ranges::stable_sort(subjects, std::ranges::greater{}, spread_of);
  if (const auto headline = find_headline(points)) {
    const auto first = std::ranges::find(subjects, subject_of(headline->best().asked));
    std::rotate(subjects.begin(), first, first + 1);
  }
  return subjects;
}

}  // namespace hbench

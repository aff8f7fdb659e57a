#include "reports/scaling_headline.hpp"

#include <algorithm>
#include <cmath>

namespace hbench {
namespace {

using Pointers = std::vector<const Point*>;

Pointers filtered(const Pointers& points, auto keep) {
  Pointers kept;
  std::ranges::copy_if(points, std::back_inserter(kept), keep);
  return kept;
}

double efficiency_of(const Point* point) { return *point->efficiency; }
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

double spread(const Pointers& points) {
  if (points.empty()) return -1;
  const auto [low, high] = std::ranges::minmax_element(points, {}, efficiency_of);
  return efficiency_of(*high) - efficiency_of(*low);
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

/// What people mean by a strategy: no more machines than the workers', plain gradients, hidden where they can be.
bool is_plain(const Point* point) {
  const Strategy& strategy = point->asked.strategy;
  return (strategy.compressor.empty() || strategy.compressor == "none") && strategy.server_mode != "dedicated" &&
         strategy.overlap;
}

Pointers plain_if_any(const Pointers& points) {
  Pointers plain = filtered(points, is_plain);
  return plain.empty() ? points : plain;
}

bool same_label(const Point* a, const Point* b) { return a->asked.strategy.label() == b->asked.strategy.label(); }

/// The least efficient of `points`, if it is less efficient than `than`.
const Point* least(const Pointers& points, const Point* than) {
  const auto found = std::ranges::min_element(points, {}, efficiency_of);
  return found != points.end() && efficiency_of(*found) < efficiency_of(than) ? *found : nullptr;
}

/// \pre points are not empty and of one subject, evidence and GPU count.
Headline headline_of(const Pointers& points) {
  const Pointers plain = plain_if_any(points);
  const Point* best = *std::ranges::max_element(plain, {}, efficiency_of);
  const auto same_elsewhere = [&](const Point* point) {
    return same_label(point, best) && point->asked.profile != best->asked.profile;
  };
  const Point* elsewhere = least(filtered(points, same_elsewhere), best);
  const Point* there = elsewhere ? elsewhere : best;
  const auto other_there = [&](const Point* point) {
    return !same_label(point, best) && point->asked.profile == there->asked.profile;
  };
  return {best, elsewhere, least(plain_if_any(filtered(points, other_there)), there)};
}

}  // namespace

bool shows_scaling(const Point& point) {
  return !point.failed && point.asked.strategy.algorithm != "none" && point.efficiency &&
         std::isfinite(*point.efficiency);
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
    const auto first = std::ranges::find(subjects, subject_of(headline->best->asked));
    std::rotate(subjects.begin(), first, first + 1);
  }
  return subjects;
}

}  // namespace hbench

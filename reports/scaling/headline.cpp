#include "reports/scaling/headline.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/points/lead.hpp"

namespace hbench {
namespace {

int gpus_of(const Point* point) { return point->asked.gpus; }

int most_gpus(const Pointers& points) {
  return points.empty() ? 0 : gpus_of(*std::ranges::max_element(points, {}, gpus_of));
}

Pointers of_evidence(const Pointers& points, Evidence evidence) {
  return filtered(points, [&](const Point* point) { return point->asked.evidence == evidence; });
}

Pointers at_most_gpus(const Pointers& points) {
  return filtered(points, [most = most_gpus(points)](const Point* point) { return gpus_of(point) == most; });
}

/// Points of the evidence that speaks for these, at its largest GPU count.
Pointers speaking(const Pointers& points) {
  Pointers chosen;
  for (const EvidenceKind& kind : kEvidenceKinds) {
    if (kind.of_others) continue;
    Pointers candidates = of_evidence(points, kind.evidence);
    if (most_gpus(candidates) > most_gpus(chosen)) chosen = std::move(candidates);
  }
  if (chosen.empty()) chosen = points;
  return at_most_gpus(chosen);
}

/// Those of the batch that the most networks have, of several the one with the most points, and then the largest: what
/// has another one is no rival of theirs.
Pointers of_one_batch(const Pointers& points) {
  struct Use {
    std::set<std::string> networks;
    int points = 0;
  };
  const auto batch_of = [](const Point* point) {
    const Case& asked = point->asked;
    return std::tuple(asked.global_batch == 0, asked.batch_per_gpu, asked.accumulate, asked.global_batch);
  };
  std::map<decltype(batch_of(nullptr)), Use> uses;
  for (const Point* point : points) {
    Use& use = uses[batch_of(point)];
    use.networks.insert(point->asked.profile);
    ++use.points;
  }
  if (uses.size() < 2) return points;
  const auto most = std::ranges::max_element(uses, {}, [](const auto& each) {
    return std::tuple(each.second.networks.size(), each.second.points, each.first);
  });
  return filtered(points, [&](const Point* point) { return batch_of(point) == most->first; });
}

/// Between the best configurations of either side, over all networks. What nobody would choose does not count.
double spread(const Pointers& points) {
  if (points.empty()) return -1;
  double low = INFINITY, high = -INFINITY;
  for (const Match& sides : best_of_sides(points))
    for (const Point* point : {sides.first, sides.second}) {
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
  return filtered(points, [&](const Point* point) { return is_about(point->asked, subject); });
}

std::vector<Subject> subjects_of(const std::vector<Point>& points) {
  std::vector<Subject> subjects;
  for (const Point& point : points)
    if (const Subject subject = subject_of(point.asked); std::ranges::find(subjects, subject) == subjects.end())
      subjects.push_back(subject);
  return subjects;
}

}  // namespace

const Match* Headline::lead_of_second() const {
  const Match* most = nullptr;
  for (const Match& match : contest.matches)
    if (match.both() && match.lead().who() == Ahead::second &&
        (most == nullptr || match.lead().ratio < most->lead().ratio))
      most = &match;
  return most;
}

bool shows_scaling(const Point& point) {
  return !point.failed && point.asked.strategy.communicates() && point.efficiency && std::isfinite(*point.efficiency);
}

Subject subject_of(const Case& asked) { return {asked.workload, asked.image_size}; }

Pointers speaking_points(const std::vector<Point>& points, const Subject& subject) {
  return of_one_batch(speaking(of_subject(scaling_points(points), subject)));
}

Pointers of_other_batches(const std::vector<Point>& points, const Subject& subject) {
  const Pointers all = speaking(of_subject(scaling_points(points), subject)), compared = of_one_batch(all);
  Pointers others;
  for (const Point* point : all) {
    const auto is_there = [&](const Pointers& among) {
      return std::ranges::any_of(among, [&](const Point* each) { return each->asked.profile == point->asked.profile; });
    };
    if (!is_there(compared) && !is_there(others)) others.push_back(point);
  }
  return others;
}

Pointers points_at_most_gpus(const std::vector<Point>& points, const Subject& subject, Evidence evidence) {
  return of_one_batch(at_most_gpus(of_evidence(of_subject(scaling_points(points), subject), evidence)));
}

std::vector<Pointers> points_by_gpus(const std::vector<Point>& points, const Subject& subject, Evidence evidence) {
  const Pointers all = of_evidence(of_subject(scaling_points(points), subject), evidence);
  std::set<std::string> networks;
  std::set<int> counts;
  for (const Point* point : all) {
    networks.insert(point->asked.profile);
    if (gpus_of(point) > 1) counts.insert(gpus_of(point));
  }
  if (networks.size() != 1 || counts.empty()) return {of_one_batch(at_most_gpus(all))};
  std::vector<Pointers> found;
  for (const int count : counts)
    found.push_back(of_one_batch(filtered(all, [&](const Point* point) { return gpus_of(point) == count; })));
  return found;
}

std::optional<Headline> find_headline(const std::vector<Point>& points) {
  const Pointers speakers = speaking(scaling_points(points));
  Pointers widest;
  for (const Subject& subject : subjects_of(points))
    if (Pointers candidates = of_one_batch(of_subject(speakers, subject)); spread(candidates) > spread(widest))
      widest = std::move(candidates);
  if (widest.empty()) return std::nullopt;
  return Headline{contest_of(widest)};
}

std::optional<Headline> find_headline(const std::vector<Point>& points, const Subject& subject) {
  const Pointers speakers = speaking_points(points, subject);
  if (speakers.empty()) return std::nullopt;
  return Headline{contest_of(speakers)};
}

std::vector<Subject> subjects_by_spread(const std::vector<Point>& points) {
  const Pointers scaling = scaling_points(points);
  const auto spread_of = [&](const Subject& subject) {
    return spread(of_one_batch(speaking(of_subject(scaling, subject))));
  };
  std::vector<Subject> subjects = subjects_of(points);
  std::ranges::stable_sort(subjects, std::ranges::greater{}, spread_of);
  if (const auto headline = find_headline(points)) {
    const auto first = std::ranges::find(subjects, subject_of(headline->best().asked));
    std::rotate(subjects.begin(), first, first + 1);
  }
  return subjects;
}

}  // namespace hbench

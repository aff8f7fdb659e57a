#pragma once

/// What a sweep says in one line: the workload and the networks that differ most.

#include <optional>
#include <string>
#include <vector>

#include "analysis/points/points.hpp"
#include "reports/scaling/sides.hpp"

namespace hbench {

/// Points of one evidence at its largest GPU count, of the workload whose best configurations spread most. The pointers
/// are into the points that were given.
struct Headline {
  Contest contest;  ///< of at least one network

  const Match& easiest() const { return contest.matches.front(); }
  const Match& hardest() const { return contest.matches.back(); }
  /// Where the second way is furthest ahead; null where it never is.
  const Match* lead_of_second() const;

  const Point& best() const { return easiest().better(); }
  int gpus() const { return best().asked.gpus; }
};

/// A point with an efficiency of a strategy that communicates.
bool shows_scaling(const Point& point);

/// Workload with its image size: what a chart is about.
struct Subject {
  std::string workload;
  int image_size = 0;
  friend bool operator==(const Subject&, const Subject&) = default;
};
Subject subject_of(const Case& asked);
inline bool is_about(const Case& asked, const Subject& subject) {
  return asked.image_size == subject.image_size && asked.workload == subject.workload;
}

/// The evidence is what reaches the most GPUs, of two that reach as many the one nearer to reality; published
/// figures only where there is nothing else. None without any efficiency of a strategy that communicates.
std::optional<Headline> find_headline(const std::vector<Point>& points);
/// The same of one subject.
std::optional<Headline> find_headline(const std::vector<Point>& points, const Subject& subject);
/// The points of a subject that its headline is about.
Pointers speaking_points(const std::vector<Point>& points, const Subject& subject);
/// A point of each network that these leave out, since it has none of their batch.
Pointers of_other_batches(const std::vector<Point>& points, const Subject& subject);
/// Those of one evidence, at its most GPUs.
Pointers points_at_most_gpus(const std::vector<Point>& points, const Subject& subject, Evidence evidence);
/// The same for the rows of a table: of one network at each number of GPUs from two on, the fewest first.
std::vector<Pointers> points_by_gpus(const std::vector<Point>& points, const Subject& subject, Evidence evidence);

/// The subjects of `points`: first that of the headline, then by falling spread of efficiency on their most GPUs.
std::vector<Subject> subjects_by_spread(const std::vector<Point>& points);

}  // namespace hbench

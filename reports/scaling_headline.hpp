#pragma once

/// What a sweep says in one line: the workload, the strategies and the networks that differ most.

#include <optional>
#include <string>
#include <vector>

#include "analysis/points.hpp"

namespace hbench {

/// Points of one evidence at its largest GPU count, of the workload with the widest spread of efficiency. Where
/// there are such, best and worst are of strategies that take the same machines and send the same gradients: no
/// dedicated servers, no compression. Strategies are told apart by their labels. The pointers are into the points
/// that were given.
struct Headline {
  const Point* best = nullptr;       ///< the most efficient
  const Point* elsewhere = nullptr;  ///< its strategy on the network that suits it least; null if there is none
  /// The least efficient other strategy there (on the network of `elsewhere`, else of `best`); null if there is none.
  const Point* worst = nullptr;

  int gpus() const { return best->asked.gpus; }
  Evidence evidence() const { return best->asked.evidence; }
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

/// The evidence is what reaches the most GPUs, of two that reach as many the one nearer to reality; published
/// figures only where there is nothing else. None without any efficiency of a strategy that communicates.
std::optional<Headline> find_headline(const std::vector<Point>& points);
/// The same of one subject.
std::optional<Headline> find_headline(const std::vector<Point>& points, const Subject& subject);

/// The subjects of `points`: first that of the headline, then by falling spread of efficiency on their most GPUs.
std::vector<Subject> subjects_by_spread(const std::vector<Point>& points);

}  // namespace hbench

#pragma once

/// Points as curves of a chart.

#include <vector>

#include "reports/scaling/scaling.hpp"

namespace hbench {

/// Points that differ in their GPU count only: at least one, by rising GPU count. A GPU count that ran on several
/// numbers of nodes is on the curve with the fewest, and with more on curves of their own.
struct Curve {
  std::vector<const Point*> points;
  int nodes = 0;  ///< of all points, where they are not on the fewest; else 0
  Series series;  ///< label, mark, group, family and whether it is shown; its points are the chart's business

  const Case& asked() const { return points.front()->asked; }
};

/// The curves of one subject. Points that failed and baselines are in none. Published strategies have the colour of the
/// plain strategy: what matters is whether they agree.
std::vector<Curve> curves_of(const Scaling& scaling, const Subject& subject);

/// The name of a chart of this quantity in files and links: `efficiency-resnet18-64`.
std::string chart_id(std::string_view quantity, const Case& asked);

/// Decides which curves of one subject are shown at first, and puts these first, those of the most efficient network
/// before the others. All, where all is little; else, on six networks (the best, the worst, the one where the second
/// way of the headline is furthest ahead, the one of which most is published, and the next), the best configuration of
/// either side, the best with compressed gradients, what is published there, and whatever was timed.
void choose_shown(std::vector<Curve>& curves, const Scaling& scaling);

}  // namespace hbench

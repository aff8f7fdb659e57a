#include <algorithm>
#include <cmath>

#include "analysis/points.hpp"
#include "analysis/published.hpp"

namespace hbench {
namespace {

/// `horovod-2018` of `horovod-2018:64MiB:5ms`: sources name the program, seldom its parameters.
std::string_view policy_of(std::string_view fusion) { return fusion.substr(0, fusion.find(':')); }

/// The number of servers is left out: sources count processes, a plan counts machines.
bool same_strategy(const Strategy& a, const Strategy& b) {
  return a.algorithm == b.algorithm && a.placement == b.placement && a.server_mode == b.server_mode &&
         a.compressor == b.compressor && policy_of(a.fusion) == policy_of(b.fusion) && a.overlap == b.overlap;
}

bool same_place(const Case& a, const Case& b) {
  return a.workload == b.workload && a.gpus == b.gpus && a.profile == b.profile && a.batch_per_gpu == b.batch_per_gpu &&
         same_strategy(a.strategy, b.strategy);
}

bool comparable(const Point& point, Evidence evidence) {
  return point.asked.evidence == evidence && !point.failed && point.efficiency.has_value();
}

}  // namespace

std::vector<Comparison> compare_with_published(const std::vector<Point>& points) {
  std::vector<Comparison> comparisons;
  for (const Point& simulated : points) {
    if (!comparable(simulated, Evidence::simulated)) continue;
    for (const Point& published : points)
      if (comparable(published, Evidence::published) && same_place(simulated.asked, published.asked))
        comparisons.push_back(
            {simulated, published, *simulated.efficiency - *published.efficiency, calibrated_with(published.asked)});
  }
  return comparisons;
}

ComparisonSummary summarize(const std::vector<Comparison>& comparisons) {
  ComparisonSummary summary;
  for (const Comparison& comparison : comparisons) {
    const double size = std::fabs(comparison.difference);
    summary.mean += size;
    summary.maximum = std::max(summary.maximum, size);
    ++summary.count;
  }
  if (summary.count > 0) summary.mean /= static_cast<double>(summary.count);
  return summary;
}

}  // namespace hbench

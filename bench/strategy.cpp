#include "bench/strategy.hpp"

#include "collectives/base/table.hpp"

namespace hbench {

StepStrategy resolve(const Strategy& strategy) {
  StepStrategy resolved;
  resolved.algorithm = parse_algorithm_rule(strategy.algorithm);
  if (!strategy.placement.empty()) resolved.placement = &find_entry(placements(), strategy.placement, "placement");
  resolved.compressor = parse_compressor(strategy.compressor);
  resolved.fusion = parse_fusion(strategy.fusion);
  resolved.overlap = strategy.overlap;
  return resolved;
}

}  // namespace hbench

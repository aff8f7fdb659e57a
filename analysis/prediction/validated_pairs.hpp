#pragma once

/// Pairs of published figures beside the pairs of their predictions: who is ahead, and by how much. Pure.

#include <vector>

#include "analysis/points/coverage.hpp"
#include "analysis/points/lead.hpp"
#include "analysis/prediction/validate.hpp"

namespace hbench {

/// Two strategies of one source on one cluster, with the same workload, GPUs, batch and rate of one GPU.
struct ValidatedPair {
  const Validation* first = nullptr;
  const Validation* second = nullptr;
  Lead lead;                ///< of the first, as predicted
  double published = 1;     ///< the number of times that the first is as fast as the second, in the source
  Residual residual;        ///< of the ratio: its unknowns, and the logarithm of published / predicted
  bool servers = false;     ///< one of the two has parameter servers, the other none
  bool compressor = false;  ///< one of the two compresses, the other does not

  /// Whether the one that is predicted to be quicker is.
  bool in_order() const { return (lead.ratio > 1) == (published > 1); }
};

/// All pairs of `figures` whose strategies differ and from neither of which a figure of their profile was computed.
/// They point into `figures`.
std::vector<ValidatedPair> pairs_of(const std::vector<Validation>& figures);

}  // namespace hbench

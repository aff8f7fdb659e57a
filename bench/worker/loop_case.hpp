#pragma once

/// What a rank's loop measures, and how.

#include <cstdint>
#include <vector>

#include "analysis/records/records.hpp"
#include "collectives/base/test_delay.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

/// How each size is measured.
struct LoopOptions {
  int warmups = 5;
  int iterations = 0;        ///< timed ones of each candidate; 0: by size and budget, agreed by rank 0
  bool check = true;         ///< before it is timed; a size that fails is not timed
  bool out_of_place = true;  ///< also time a copy of the input followed by the collective in place
  Seconds budget{0.3};       ///< of the timed iterations of one candidate, each of the two ways
  Seconds timeout{60};
  TestDelay delay;  ///< of one rank, in each iteration of a candidate
};

/// A case with the buffers that travel, in elements; several are all-reduced one after another.
struct LoopCase {
  int index = 0;  ///< the caller's number of it
  Case asked;
  std::vector<std::int64_t> tensors;
};

}  // namespace hbench

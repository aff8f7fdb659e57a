#pragma once

/// What nccl-tests (or rccl-tests) printed, as a measured curve. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "collectives/network/curve.hpp"

namespace hbench {

/// Whether a text is the output of nccl-tests, and no table of steps.
bool is_nccl_tests_output(std::string_view text);

struct NcclTestsOutput {
  MeasuredCurve curve;             ///< of the sooner of in place and out of place; the algorithm is `vendor`
  std::vector<std::string> notes;  ///< what was left out, and why, in sentences
};

/// Reads the output of one test, also behind the prefixes of mpirun and Slurm (`0:`, `[1,0]<stdout>:`). Ranks and nodes
/// are those of its list of devices, unless they are given (not 0); the collective is that of its name, or what its bus
/// bandwidths and columns say. Sizes of 0 are left out, and so is what took longer than a larger size (`kMostFall`),
/// which the first one often does. \throws Error (usage) with file and line: for a size whose data were wrong, figures
/// that are none, two tests in one file, a collective that profiles do not have, and where ranks or nodes are unknown.
NcclTestsOutput parse_nccl_tests(std::string_view text, std::string_view file_name, int ranks = 0, int nodes = 0);

}  // namespace hbench

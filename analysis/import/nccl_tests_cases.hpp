#pragma once

#include <string_view>
#include <vector>

#include "analysis/import/format.hpp"
#include "analysis/import/nccl_tests_output.hpp"

namespace hbench {

/// The collectives of nccl-tests, whichever of its formats they were read from: NCCL's own (`vendor`), by the executor
/// `nccl-tests`. Where elements were wrong the case has failed. A test that hbench has no collective of, or whose
/// collective nothing says, is left out where there are others. \throws Error (usage) for rows that do not agree with
/// themselves or with their test, for GPUs that exchanged nothing, and where no row is left.
ImportedOutput cases_of(std::vector<NcclTestsOutput> tests, std::string_view file_name, const ImportHints& hints);

}  // namespace hbench

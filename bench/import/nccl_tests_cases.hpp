#pragma once

#include <string_view>

#include "bench/import/format.hpp"
#include "bench/import/nccl_tests_output.hpp"

namespace hbench {

/// The collectives of nccl-tests, whichever of its formats they were read from: NCCL's own (`vendor`), by the executor
/// `nccl-tests`. Where elements were wrong the case has failed. \throws Error (usage) as `collective_of`, and without
/// rows.
ImportedOutput cases_of(const NcclTestsOutput& output, std::string_view file_name);

}  // namespace hbench

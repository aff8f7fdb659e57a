#pragma once

/// Which compressors go with the executors on GPUs. Needs no GPU.

#include <string>

#include "collectives/compressors/compressor.hpp"

namespace hbench {

/// Why a compressor cannot be used where data lie on a GPU, for a person; empty where it can.
std::string refuse_on_gpu(const CompressorChoice& compressor);

/// The same where NCCL moves what travels, as it is.
std::string refuse_by_nccl(const CompressorChoice& compressor);

}  // namespace hbench

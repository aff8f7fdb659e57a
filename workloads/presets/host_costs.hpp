#pragma once

/// A figure that several presets share.

#include "workloads/presets/preset.hpp"

namespace hbench {

/// What a bucket costs a rank's processor where a library's all-reduce is called for it.
inline constexpr PresetFigure kCallPerBucket{
    .stated = 57e-6,
    .better = 40e-6,
    .worse = 200e-6,
    .source =
        "40 to 75 us for each bucket of PyTorch's DDP on GPU servers (middle taken; observed, not published); 200 us "
        "is what unfused all-reduces of github.com/HKBU-HPML/ddl-benchmarks are met best with"};

}  // namespace hbench

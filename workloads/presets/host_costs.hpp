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

/// What a framework takes more for a step than what is simulated, where no published step in the table says otherwise.
inline constexpr PresetFigure kStepOfFramework{
    .stated = 5e-3,
    .better = 0,
    .worse = 50e-3,
    .source =
        "published steps of frameworks without rows here are 5 to 200 ms longer than simulated ones (the lower end "
        "taken; observed, not published)"};

/// What compressors that are chains of a framework's operators cost: half of it by bytes, half by tensors. Together
/// 0.1 to 0.6 s for the 102 MB and 161 tensors of ResNet-50's gradients.
inline constexpr PresetFigure kChainPerByte{
    .stated = 1.2e-9,
    .better = 0.5e-9,
    .worse = 3e-9,
    .source =
        "published compressors add 0.1 to 0.6 s to a ResNet-50 step at any bandwidth (geometric middle taken, half "
        "of it by bytes; observed, not published)"};
inline constexpr PresetFigure kChainPerTensor{
    .stated = 0.8e-3, .better = 0.3e-3, .worse = 1.9e-3, .source = kChainPerByte.source};

}  // namespace hbench

#include "workloads/presets/preset.hpp"

#include <array>

namespace hbench {

extern const Preset kHorovod2018Preset;
extern const Preset kHorovodPreset;
extern const Preset kDdpPreset;
extern const Preset kBaguaPreset;
extern const Preset kTfReplicatedPreset;
extern const Preset kTfPsPreset;
extern const Preset kMxnetPsPreset;
extern const Preset kBytepsPreset;
extern const Preset kDeepspeedPreset;
extern const Preset kMegatronDdpPreset;
extern const Preset kMxnetHorovodPreset;
extern const Preset kTf2CollectivePreset;
extern const Preset kPaddlePreset;
extern const Preset kOneflowPreset;
extern const Preset kGracePreset;
extern const Preset kDdpPowersgdPreset;
extern const Preset kBaguaBytegradPreset;
extern const Preset kDeepspeedOnebitPreset;

std::span<const Preset* const> presets() {
  static constexpr std::array<const Preset*, 18> kTable{
      &kHorovod2018Preset,   &kHorovodPreset,        &kDdpPreset,          &kBaguaPreset,
      &kTfReplicatedPreset,  &kTfPsPreset,           &kMxnetPsPreset,      &kBytepsPreset,
      &kDeepspeedPreset,     &kMegatronDdpPreset,    &kMxnetHorovodPreset, &kTf2CollectivePreset,
      &kPaddlePreset,        &kOneflowPreset,        &kGracePreset,        &kDdpPowersgdPreset,
      &kBaguaBytegradPreset, &kDeepspeedOnebitPreset};
  return kTable;
}

double PresetFigure::at(End end) const {
  switch (end) {
    case End::better:
      return better;
    case End::worse:
      return worse;
    case End::stated:
      break;
  }
  return stated;
}

}  // namespace hbench

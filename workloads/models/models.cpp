#include "workloads/models/models.hpp"

#include <array>

namespace hbench {

extern const ModelEntry kResNet18, kResNet34, kResNet50, kResNet101, kResNet152;
extern const ModelEntry kVgg11, kVgg13, kVgg16, kVgg19, kVgg11Bn, kVgg13Bn, kVgg16Bn, kVgg19Bn;
extern const ModelEntry kInceptionV3, kInceptionV3Aux;
extern const ModelEntry kLeNet;

std::span<const ModelEntry* const> models() {
  static constexpr std::array<const ModelEntry*, 16> kTable{
      &kResNet18, &kResNet34, &kResNet50, &kResNet101, &kResNet152, &kVgg11,       &kVgg13,          &kVgg16,
      &kVgg19,    &kVgg11Bn,  &kVgg13Bn,  &kVgg16Bn,   &kVgg19Bn,   &kInceptionV3, &kInceptionV3Aux, &kLeNet};
  return kTable;
}

}  // namespace hbench

#include "workloads/step/number_bytes.hpp"

namespace hbench {

NumberBytes number_bytes(Precision precision, const Preset* preset) {
  switch (precision) {
    case Precision::float32:
    case Precision::tf32:
      return {};
    case Precision::bf16_true:
      return {.activation = 2, .weight = 2, .gradient = 2, .state = 2};
    case Precision::bf16:
    case Precision::fp16:
      break;
  }
  if (preset == nullptr || !preset->half.weights) return {.activation = 2, .copies = true};
  const bool half = precision == Precision::bf16 ? preset->half.bf16_gradients : preset->half.fp16_gradients;
  return {.activation = 2, .weight = 2, .gradient = half ? 2.0 : 4.0, .master = 4};
}

}  // namespace hbench

#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

constexpr NumberField kFields[] = {{.name = "group", .standard = 8, .largest = 1024}};

}  // namespace

extern const Method kTensor;
constinit const Method kTensor{
    .name = "tensor",
    .summary = "neighbours share each layer, and what lies between layers (sequence parallelism); goes with others",
    .citation =
        "Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models, MLSys 2023, "
        "arXiv:2205.05198",
    .fields = kFields,
    .divide = [](const std::vector<double>& values, ModelDivision& division) {
      division.tensor = static_cast<int>(values[0]);
    }};

}  // namespace hbench

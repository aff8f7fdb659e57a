#include "workloads/step/precision.hpp"

#include <algorithm>
#include <array>

#include "collectives/base/table.hpp"

namespace hbench {
namespace {

constexpr PrecisionEntry kFloat32{
    .name = "float32", .summary = "IEEE single precision throughout", .precision = Precision::float32};
constexpr PrecisionEntry kTf32{.name = "tf32",
                               .summary = "float32; matrix products and convolutions in TF32",
                               .precision = Precision::tf32,
                               .gpu_only = true};
constexpr PrecisionEntry kBf16{.name = "bf16",
                               .summary = "mixed: bfloat16 where LibTorch's autocast says so",
                               .precision = Precision::bf16,
                               .half = true};
constexpr PrecisionEntry kFp16{.name = "fp16",
                               .summary = "mixed: half where LibTorch's autocast says so, with loss scaling",
                               .precision = Precision::fp16,
                               .gpu_only = true,
                               .half = true};
constexpr PrecisionEntry kBf16True{
    .name = "bf16-true",
    .summary = "bfloat16 throughout: parameters, gradients and the optimizer's state (model.to(torch.bfloat16))",
    .precision = Precision::bf16_true,
    .half = true,
    .measured = false};
constexpr std::array kPrecisions{&kFloat32, &kTf32, &kBf16, &kFp16, &kBf16True};

}  // namespace

std::span<const PrecisionEntry* const> precisions() { return kPrecisions; }

const PrecisionEntry& entry_of(Precision precision) { return *kPrecisions[static_cast<std::size_t>(precision)]; }

bool is_half(std::string_view name) {
  const auto is_this = [&](const PrecisionEntry* entry) { return entry->half && entry->name == name; };
  return std::ranges::any_of(kPrecisions, is_this);
}

Precision parse_precision(std::string_view name) {
  if (name == "fp32")  // whose nearest name is tf32
    throw Error(ExitCode::usage, "no precision 'fp32'; did you mean 'float32'?", "or tf32, bf16, fp16, bf16-true");
  return find_entry(precisions(), name, "precision").precision;
}

}  // namespace hbench

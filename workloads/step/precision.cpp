#include "workloads/step/precision.hpp"

#include <array>

#include "collectives/base/table.hpp"

namespace hbench {
namespace {

constexpr PrecisionEntry kFloat32{"float32", "IEEE single precision throughout", Precision::float32, false};
constexpr PrecisionEntry kTf32{"tf32", "float32; matrix products and convolutions in TF32", Precision::tf32, true};
constexpr PrecisionEntry kBf16{"bf16", "mixed: bfloat16 where LibTorch's autocast says so", Precision::bf16, false};
constexpr PrecisionEntry kFp16{"fp16", "mixed: half where LibTorch's autocast says so, with loss scaling",
                               Precision::fp16, true};
constexpr std::array kPrecisions{&kFloat32, &kTf32, &kBf16, &kFp16};

}  // namespace

std::span<const PrecisionEntry* const> precisions() { return kPrecisions; }

const PrecisionEntry& entry_of(Precision precision) { return *kPrecisions[static_cast<std::size_t>(precision)]; }

bool is_half(std::string_view name) { return name == kBf16.name || name == kFp16.name; }

Precision parse_precision(std::string_view name) { return find_entry(precisions(), name, "precision").precision; }

}  // namespace hbench

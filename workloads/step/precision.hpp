#pragma once

/// The number formats that a model is trained in.

#include <cstdint>
#include <span>
#include <string_view>

namespace hbench {

enum class Precision : std::uint8_t {
  float32,
  tf32,       ///< float32, of which matrix products see 11 significant bits
  bf16,       ///< mixed: autocast computes in bfloat16 what it may; parameters and gradients are float32
  fp16,       ///< the same with IEEE half, and with loss scaling
  bf16_true,  ///< parameters, gradients and the optimizer's state are bfloat16 too; predicted only
};

struct PrecisionEntry {
  std::string_view name;
  std::string_view summary;
  Precision precision;
  bool gpu_only = false;
  bool half = false;     ///< computes in 16 bits
  bool measured = true;  ///< hbench's own steps train in it; others are predicted only
};

/// The table.
std::span<const PrecisionEntry* const> precisions();
const PrecisionEntry& entry_of(Precision precision);
/// Whether a name is that of a precision of 16 bits; false of a name that nothing has.
bool is_half(std::string_view name);
/// \throws Error (usage), with a suggestion.
Precision parse_precision(std::string_view name);

}  // namespace hbench

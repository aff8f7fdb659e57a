#include "collectives/compressors/compressor.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Keeps what was not sent and adds it to the next gradient: residual = compensated - decode(encoded), rounded once.
/// What is not finite is not kept, so that one bad step spoils no other. All memory lies on `device`, which outlives
/// it and does its work.
class Residual final : public GradientMemory {
 public:
  Residual(std::int64_t elements, Device& device)
      : device_(device), residual_(make_floats(device, static_cast<std::size_t>(elements))) {}

  void compensate(std::span<float> gradient) override {
    device_.accumulate(DataType::float32, ReduceOp::sum, std::as_bytes(residual_.floats),
                       std::as_writable_bytes(gradient));
  }

  void update(std::span<const float> compensated, std::span<const std::byte> encoded, const Codec& codec) override {
    codec.decode(encoded, TransferKind::copy, residual_.floats);
    device_.keep_rest(compensated, residual_.floats);
  }

  void walk(StateWalk& state) override { walk_floats(state, "residual", device_, residual_.floats); }

 private:
  Device& device_;
  DeviceFloats residual_;
};

constexpr std::string_view kErrorFeedback = "ef:", kBothSides = "ef2:";

/// Returns why error feedback cannot be combined with a compressor; an empty string where it can.
std::string_view refusal_of_feedback(const Compressor& compressor, bool both_sides) {
  if (compressor.exchange == Exchange::per_hop)
    return "it encodes partial sums, hop by hop, and no rank's own gradient";
  if (compressor.make_memory != nullptr) return "it keeps by itself what it did not send";
  // The residual's norm grows by this factor in every step (Stich, Karimireddy, The Error-Feedback Framework, JMLR
  // 2020, asks for a contraction).
  if (compressor.relative_l2_error >= 1) return "its errors are larger than the gradient, and would pile up";
  if (both_sides && (compressor.exchange != Exchange::gather || compressor.bytes_vary))
    return "on both sides parts are encoded, each to a size that all ranks know";
  return {};
}

void expect_feedback(const Compressor& compressor, bool both_sides) {
  const std::string_view why = refusal_of_feedback(compressor, both_sides);
  if (why.empty()) return;
  throw Error(ExitCode::usage,
              fmt::format("error feedback cannot be combined with compressor '{}': {}", compressor.name, why),
              fmt::format("write {}, or choose another compressor", compressor.name));
}

}  // namespace

extern const Compressor kNoCompression;
extern const Compressor kFp16;
extern const Compressor kBf16;
extern const Compressor kInt8;
extern const Compressor kInt4;
extern const Compressor kMinMax8;
extern const Compressor kNatural;
extern const Compressor kQsgd;
extern const Compressor kTernGrad;
extern const Compressor kSign;
extern const Compressor kTopK;
extern const Compressor kRandomK;
extern const Compressor kThresholdCompressor;
extern const Compressor kDgc;
extern const Compressor kPowerSgd;
extern const Compressor kOneBit;

std::span<const Compressor* const> compressors() {
  // A line for each.
  // clang-format off
  static constexpr std::array kTable{
      &kNoCompression,
      &kFp16,
      &kBf16,
      &kInt8,
      &kInt4,
      &kMinMax8,
      &kNatural,
      &kQsgd,
      &kTernGrad,
      &kSign,
      &kTopK,
      &kRandomK,
      &kThresholdCompressor,
      &kDgc,
      &kPowerSgd,
      &kOneBit,
  };
  // clang-format on
  return kTable;
}

std::string CompressorChoice::text() const {
  std::string text(both_sides ? kBothSides : error_feedback ? kErrorFeedback : "");
  text += compressor->name;
  if (!parameters.empty()) text += ":" + parameters;
  return text;
}

std::unique_ptr<GradientMemory> CompressorChoice::make_memory(std::int64_t elements, Device& device) const {
  if (compressor->make_memory != nullptr) return compressor->make_memory(parameters, elements);
  const bool wrapped = error_feedback && compressor->exchange == Exchange::gather;
  return wrapped ? std::make_unique<Residual>(elements, device) : nullptr;
}

CompressorChoice parse_compressor(std::string_view text) {
  CompressorChoice choice;
  choice.both_sides = text.starts_with(kBothSides);
  choice.error_feedback = choice.both_sides || text.starts_with(kErrorFeedback);
  if (choice.error_feedback) text.remove_prefix((choice.both_sides ? kBothSides : kErrorFeedback).size());
  const auto [name, given] = split_name(text);
  const Compressor& compressor = find_entry(compressors(), name, "compressor");
  choice.compressor = &compressor;
  if (choice.error_feedback) expect_feedback(compressor, choice.both_sides);
  choice.parameters = complete_parameters("compressor", name, compressor.fields, compressor.defaults, given);
  choice.codec = compressor.make(choice.parameters);
  return choice;
}

void refuse_parameter(std::string_view compressor, std::string_view field, std::string_view text,
                      std::string_view wanted) {
  throw Error(ExitCode::usage, fmt::format("{} of compressor '{}' is '{}'", field, compressor, text),
              fmt::format("give {}", wanted));
}

std::int64_t parse_whole(std::string_view compressor, std::string_view field, std::string_view text, std::int64_t least,
                         std::int64_t most) {
  const auto value = parse_number<std::int64_t>(text);
  if (!value || *value < least || *value > most)
    refuse_parameter(compressor, field, text, fmt::format("a whole number from {} to {}", least, most));
  return *value;
}

double parse_ratio(std::string_view compressor, std::string_view text) {
  const auto value = parse_number<double>(text);
  if (!value || !(*value > 0 && *value <= 1))
    refuse_parameter(compressor, "ratio", text,
                     "a number above 0 and at most 1, such as 0.01 for one element in a hundred");
  return *value;
}

float parse_magnitude(std::string_view compressor, std::string_view field, std::string_view text) {
  const auto value = parse_number<float>(text);
  if (!value || !std::isfinite(*value) || *value < 0)
    refuse_parameter(compressor, field, text, "a finite number from 0 on");
  return *value;
}

}  // namespace hbench

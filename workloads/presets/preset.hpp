#pragma once

/// The family of presets: a framework as the simulator sees it. What it sends is a strategy, what it costs on the host
/// is here, each figure with its source.
///
/// Simulated steps have a preset, and measured ones of the framework itself (`bench/frameworks`). Any other measured
/// step is hbench's own, whatever strategy it follows.

#include <span>
#include <string_view>

#include "collectives/network/profile.hpp"

namespace hbench {

/// A figure that is known between two ends.
struct PresetFigure {
  double stated = 0;
  double better = 0, worse = 0;
  std::string_view source = "not known, taken as free";

  double at(End end) const;
  bool is_certain() const { return better == worse; }
};

/// How much of the communication runs beside compute, in any framework: published steps do not tell.
inline constexpr PresetFigure kUsualOverlap{
    .stated = 1,
    .better = 1,
    .worse = 0.9,
    .source = "published steps (hbench validate) are met about as well with nine tenths of it as with all"};

/// How a framework trains in 16 bits, where that is not autocast over weights and gradients in float32.
struct HalfTraining {
  bool weights = false;  ///< they are 16 bits, beside float32 copies that the optimizer keeps
  /// Whether gradients are reduced in 16 bits where the model is trained in fp16, or bf16.
  bool fp16_gradients = false, bf16_gradients = false;
  std::string_view fusion = {};  ///< the policy of such gradients, where the framework counts buckets in elements
  std::string_view source = {};
};

/// One entry of the family. Texts are in the forms that the families' own parsers read.
struct Preset {
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
  std::string_view algorithm;
  std::string_view fusion;
  std::string_view placement;  ///< of tensors on parameter servers, one on each node; empty without servers
  /// Seconds of a rank's processor for each bucket, one after the other, before it can leave.
  PresetFigure per_bucket;
  /// Share of its full rate at which communication proceeds while compute runs. Data seldom tell it from a slower
  /// network: the band has both ends.
  PresetFigure overlap = kUsualOverlap;
  /// Whether servers apply gradients to the parameters, each tensor when its gradient is complete, and send parameters
  /// back; else servers add up and workers apply the sums, all at the end.
  bool servers_update = false;
  /// Seconds of each step with several ranks that nothing hides: bookkeeping of the framework.
  PresetFigure per_step = {};
  /// What its compressors cost a GPU beside hbench's own kernels: seconds for each byte of gradients, and for each
  /// tensor.
  PresetFigure coding_per_byte = {}, coding_per_tensor = {};
  HalfTraining half = {};
  /// What one of its servers handles where that was measured, in and out together, in bytes/s; for clusters whose own
  /// figure is known within a factor only. 0: as those say.
  PresetFigure server_rate = {};
};

/// Of hbench's own engine, whose costs beside another's may be any: stated as none.
inline constexpr Preset kUnnamedFramework{
    .per_bucket = {.stated = 0, .better = 0, .worse = 200e-6, .source = "what frameworks in the table have at most"}};

/// The table, in the order in which `hbench list presets` prints it.
std::span<const Preset* const> presets();

}  // namespace hbench

#pragma once

/// The family of fusion policies: when does a gradient leave, and with whom?
///
/// A policy is a pure state machine. Events go in, buckets to launch come out; it never asks the clock.
/// The same object is driven by the real training step (LibTorch hooks, wall clock) and by the simulated
/// one (a recorded timeline, virtual clock).
///
/// Protocol, per step: `step_begin`, then any of `gradient_ready` (once per tensor), `timer` (at or after
/// `wakeup()`), `bucket_done`, and `backward_done` after the last `gradient_ready`. Times never decrease.
/// By the end of the step every tensor has left in exactly one bucket. A policy is reused step after step
/// and may keep what it has learned.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench {

/// Tensors that travel together, as indices into the layout (backward order), in buffer order.
using Bucket = std::vector<int>;

enum class FusionEventKind : std::uint8_t { step_begin, gradient_ready, timer, bucket_done, backward_done };

struct FusionEvent {
  FusionEventKind kind = FusionEventKind::step_begin;
  /// Seconds since the step began.
  Seconds at;
  /// The tensor (gradient_ready), or how many buckets have been completed in this step (bucket_done).
  int index = 0;
};

/// See the top of the file. Not thread-safe; one owner.
class FusionPolicy {
 public:
  virtual ~FusionPolicy() = default;
  /// The buckets to launch now, in order; often none.
  virtual std::vector<Bucket> on(const FusionEvent& event) = 0;
  /// When the policy wants a `timer` event, in seconds since the step began; none when it waits for events only.
  virtual std::optional<Seconds> wakeup() const { return std::nullopt; }
};

/// One entry of the family.
struct Fusion {
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
  /// Names of the parameters, such as `threshold:cycle`; empty when there are none.
  std::string_view fields;
  /// Text form of the default parameters, such as `128MiB:1ms`; empty when there are none.
  std::string_view defaults;
  /// Whether ranks must agree on what is ready through a coordinator before a bucket may leave.
  bool negotiates = false;
  /// A policy for tensors of these sizes (bytes, backward order). `parameters` as in `defaults`, fields may
  /// be left out from the end. \throws Error (usage) when they make no sense.
  std::unique_ptr<FusionPolicy> (*make)(std::string_view parameters, std::span<const std::int64_t> tensor_bytes);
};

/// The table, in the order in which `hbench list fusion` prints it.
std::span<const Fusion* const> fusions();

/// `name` or `name:parameters`, such as `horovod:64MiB:5ms`.
struct FusionChoice {
  const Fusion* fusion = nullptr;
  std::string parameters;  ///< complete, defaults filled in; empty when the policy has none
  /// The canonical text: `none`, `horovod:64MiB:5ms`.
  std::string text() const;
  std::unique_ptr<FusionPolicy> make(std::span<const std::int64_t> tensor_bytes) const;
};

/// \throws Error (usage) for an unknown name (with a suggestion) or bad parameters.
FusionChoice parse_fusion(std::string_view text);

}  // namespace hbench

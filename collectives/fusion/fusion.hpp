#pragma once

/// The family of fusion policies: when does a gradient leave, and with whom?
///
/// A policy is a pure state machine. Events go in, buckets to launch come out; it never asks the clock.
/// The same object is driven by the real training step (LibTorch hooks, wall clock) and by the simulated
/// one (a recorded timeline, virtual clock).
///
/// Protocol, per step: `step_begin`, then any of `gradient_ready` (once per tensor), `timer` (at or after
/// `wakeup()`), `bucket_done`, and `backward_done` after the last `gradient_ready`. Times never decrease.
/// By the end of the step every byte of every tensor has left in exactly one bucket. A policy is reused step after
/// step and may keep what it has learned.
///
/// Text parameters of fusion policies: fields separated by colons, each a size, a time or a rate.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench {

/// What travels together: whole tensors, or a piece of one tensor.
struct Bucket {
  static constexpr std::int64_t kEnd = INT64_MAX;

  Bucket() = default;
  Bucket(std::initializer_list<int> whole) : tensors(whole) {}
  explicit Bucket(std::vector<int> whole) : tensors(std::move(whole)) {}
  /// The bytes [begin, end) of `tensor`.
  static Bucket piece(int tensor, std::int64_t begin, std::int64_t end);

  bool whole() const { return end == kEnd; }
  std::int64_t bytes(std::span<const std::int64_t> tensor_bytes) const;

  std::vector<int> tensors;  ///< indices into the layout (backward order)
  std::int64_t begin = 0;    ///< of a piece, in bytes: whole float32 elements
  std::int64_t end = kEnd;

  friend bool operator==(const Bucket&, const Bucket&) = default;
  friend auto operator<=>(const Bucket&, const Bucket&) = default;
};

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

/// How ranks agree on what is ready before a bucket may leave.
enum class Negotiation : std::uint8_t {
  none,   ///< they need not: buckets are the same everywhere
  names,  ///< rank 0 gathers from every rank which tensors are ready, and sends every rank the list of what to launch
  bits,   ///< all have seen these tensors before (a response cache): one all-reduce of a bit per tensor
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
  /// In the library that the policy is named after; what the simulator charges.
  Negotiation negotiation = Negotiation::none;
  /// The policy changes after its first step, so that only later ones are typical.
  bool learns = false;
  /// Buckets may differ from step to step, with the clock or with the order in which gradients become ready.
  bool varies = false;
  /// The complete canonical text of parameters; null where they are amounts, as in most policies.
  /// \throws Error (usage).
  std::string (*canonical)(std::string_view parameters) = nullptr;
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

/// The values of `given`, completed from `fusion.defaults`: whole bytes, seconds in whole nanoseconds, or whole
/// bytes per second, whichever the field's default is. \throws Error (usage) that names the field and the right form.
std::vector<double> read_parameters(const Fusion& fusion, std::string_view given);

/// The complete canonical text of `given`: equal texts are equal policies. \throws as `read_parameters`.
std::string canonical_parameters(const Fusion& fusion, std::string_view given);

/// The `make` of a policy that is constructed from the values of its parameters and the tensors' sizes.
template <class Policy, const Fusion& fusion>
std::unique_ptr<FusionPolicy> make_policy(std::string_view parameters, std::span<const std::int64_t> tensor_bytes) {
  return std::make_unique<Policy>(read_parameters(fusion, parameters), tensor_bytes);
}

/// Buckets that are known before the step and leave strictly in their order, so that all ranks launch alike without
/// talking: what DDP and MG-WFBP do once they know what they want. One owner; a policy's.
class FixedBuckets {
 public:
  explicit FixedBuckets(std::size_t tensors) : bucket_of_(tensors) {}

  /// From the next step on. Every tensor is in exactly one of `buckets`; none is empty.
  void fix(std::vector<Bucket> buckets);
  void begin_step();
  /// The buckets that leave now that `tensor` is ready.
  std::vector<Bucket> ready(int tensor);

 private:
  std::vector<Bucket> buckets_;
  std::vector<std::size_t> bucket_of_;  ///< by tensor
  std::vector<std::size_t> missing_;    ///< by bucket: tensors that are not ready
  std::size_t next_ = 0;                ///< the bucket that leaves next
};

}  // namespace hbench

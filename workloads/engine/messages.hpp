#pragma once

/// What the ranks of a training job tell each other beside gradients: small messages of fixed size.
///
/// As in Horovod, rank 0 coordinates: workers announce the tensors that are ready, rank 0 orders every rank
/// to reduce the buckets that its fusion policy makes, in one order for all.

#include <array>
#include <cstdint>

#include "collectives/base/units.hpp"

namespace hbench {

/// Tags of the messages; buckets use those from `kFirstBucketTag` in turn.
inline constexpr int kLayoutTag = 1;
inline constexpr int kAnnouncementTag = 2;
inline constexpr int kOrderTag = 3;
inline constexpr int kDigestTag = 4;
inline constexpr int kFirstBucketTag = 16;
inline constexpr int kBucketTags = 16384;

/// From a worker to rank 0: these tensors' gradients are ready.
struct Announcement {
  std::int32_t count = 0;
  std::array<std::int32_t, 15> tensors{};
};

/// What the next step is: rank 0 decides for all.
enum class Phase : std::int32_t { warmup, timed, stop };

enum class OrderKind : std::int32_t {
  bucket,    ///< reduce these tensors together
  step_end,  ///< no more buckets in this step; `phase` says what comes next
  alive,     ///< rank 0 has nothing to say, and is well
  give_up    ///< rank 0 waits no longer for the ranks in `tensors`
};

/// From rank 0 to every other rank.
struct Order {
  OrderKind kind = OrderKind::alive;
  Phase phase = Phase::stop;
  std::int32_t more = 0;  ///< the list goes on in the next message
  std::int32_t count = 0;
  std::array<std::int32_t, 28> tensors{};
};

}  // namespace hbench

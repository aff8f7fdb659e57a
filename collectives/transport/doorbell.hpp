#pragma once

/// How a thread sleeps until another thread, or another process, has something for it: it costs nobody anything
/// meanwhile.

#include <atomic>
#include <chrono>
#include <cstdint>

namespace hbench {

/// What a doorbell consists of, zero at first. May lie in memory that several processes have mapped. Whoever rings
/// reads `listener` alone while nobody listens, so that ringing then costs no more than a cached load.
struct alignas(64) DoorbellState {
  std::atomic<std::uint32_t> rings;     ///< wraps around
  std::atomic<std::uint32_t> listener;  ///< none, awake, or asleep; written by `listen`, `wait` and who wakes it
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// One listener at a time; any number of threads ring. The listener's loop:
///
///     for (;;) {
///       const Doorbell::Ticket ticket = doorbell.listen();  // no ring is lost from here on
///       if (found_work()) continue;
///       doorbell.wait(ticket, longest);
///     }
///
/// Who rings makes visible what there is to find, by a sequentially consistent write or under a lock, and rings then.
class Doorbell {
 public:
  using Ticket = std::uint32_t;
  /// For `wait`: without a limit.
  static constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

  virtual ~Doorbell() = default;
  virtual void ring() = 0;
  virtual Ticket listen() = 0;
  /// Sleeps until there was a ring after the `listen` that gave `ticket`, and at most for `longest`. May return early.
  virtual void wait(Ticket ticket, std::chrono::nanoseconds longest) = 0;
};

/// Rings the doorbell that consists of `state`.
void ring(DoorbellState& state);

/// Sleeps in the kernel (futex(2)). `state` outlives it; several may share one state, in one process or in several.
class FutexDoorbell final : public Doorbell {
 public:
  explicit FutexDoorbell(DoorbellState& state) : state_(state) {}
  void ring() override { hbench::ring(state_); }
  Ticket listen() override;
  void wait(Ticket ticket, std::chrono::nanoseconds longest) override;

 private:
  DoorbellState& state_;
};

}  // namespace hbench

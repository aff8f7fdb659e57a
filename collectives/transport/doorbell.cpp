#include "collectives/transport/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace hbench {
namespace {

enum Listener : std::uint32_t { none, awake, asleep };

/// The kernel looks at the bare word. Not FUTEX_PRIVATE: the word may be shared between processes.
std::uint32_t* word_of(std::atomic<std::uint32_t>& atomic) {
  static_assert(sizeof(atomic) == sizeof(std::uint32_t));
  return reinterpret_cast<std::uint32_t*>(&atomic);
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::nanoseconds longest) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (longest - seconds).count()};
  syscall(SYS_futex, word_of(word), FUTEX_WAIT, expected, longest == Doorbell::kForever ? nullptr : &limit);
}

void futex_wake_one(std::atomic<std::uint32_t>& word) { syscall(SYS_futex, word_of(word), FUTEX_WAKE, 1); }

}  // namespace

// All accesses are sequentially consistent. Either the ringer sees that somebody listens, or the listener's look, which
// comes after `listen`, sees what was written before `ring`. Likewise, either the ringer sees the listener asleep, or
// the kernel sees another number of rings than the ticket's and does not let it sleep.
void ring(DoorbellState& state) {
  if (state.listener.load() == none) return;
  state.rings.fetch_add(1);
  if (state.listener.load() == asleep && state.listener.exchange(awake) == asleep) futex_wake_one(state.rings);
}

Doorbell::Ticket FutexDoorbell::listen() {
  if (state_.listener.load(std::memory_order_relaxed) != awake) state_.listener.exchange(awake);
  return state_.rings.load();
}

void FutexDoorbell::wait(Ticket ticket, std::chrono::nanoseconds longest) {
  if (longest <= std::chrono::nanoseconds::zero()) return;
  state_.listener.store(asleep);
  futex_wait(state_.rings, ticket, longest);
  state_.listener.store(awake);
}

}  // namespace hbench

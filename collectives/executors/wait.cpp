#include "collectives/executors/wait.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

/// Tries before the core is first offered to others.
constexpr int kSpins = 50;
/// From here on a peer is computing, not communicating: the core is worth more to it than our latency.
constexpr std::chrono::milliseconds kPatience{20};
constexpr std::chrono::microseconds kNap{50};

}  // namespace

void wait_for(Operation& operation, Seconds timeout, std::string_view what) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (operation.progress()) return;
  }
  const auto begin = Clock::now();
  while (!operation.progress()) {
    const auto waited = Clock::now() - begin;
    if (std::chrono::duration<double>(waited).count() > timeout.value) {
      throw Error(ExitCode::lost_rank,
                  fmt::format("{}: waited {} for {}", what, format(timeout), operation.waiting_for()),
                  "see what that rank said last; if it is only slow, allow more time");
    }
    if (waited < kPatience) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
}

}  // namespace hbench

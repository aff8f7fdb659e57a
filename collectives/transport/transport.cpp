#include "collectives/transport/transport.hpp"

#include <fmt/ranges.h>

#include <chrono>
#include <thread>

#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

/// Tries before the core is first offered to others, and between two looks at the clock.
constexpr int kSpins = 50;
/// For how long a rank whose peers have cores of their own keeps its core, so that nobody else's work gets in between.
constexpr std::chrono::microseconds kSpinning{100};
/// From here on a peer is computing, not communicating: the core is worth more to it than our latency.
constexpr std::chrono::milliseconds kPatience{20};
constexpr std::chrono::microseconds kNap{50};

/// True once the operation is complete.
bool spin(Operation& operation) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (operation.progress()) return true;
  }
  return false;
}

}  // namespace

void refuse_length(Rank from, Rank to, std::optional<std::size_t> got, std::size_t expected) {
  const std::string sent = got ? fmt::format("{} bytes", *got) : std::string("more");
  throw Error(ExitCode::wrong_data,
              fmt::format("rank {} sent {} to rank {}, which expects {} bytes", from, sent, to, expected),
              "give every rank a buffer of the same size, type and compressor");
}

std::string text_of_ranks(const std::vector<Rank>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

void wait_for(Operation& operation, Seconds timeout, std::string_view what) {
  if (spin(operation)) return;
  const auto begin = Clock::now();
  while (operation.may_spin() && Clock::now() - begin < kSpinning) {
    if (spin(operation)) return;
  }
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

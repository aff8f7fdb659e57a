#pragma once

/// Messages between ranks that are threads of one process: a receiver reads its sender's memory.

#include <cstdint>
#include <memory>

#include "collectives/transport/doorbell.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// What the ranks of one job share.
class ThreadJob {
 public:
  explicit ThreadJob(int ranks);
  ~ThreadJob();
  ThreadJob(const ThreadJob&) = delete;
  ThreadJob& operator=(const ThreadJob&) = delete;

  /// Each rank has two transports, whose messages never mix: `data` for what lies where its device can reach it, and
  /// `control` for host memory.
  enum class Channel : std::uint8_t { data, control };
  /// The end of `rank`, called by its thread alone. `device` and the job outlive it.
  std::unique_ptr<Transport> make_transport(Channel channel, Rank rank, Device& device);

  /// Rung for `rank` when a message for it was sent, when one of its own was read, and when the job was stopped.
  DoorbellState& doorbell(Rank rank);

  /// Makes every transport of the job throw Error (`exit_code`) at its next `test`, naming the first rank that stopped
  /// it: a thread cannot be ended from outside. Any thread.
  void stop(Rank rank, int exit_code);

 private:
  friend class ThreadTransport;
  struct State;
  std::unique_ptr<State> state_;
};

/// What is thrown in a job that `rank` has stopped.
[[noreturn]] void throw_stopped(Rank rank, int exit_code);

}  // namespace hbench

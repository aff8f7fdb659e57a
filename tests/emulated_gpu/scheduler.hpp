#pragma once

/// Streams, what is enqueued on them, and the one worker that does it, for all GPUs of the process.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include "tests/emulated_gpu/operations.hpp"

namespace hbench::emulated_gpu {

/// One operation, until it is done.
struct Work {
  OperationId id = 0;
  std::shared_ptr<const Clock> clock;
  std::function<bool()> is_ready;  ///< asked under the scheduler's lock, by the worker; empty: it is
  std::function<void()> run;
};

struct Stream {
  std::uint32_t index = 0;
  int device = 0;
  std::deque<Work> queue;
  bool is_busy = false;
  bool is_destroyed = false;  ///< what is enqueued is still done
  std::uint32_t tick = 0;
  Clock clock;

  bool is_idle() const { return queue.empty() && !is_busy; }
};

/// A recording of an event, which stands for everything on its stream before it.
struct Recorded {
  std::atomic<bool> is_done{false};
  Clock clock;
  std::chrono::steady_clock::time_point time;
};

/// An operation to enqueue, beside what it does.
struct Asked {
  const char* name = "";
  const void* kernel = nullptr;
  std::function<bool()> is_ready = nullptr;
};

class Scheduler {
 public:
  /// With seed 0, streams take turns in the order in which they were made, and threads and blocks in theirs.
  Scheduler(Operations& operations, std::uint64_t seed);

  Stream& make_stream(int device);
  OperationId enqueue(Stream& stream, const Asked& asked, std::function<void()> run);
  std::shared_ptr<Recorded> record(Stream& stream);
  /// Everything that is enqueued on the stream later comes after the event.
  void wait(Stream& stream, const std::shared_ptr<Recorded>& event);

  // Waits of the host, which then knows something to be done.
  void synchronize(Stream& stream);
  void synchronize(const std::shared_ptr<Recorded>& event);
  bool query(const std::shared_ptr<Recorded>& event);
  /// All streams of one device, or of all.
  void synchronize_device(std::optional<int> device);

  void destroy(Stream& stream);
  /// The worker asks again whether operations are ready.
  void wake() { changed_.notify_all(); }
  /// The source of random orders; null with seed 0.
  std::mt19937_64* order() { return seed_ == 0 ? nullptr : &random_; }

 private:
  OperationId add(Stream& stream, const Asked& asked, std::function<void()> run);
  [[noreturn]] void work();
  Stream* next_stream();
  void run(Stream& stream, Work work, std::unique_lock<std::mutex>& lock);

  Operations& operations_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Stream>> streams_;
  Clock host_;  ///< what some thread of the host knows to be done
};

}  // namespace hbench::emulated_gpu

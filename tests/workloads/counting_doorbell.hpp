#pragma once

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "collectives/transport/doorbell.hpp"

namespace hbench::support {

/// Another doorbell that remembers how its listener waited. Thread-safe.
class CountingDoorbell final : public Doorbell {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  explicit CountingDoorbell(Doorbell& inner) : inner_(inner) {}

  void ring() override { inner_.ring(); }
  Ticket listen() override { return inner_.listen(); }
  void wait(Ticket ticket, Nanoseconds longest) override {
    {
      const std::scoped_lock lock(mutex_);
      waits_.push_back(longest);
    }
    const auto begin = std::chrono::steady_clock::now();
    inner_.wait(ticket, longest);
    const std::scoped_lock lock(mutex_);
    if (std::chrono::steady_clock::now() - begin >= longest) expired_.push_back(longest);
  }

  /// The limits of all waits that have begun, in order: there was one wake-up between any two of them.
  std::vector<Nanoseconds> waits() const {
    const std::scoped_lock lock(mutex_);
    return waits_;
  }
  /// The limits of those that lasted so long.
  std::vector<Nanoseconds> expired() const {
    const std::scoped_lock lock(mutex_);
    return expired_;
  }
  /// Returns once the listener has begun to wait for the `count`-th time; false where it has not within 20 s.
  bool waits_begin(std::size_t count) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (waits().size() < count) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

 private:
  Doorbell& inner_;
  mutable std::mutex mutex_;
  std::vector<Nanoseconds> waits_;
  std::vector<Nanoseconds> expired_;
};

}  // namespace hbench::support

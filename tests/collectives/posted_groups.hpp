#pragma once

/// Messages that begin and end together, between threads, over devices that do their work later.

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "collectives/program/grouped_program.hpp"
#include "tests/collectives/lazy_device.hpp"

namespace hbench::support {

/// What travels between the ranks of one job.
class Post {
 public:
  void send(Rank from, Rank to, std::vector<std::byte> payload) {
    const std::lock_guard lock(mutex_);
    waiting_[{from, to}].push_back(std::move(payload));
    changed_.notify_all();
  }
  /// Nothing once the post is closed.
  std::optional<std::vector<std::byte>> take(Rank from, Rank to) {
    std::unique_lock lock(mutex_);
    auto& queue = waiting_[{from, to}];
    changed_.wait(lock, [&] { return closed_ || !queue.empty(); });
    if (closed_) return std::nullopt;
    std::vector<std::byte> payload = std::move(queue.front());
    queue.pop_front();
    return payload;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  bool closed_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<Rank, Rank>, std::deque<std::vector<std::byte>>> waiting_;
};

/// A group is one piece of work of the device: it reads everything before it writes anything.
class PostedGroups final : public GroupedMessages {
 public:
  PostedGroups(Post& post, Rank rank, LazyDevice& device) : post_(post), rank_(rank), device_(device) {}

  Device& device() override { return device_; }
  Turns& turns() override { return turns_; }
  ByteCounts& byte_counts() override { return byte_counts_; }
  /// A round is enqueued after a few calls.
  bool idle() override {
    if (!idle_) idle_ = ++calls_ % 3 == 0;
    return idle_;
  }
  void cancel() override { post_.close(); }
  void begin() override {
    EXPECT_TRUE(idle_) << "a round begins before the one before is enqueued";
    sends_.clear();
    receives_.clear();
  }
  void send(Rank to, std::span<const std::byte> payload) override { sends_.push_back({to, payload}); }
  void receive(Rank from, std::span<std::byte> landing) override { receives_.push_back({from, landing}); }
  void end() override {
    idle_ = false;
    device_.push([this, sends = sends_, receives = receives_] {
      for (const auto& [to, payload] : sends) post_.send(rank_, to, {payload.begin(), payload.end()});
      for (const auto& [from, landing] : receives) {
        const std::optional<std::vector<std::byte>> payload = post_.take(from, rank_);
        if (!payload) return;
        ASSERT_EQ(payload->size(), landing.size());
        std::ranges::copy(*payload, landing.begin());
      }
    });
  }

 private:
  Post& post_;
  Rank rank_;
  Turns turns_;
  ByteCounts byte_counts_;
  bool idle_ = true;
  int calls_ = 0;
  std::vector<std::pair<Rank, std::span<const std::byte>>> sends_;
  std::vector<std::pair<Rank, std::span<std::byte>>> receives_;
  LazyDevice& device_;
};

}  // namespace hbench::support

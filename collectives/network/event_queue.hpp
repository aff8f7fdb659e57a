#pragma once

/// Events in the order of their times; those of one time, in the order in which they were added.
///
/// A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: Faster algorithms for the shortest path problem, JACM 37, 1990): time
/// goes on, so an event is kept by the highest bit in which its time differs from that of the last one that was taken.
/// It moves on to lower bits as time comes nearer, and is compared with no other: a binary heap of thousands of events
/// guesses wrongly at each of its levels.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

namespace hbench {

/// Not thread-safe. Times are at least 0; they may lie before that of the last event.
template <class What>
class EventQueue {
 public:
  struct Event {
    double at;
    What what;
  };

  void push(double at, const What& what) {
    const std::uint64_t key = std::bit_cast<std::uint64_t>(at);
    if (key < last_)
      late_.push({at, made_++, what});
    else
      add({at, what}, key);
  }
  bool empty() const { return late_.empty() && filled_ == 0; }
  /// When the first event is. \pre not empty
  double next() const {
    if (!late_.empty()) return late_.top().at;
    return std::bit_cast<double>(buckets_[first_filled()].least);
  }
  /// Takes the first event. \pre not empty
  Event pop() {
    if (!late_.empty()) {
      const Event event{late_.top().at, late_.top().what};
      late_.pop();
      return event;
    }
    if (const int first = first_filled(); first > 0) spread(first);
    Bucket& now = buckets_[0];
    const Event event = now.events[taken_++];
    if (taken_ == now.events.size()) {
      now.events.clear();
      taken_ = 0;
      filled_ &= ~1ULL;
    }
    return event;
  }

 private:
  struct Bucket {
    std::vector<Event> events;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();  ///< of their times, as bits
  };
  struct Late {
    double at;
    std::int64_t order;
    What what;
    bool operator>(const Late& other) const { return at != other.at ? at > other.at : order > other.order; }
  };

  /// \pre some bucket has events
  int first_filled() const { return std::countr_zero(filled_); }
  /// No time has a sign, so that 63 bits may differ; 0 where none does.
  void add(const Event& event, std::uint64_t key) {
    const auto number = static_cast<int>(std::bit_width(key ^ last_));
    Bucket& bucket = buckets_[static_cast<std::size_t>(number)];
    bucket.events.push_back(event);
    bucket.least = std::min(bucket.least, key);
    filled_ |= 1ULL << number;
  }
  /// Lets time go on to the first event of a bucket, whose events differ in lower bits then.
  void spread(int number) {
    Bucket& bucket = buckets_[static_cast<std::size_t>(number)];
    last_ = bucket.least;
    buckets_[0].least = last_;
    filled_ &= ~(1ULL << number);
    bucket.least = std::numeric_limits<std::uint64_t>::max();
    for (const Event& event : bucket.events) add(event, std::bit_cast<std::uint64_t>(event.at));
    bucket.events.clear();
  }

  std::uint64_t last_ = 0;  ///< the time of the last event, as bits, which are ordered as times are
  std::array<Bucket, 64> buckets_;
  std::uint64_t filled_ = 0;  ///< a bit for each bucket that has events
  std::size_t taken_ = 0;     ///< of the first bucket
  std::priority_queue<Late, std::vector<Late>, std::greater<>> late_;
  std::int64_t made_ = 0;
};

}  // namespace hbench

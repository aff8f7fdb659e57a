#pragma once

/// When a parameter server that works while bytes arrive has handled messages of which only the arrival is seen.

#include <algorithm>
#include <chrono>
#include <vector>

namespace hbench {

/// One server's work: messages one after the other, each from its first byte on. Many senders share the server's link,
/// and their messages arrive at about the same time: their bytes came before, at no more than the link's rate, and the
/// server has handled them meanwhile. So the times of arrival are packed one before the other on the link, each as long
/// as its message is on it, and the server works through what is packed without a break.
class ServerQueue {
 public:
  using Clock = std::chrono::steady_clock;

  /// When the server has handled a message that was all there at `arrived`, was on the server's link for `on_the_link`
  /// at least, and takes `work`. A message that the server sends is there at once, and on no link before.
  /// \pre `arrived` is not before that of the last call
  Clock::time_point handles(Clock::time_point arrived, Clock::duration on_the_link, Clock::duration work) {
    const bool fits = busy_.empty() || on_the_link <= arrived - busy_.back().end;
    if (busy_.empty() || (fits && free_ <= arrived - on_the_link)) {
      busy_.push_back({arrived - on_the_link, arrived, free_, work});
    } else {
      Busy& last = busy_.back();
      if (!fits) last.begin -= on_the_link - (arrived - last.end);
      last.end = arrived;
      last.work += work;
      join();
    }
    free_ = std::max(free_, std::max(busy_.back().free_before, busy_.back().begin) + busy_.back().work);
    return free_;
  }

 private:
  /// A time in which the link was busy, as far as is known, with messages that the server works on in one go.
  struct Busy {
    Clock::time_point begin, end;
    Clock::time_point free_before;  ///< the server had handled what came before
    Clock::duration work;
  };

  /// What is packed before the end of an earlier time was on the link during that one: both are one.
  void join() {
    while (busy_.size() > 1 && busy_.back().begin < busy_[busy_.size() - 2].end) {
      const Busy later = busy_.back();
      busy_.pop_back();
      Busy& joined = busy_.back();
      joined.begin -= joined.end - later.begin;
      joined.end = later.end;
      joined.work += later.work;
    }
    constexpr std::size_t kMost = 256;  // what is older is never reached again
    if (busy_.size() > kMost) busy_.erase(busy_.begin(), busy_.end() - kMost / 2);
  }

  std::vector<Busy> busy_;
  Clock::time_point free_{};
};

}  // namespace hbench

#pragma once

/// What a slowed link cannot do by itself: messages that take their latency, and parameter servers that are busy for as
/// long as those of a cluster. Carried by another transport, on links that are slowed to a profile.
///
/// When a parameter server that works while bytes arrive has handled messages of which only the arrival is seen.

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "collectives/transport/transport.hpp"

namespace hbench {

/// Times are those of the clock: dilated already.
struct EmulatedCosts {
  /// Of messages inside a node, or between nodes.
  struct Hop {
    Seconds latency;
    /// Latency of a protocol that sends twice the bytes (`Profile::network_low_latency`); 0: there is none.
    Seconds low_latency;
    double seconds_per_byte = 0;  ///< of the link, by which the second half of those bytes takes longer
  };
  Hop local, network;
  std::vector<int> node_of_rank;
  /// A rank that is a parameter server is busy so long for each byte that is pushed to it or pulled from it; 0: no
  /// time.
  std::vector<double> server_seconds_per_byte;  ///< by rank
  bool groups = false;  ///< ranks of a node add up among themselves first: no server is involved
  /// How late this rank notices what has happened, on average; taken off the latencies.
  Seconds noticed_late;

  Seconds latency(bool local_hop, std::size_t bytes) const;
};

/// One rank's end, carried by `inner`, which outlives it. A message is there for its receiver its latency after it has
/// arrived. A server handles the messages in flight one after the other: each is there, or leaves, no sooner than the
/// server has handled it. Costs no core: nobody spins, times are looked at by `test`.
std::unique_ptr<Transport> make_emulated_transport(Transport& inner, EmulatedCosts costs);

/// One server's work: one message after the other, each from its first byte on.
///
/// When that came is not seen. Many senders share the server's link, and their messages arrive at about the same time:
/// their bytes came before, at no more than the link's rate. So a message takes the latest time before its arrival in
/// which the link carried nothing else that is known of, in pieces where it must; it began with the first of them.
class ServerQueue {
 public:
  using Clock = std::chrono::steady_clock;

  /// When the server has handled all that it knows of, with a message that was all there at `arrived`, was on the
  /// server's link for `on_the_link`, and takes `work`.
  /// \pre `arrived` is not before that of the last call
  Clock::time_point received(Clock::time_point arrived, Clock::duration on_the_link, Clock::duration work) {
    return handled({on_link(arrived, on_the_link), work});
  }

  /// The same with a message that the server sends, and that is there `now`.
  Clock::time_point sent(Clock::time_point now, Clock::duration work) { return handled({now, work}); }

 private:
  struct Busy {
    Clock::time_point begin, end;
  };
  struct Job {
    Clock::time_point begin;  ///< no sooner
    Clock::duration work;
  };

  /// When the first byte of a message was on the link. Whatever lies between that and its arrival is busy then.
  Clock::time_point on_link(Clock::time_point arrived, Clock::duration left) {
    Clock::time_point begin = arrived;
    while (!link_.empty() && link_.back().end + left > begin) {
      left -= begin - link_.back().end;
      begin = link_.back().begin;
      link_.pop_back();
    }
    begin -= left;
    link_.push_back({begin, arrived});
    constexpr std::size_t kMost = 1024;
    if (link_.size() > kMost) link_.erase(link_.begin(), link_.begin() + kMost / 2);  // none reaches so far back
    return begin;
  }

  Clock::time_point handled(const Job& job) {
    jobs_.insert(std::ranges::upper_bound(jobs_, job.begin, {}, &Job::begin), job);
    constexpr std::size_t kMost = 1024;
    if (jobs_.size() > kMost) {
      free_before_ = end_of(jobs_.begin(), jobs_.begin() + kMost / 2);
      jobs_.erase(jobs_.begin(), jobs_.begin() + kMost / 2);
    }
    return end_of(jobs_.begin(), jobs_.end());
  }

  Clock::time_point end_of(std::vector<Job>::const_iterator first, std::vector<Job>::const_iterator last) const {
    Clock::time_point end = free_before_;
    for (; first != last; ++first) end = std::max(end, first->begin) + first->work;
    return end;
  }

  std::vector<Busy> link_;           ///< apart from each other, in order
  std::vector<Job> jobs_;            ///< in the order of their begins
  Clock::time_point free_before_{};  ///< when jobs that are forgotten were done
};

}  // namespace hbench

#pragma once

#include <cstdint>
#include <deque>

namespace hbench {

/// The order in which operations issue work to a library that needs the same order on every rank (NCCL): one after the
/// other, in the order of `take`. Used by one thread at a time.
class Turns {
 public:
  using Ticket = std::uint64_t;

  /// Queues an operation.
  Ticket take() {
    waiting_.push_back(++last_);
    return last_;
  }
  /// Whether the operation is the first of the queue, and may issue.
  bool has(Ticket ticket) const { return !waiting_.empty() && waiting_.front() == ticket; }
  /// Leaves the queue, from any position.
  void leave(Ticket ticket) { std::erase(waiting_, ticket); }

 private:
  std::deque<Ticket> waiting_;
  Ticket last_ = 0;
};

}  // namespace hbench

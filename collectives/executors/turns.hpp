#pragma once

#include <cstdint>
#include <deque>

namespace hbench {

/// Who may speak to a library that must hear the same order on every rank: one after the other, in the order in which
/// they first asked. Used by one thread at a time.
class Turns {
 public:
  using Ticket = std::uint64_t;

  Ticket take() {
    waiting_.push_back(++last_);
    return last_;
  }
  bool has(Ticket ticket) const { return !waiting_.empty() && waiting_.front() == ticket; }
  /// Whether it had its turn or not.
  void leave(Ticket ticket) { std::erase(waiting_, ticket); }

 private:
  std::deque<Ticket> waiting_;
  Ticket last_ = 0;
};

}  // namespace hbench

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hbench {

/// A buffer in chunks, as an algorithm's declared traffic sees it: sizes, and nothing of who sends what. A view of
/// ascending offsets that outlive it.
class Cut {
 public:
  /// `offsets` as in `Schedule`: one more than there are chunks.
  explicit Cut(std::span<const std::int64_t> offsets) : Cut(offsets.data(), static_cast<int>(offsets.size()) - 1, 1) {}

  int chunks() const { return chunks_; }
  /// Elements of `count` chunks from `first`.
  std::int64_t size(int first, int count = 1) const { return begin_of(first + count) - begin_of(first); }
  std::int64_t total() const { return size(0, chunks_); }
  /// `count` chunks, each of `width` chunks of this one, from chunk `first` on: what a schedule inside a larger one
  /// sees.
  Cut part(int first, int count, int width = 1) const {
    return {offsets_ + static_cast<std::ptrdiff_t>(first) * stride_, count, stride_ * width};
  }

 private:
  Cut(const std::int64_t* offsets, int chunks, int stride) : offsets_(offsets), chunks_(chunks), stride_(stride) {}
  std::int64_t begin_of(int chunk) const { return offsets_[static_cast<std::ptrdiff_t>(chunk) * stride_]; }

  const std::int64_t* offsets_;
  int chunks_;
  int stride_;
};

/// Elements that one rank sends and receives.
struct Traffic {
  std::int64_t sent = 0;
  std::int64_t received = 0;

  friend Traffic operator+(const Traffic& a, const Traffic& b) { return {a.sent + b.sent, a.received + b.received}; }
  /// Of the reversed schedule.
  Traffic reversed() const { return {received, sent}; }
};

/// What is known of a schedule before it is built.
struct Shape {
  int chunks = 1;
  int rounds = 0;
  std::int64_t transfers = 0;
  /// The most runs that it can have, which is what the simulator keeps of it; 0: nothing better than `transfers` is
  /// known.
  std::int64_t runs = 0;
  int parts = 1;         ///< as in `RunSchedule`
  bool carried = false;  ///< a chunk that is less than a part is always sent on by the rank that got it last
  bool ranges = false;   ///< several chunks at a time are sent that are less than a part

  std::int64_t most_runs() const { return runs > 0 ? runs : transfers; }
};

}  // namespace hbench

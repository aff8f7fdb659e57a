#include <algorithm>
#include <deque>
#include <set>

#include "collectives/fusion/fusion.hpp"

namespace hbench {
namespace {

constexpr std::int64_t kElement = sizeof(float);

struct Piece {
  int tensor = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t bytes() const { return end - begin; }
};

/// The front of the model first: the last tensors in backward order; within a tensor its first piece.
struct MoreUrgent {
  bool operator()(const Piece& a, const Piece& b) const {
    return a.tensor != b.tensor ? a.tensor > b.tensor : a.begin < b.begin;
  }
};

/// BytePS's scheduled queue.
class Partitions final : public FusionPolicy {
 public:
  Partitions(std::span<const double> partition_and_credit, std::span<const std::int64_t> tensor_bytes)
      : partition_(std::max(static_cast<std::int64_t>(partition_and_credit[0]) / kElement, std::int64_t{1}) * kElement),
        credit_(static_cast<std::int64_t>(partition_and_credit[1])),
        tensor_bytes_(tensor_bytes.begin(), tensor_bytes.end()) {}

  std::vector<Bucket> on(const FusionEvent& event) override {
    switch (event.kind) {
      case FusionEventKind::step_begin:
        waiting_.clear();
        in_flight_.clear();
        bytes_in_flight_ = 0;
        return {};
      case FusionEventKind::gradient_ready:
        cut(event.index);
        return launch();
      case FusionEventKind::bucket_done:
        give_credit_back();
        return launch();
      case FusionEventKind::timer:
      case FusionEventKind::backward_done:
        return {};
    }
    return {};
  }

 private:
  void cut(int tensor) {
    const std::int64_t size = tensor_bytes_[static_cast<std::size_t>(tensor)];
    std::int64_t begin = 0;
    do {
      const std::int64_t end = std::min(begin + partition_, size);
      waiting_.insert({tensor, begin, end});
      begin = end;
    } while (begin < size);
  }

  /// The event does not say which piece is complete: they are taken to be so in the order in which they left.
  void give_credit_back() {
    if (in_flight_.empty()) return;
    bytes_in_flight_ -= in_flight_.front();
    in_flight_.pop_front();
  }

  /// What the credit does not suffice for is overtaken by smaller pieces; with nothing in flight the first always
  /// leaves.
  std::vector<Bucket> launch() {
    std::vector<Bucket> leaving;
    for (auto piece = waiting_.begin(); piece != waiting_.end();) {
      if (!in_flight_.empty() && bytes_in_flight_ + piece->bytes() > credit_) {
        ++piece;
        continue;
      }
      leaving.push_back(Bucket::piece(piece->tensor, piece->begin, piece->end));
      bytes_in_flight_ += piece->bytes();
      in_flight_.push_back(piece->bytes());
      piece = waiting_.erase(piece);
    }
    return leaving;
  }

  std::int64_t partition_;
  std::int64_t credit_;
  std::vector<std::int64_t> tensor_bytes_;
  std::set<Piece, MoreUrgent> waiting_;
  std::deque<std::int64_t> in_flight_;  ///< bytes
  std::int64_t bytes_in_flight_ = 0;
};

}  // namespace

extern constinit const Fusion kByteps{
    .name = "byteps",
    .summary =
        "tensors leave in pieces of at most a partition, the front of the model first, with at most "
        "credit bytes in flight",
    .citation =
        "Jiang et al., A Unified Architecture for Accelerating Distributed DNN Training in Heterogeneous "
        "GPU/CPU Clusters, OSDI 2020; Peng et al., A Generic Communication Scheduler for Distributed DNN Training "
        "Acceleration, SOSP 2019 (priority and credit)",
    .fields = "partition:credit",
    // BytePS's defaults: BYTEPS_PARTITION_BYTES is 4,096,000, its credit five of them (BYTEPS_NCCL_GROUP_SIZE + 1).
    // There it bounds what is being added up inside a node; here, what is on its way until all have the sum.
    .defaults = "4000KiB:20000KiB",
    .make = make_policy<Partitions, kByteps>,
};

}  // namespace hbench

#include "collectives/transport/shared_segment.hpp"

#include <unistd.h>

#include <algorithm>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

constexpr std::size_t kDoorbells = sizeof(SharedHeader);

/// Where the regions begin.
struct Layout {
  explicit Layout(int ranks) {
    const auto count = static_cast<std::size_t>(ranks);
    control = sizeof(SharedControl) + count * sizeof(SharedArrival);
    controls = rounded(kDoorbells + count * sizeof(DoorbellState), kPage);
    lanes = rounded(controls + control * SharedSegment::kControls, kPage);
    receipts = rounded(lanes + count * count * sizeof(SharedLane), kPage);
    parts = rounded(receipts + count * SharedSegment::kReceipts * sizeof(SharedReceipt), kPage);
  }

  std::size_t control;
  std::size_t controls;
  std::size_t lanes;
  std::size_t receipts;
  std::size_t parts;
};

}  // namespace

std::size_t SharedSegment::bytes(int ranks, std::size_t part) {
  return Layout(ranks).parts + static_cast<std::size_t>(ranks) * rounded(part, kPage);
}

std::size_t SharedSegment::good_part(int ranks) {
  const auto memory =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return rounded(2 * memory / static_cast<std::size_t>(ranks), kPage);
}

SharedSegment::SharedSegment(const SharedMemory& memory, int ranks, Rank rank)
    : base_(memory.data()),
      size_(memory.size()),
      ranks_(ranks),
      // Those of the machine: a launcher may have bound this process to one of them.
      cores_(std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)))),
      rank_(rank) {
  const std::size_t begin = Layout(ranks).parts;
  const std::size_t part = (size_ - begin) / static_cast<std::size_t>(ranks) / kPage * kPage;
  next_ = begin + static_cast<std::size_t>(rank) * part;
  end_ = next_ + part;
}

SharedHeader& SharedSegment::header() const { return object<SharedHeader>(0); }

DoorbellState& SharedSegment::doorbell(Rank rank) const {
  return object<DoorbellState>(kDoorbells + static_cast<std::size_t>(rank) * sizeof(DoorbellState));
}

void SharedSegment::ring_others() const {
  for (Rank rank = 0; rank < ranks_; ++rank)
    if (rank != rank_) ring(doorbell(rank));
}

SharedControl& SharedSegment::control(int index) const {
  const Layout layout(ranks_);
  return object<SharedControl>(layout.controls + static_cast<std::size_t>(index) * layout.control);
}

SharedArrival& SharedSegment::arrival(int index, Rank rank) const {
  const Layout layout(ranks_);
  return object<SharedArrival>(layout.controls + static_cast<std::size_t>(index) * layout.control +
                               sizeof(SharedControl) + static_cast<std::size_t>(rank) * sizeof(SharedArrival));
}

SharedLane& SharedSegment::lane(Rank from, Rank to) const {
  return object<SharedLane>(Layout(ranks_).lanes + static_cast<std::size_t>(from * ranks_ + to) * sizeof(SharedLane));
}

SharedReceipt& SharedSegment::receipt(Rank sender, std::uint32_t index) const {
  const auto place = static_cast<std::size_t>(sender) * kReceipts + index;
  return object<SharedReceipt>(Layout(ranks_).receipts + place * sizeof(SharedReceipt));
}

std::span<std::byte> SharedSegment::allocate(std::size_t bytes) {
  const std::size_t size = std::max(rounded(bytes, kCacheLine), kCacheLine);
  // What was released serves again where at most half of it would be wasted.
  const auto found = free_.lower_bound(size);
  if (found != free_.end() && found->first <= 2 * size) {
    std::byte* const memory = found->second;
    allocated_[memory] = found->first;
    free_.erase(found);
    return {memory, bytes};
  }
  if (size >= kPage) next_ = rounded(next_, kPage);
  if (next_ + size > end_)
    throw Error(ExitCode::environment, "the memory that ranks share has no room left for another buffer",
                "use smaller buffers, or fewer");
  std::byte* const memory = base_ + next_;
  SharedMemory::populate(memory, size);
  next_ += size;
  allocated_[memory] = size;
  return {memory, bytes};
}

void SharedSegment::release(std::span<std::byte> memory) {
  const auto found = allocated_.find(memory.data());
  free_.emplace(found->second, found->first);
  allocated_.erase(found);
}

bool SharedSegment::contains(std::span<const std::byte> bytes) const {
  return bytes.data() >= base_ && bytes.data() + bytes.size() <= base_ + size_;
}

}  // namespace hbench

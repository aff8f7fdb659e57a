#pragma once

/// Memory that several ranks have mapped.
///
/// The layout of the memory that all ranks of one host have mapped. Internal to the shared-memory
/// endpoints.
///
///     header | a doorbell for every rank | one control block per collective | a lane for every pair of ranks |
///     receipts | a part for every rank
///
/// Everything but the parts is atomics that begin as zero, so a fresh mapping needs no initialisation and no rank has
/// to wait for another. Addresses differ between processes; what is stored are offsets from the segment's beginning.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "collectives/base/library.hpp"
#include "collectives/base/units.hpp"
#include "collectives/transport/doorbell.hpp"

namespace hbench {

/// A mapping, unmapped when destroyed; zeroed when new. It has no name in any file system: it vanishes with the last
/// process that holds it, however that ends. Pages take memory when they are first touched, so much more may be mapped
/// than is used.
class SharedMemory {
 public:
  /// Whether processes can share memory here.
  static Availability availability();
  /// A mapping for ranks that are threads of this process.
  static SharedMemory for_threads(std::size_t bytes);
  /// A mapping for this process and those that `open` it. \throws Error (environment).
  static SharedMemory create(std::size_t bytes);
  /// Maps what process `process` of this host created, by its `handle`. \pre that process still holds the mapping.
  /// \throws Error (environment).
  static SharedMemory open(int process, int handle, std::size_t bytes);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// What other processes give to `open`; valid until `close_handle`. -1 where the mapping cannot be opened.
  int handle() const { return handle_; }
  /// Call it once all processes have opened the mapping, which stays.
  void close_handle();

  /// Allocates the pages of `bytes` from `at` now, rather than one at a time when they are touched.
  /// \throws Error (environment) where memory is short.
  static void populate(std::byte* at, std::size_t bytes);

 private:
  SharedMemory(std::byte* data, std::size_t size, int handle) : data_(data), size_(size), handle_(handle) {}

  std::byte* data_;
  std::size_t size_;
  int handle_;
};

inline constexpr std::size_t kCacheLine = 64;

/// The rank that stopped the job, for ranks that are threads, which cannot be ended from outside.
struct alignas(kCacheLine) SharedHeader {
  std::atomic<std::int32_t> stopped_by;  ///< rank + 1
  std::atomic<std::int32_t> exit_code;
};

/// One rank in one collective; written by that rank alone.
struct alignas(kCacheLine) SharedArrival {
  std::atomic<std::uint64_t> passes;   ///< that it has begun
  std::atomic<std::uint64_t> offset;   ///< of its buffer
  std::atomic<std::uint64_t> working;  ///< the pass in which it has claimed a block and not finished it; 0 when none
};

/// The counters of one collective: they only grow, so that beginning again costs nothing.
struct SharedControl {
  alignas(kCacheLine) std::atomic<std::uint64_t> arrived;  ///< ranks, over all passes
  alignas(kCacheLine) std::atomic<std::uint64_t> claimed;  ///< blocks that a rank has begun
  alignas(kCacheLine) std::atomic<std::uint64_t> done;     ///< blocks that are finished
};

/// A message: where its sender's bytes lie, and which of the sender's receipts says that they have been taken.
struct SharedMessage {
  std::uint64_t offset;
  std::uint64_t bytes;
  std::int32_t tag;
  std::uint32_t receipt;
};

/// Messages from one rank to another, in order. `posted` is the sender's, `taken` the receiver's.
struct SharedLane {
  static constexpr std::uint64_t kMessages = 64;
  alignas(kCacheLine) std::atomic<std::uint64_t> posted;
  alignas(kCacheLine) std::atomic<std::uint64_t> taken;
  alignas(kCacheLine) SharedMessage messages[kMessages];
};

/// The state of a message, kept by its sender.
enum class Receipt : std::uint32_t {
  free,
  posted,     ///< the receiver may read it
  reading,    ///< the receiver is reading it
  taken,      ///< the sender has its memory back
  withdrawn,  ///< the receiver must not read it, and sets it to taken
};
using SharedReceipt = std::atomic<Receipt>;

/// Atomics in shared memory must be atomic by the processor's instructions: a lock would belong to one process.
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && SharedReceipt::is_always_lock_free);

/// The segment as one rank sees it. Ranks that are threads each have one of their own on the same memory.
class SharedSegment {
 public:
  static constexpr int kControls = 4096;
  static constexpr std::uint32_t kReceipts = 4096;

  /// The size of a segment whose parts have `part` bytes.
  static std::size_t bytes(int ranks, std::size_t part);
  /// The size of a part such that all parts together are twice this host's memory: no rank is likely to run out of
  /// addresses.
  static std::size_t good_part(int ranks);

  /// `memory` outlives the segment.
  SharedSegment(const SharedMemory& memory, int ranks, Rank rank);

  int ranks() const { return ranks_; }
  /// Whether there is a core for every rank.
  bool enough_cores() const { return ranks_ <= cores_; }
  /// How many ranks can work at once; the same on all of them.
  int ranks_at_once() const { return std::min(ranks_, cores_); }
  Rank rank() const { return rank_; }
  SharedHeader& header() const;
  /// Rung when `rank` may go on: by whoever posts a message to it, takes one of its own, or is the last that a
  /// collective has waited for.
  DoorbellState& doorbell(Rank rank) const;
  void ring_others() const;
  SharedControl& control(int index) const;
  SharedArrival& arrival(int index, Rank rank) const;
  SharedLane& lane(Rank from, Rank to) const;
  SharedReceipt& receipt(Rank sender, std::uint32_t index) const;

  /// Allocates from this rank's part, aligned to a cache line. \throws Error (environment) when the part is full.
  std::span<std::byte> allocate(std::size_t bytes);
  void release(std::span<std::byte> memory);

  /// Whether every rank can read `bytes`.
  bool contains(std::span<const std::byte> bytes) const;
  std::uint64_t offset_of(const std::byte* at) const { return static_cast<std::uint64_t>(at - base_); }
  std::byte* at(std::uint64_t offset) const { return base_ + offset; }

 private:
  template <class T>
  T& object(std::size_t offset) const {
    return *reinterpret_cast<T*>(base_ + offset);
  }

  std::byte* base_;
  std::size_t size_;
  int ranks_;
  int cores_;  ///< of this host
  Rank rank_;
  std::size_t next_;  ///< from here on this rank's part was never allocated
  std::size_t end_;
  std::map<std::byte*, std::size_t> allocated_;  ///< with its size
  std::multimap<std::size_t, std::byte*> free_;  ///< what was released, by size
};

}  // namespace hbench

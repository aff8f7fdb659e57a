#include "collectives/transport/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

std::string text_of(std::size_t bytes) { return format(Bytes(static_cast<double>(bytes))); }

[[noreturn]] void fail(const std::string& what) {
  throw Error(ExitCode::environment, fmt::format("{}: {}", what, std::strerror(errno)),
              "see how much memory is free, and whether a limit (ulimit -v, a control group) is below it");
}

std::byte* map(std::size_t bytes, int flags, int handle) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, handle, 0);
  if (at == MAP_FAILED) fail(fmt::format("cannot map {} of shared memory", text_of(bytes)));
  return static_cast<std::byte*>(at);
}

constexpr std::size_t kPage = 4096;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

constexpr std::size_t kDoorbells = sizeof(SharedHeader);

/// Where the regions begin.
struct Regions {
  explicit Regions(int ranks) {
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

Availability SharedMemory::availability() {
  const int handle = memfd_create("hbench", MFD_CLOEXEC);
  if (handle >= 0) close(handle);
  if (handle >= 0 && access("/proc/self/fd", X_OK) == 0) return {};
  return {false, "this system has no memory that processes can share without a name (memfd_create, /proc)",
          "run on Linux 3.17 or later with /proc, or use the executor mpi"};
}

SharedMemory SharedMemory::for_threads(std::size_t bytes) {
  return {map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1), bytes, -1};
}

SharedMemory SharedMemory::create(std::size_t bytes) {
  const int handle = memfd_create("hbench", MFD_CLOEXEC);
  if (handle < 0) fail("cannot make shared memory");
  SharedMemory memory(nullptr, 0, handle);
  if (ftruncate(handle, static_cast<off_t>(bytes)) != 0) fail("cannot make shared memory of " + text_of(bytes));
  memory.data_ = map(bytes, MAP_SHARED, handle);
  memory.size_ = bytes;
  return memory;
}

SharedMemory SharedMemory::open(int process, int handle, std::size_t bytes) {
  const std::string path = fmt::format("/proc/{}/fd/{}", process, handle);
  const int own = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (own < 0) fail("cannot open the shared memory of process " + std::to_string(process));
  SharedMemory memory(nullptr, 0, own);
  memory.data_ = map(bytes, MAP_SHARED, own);
  memory.size_ = bytes;
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      handle_(std::exchange(other.handle_, -1)) {}

SharedMemory::~SharedMemory() {
  close_handle();
  if (data_ != nullptr) munmap(data_, size_);
}

void SharedMemory::close_handle() {
  if (handle_ >= 0) close(handle_);
  handle_ = -1;
}

void SharedMemory::populate(std::byte* at, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(at) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(at) + bytes;
  if (bytes == 0 || madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE) == 0) return;
  // Kernels before 5.14 do not know it; pages then come when they are touched.
  if (errno != EINVAL) fail("there are no " + text_of(bytes) + " of memory for shared buffers");
}

std::size_t SharedSegment::bytes(int ranks, std::size_t part) {
  return Regions(ranks).parts + static_cast<std::size_t>(ranks) * rounded(part, kPage);
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
  const std::size_t begin = Regions(ranks).parts;
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
  const Regions layout(ranks_);
  return object<SharedControl>(layout.controls + static_cast<std::size_t>(index) * layout.control);
}

SharedArrival& SharedSegment::arrival(int index, Rank rank) const {
  const Regions layout(ranks_);
  return object<SharedArrival>(layout.controls + static_cast<std::size_t>(index) * layout.control +
                               sizeof(SharedControl) + static_cast<std::size_t>(rank) * sizeof(SharedArrival));
}

SharedLane& SharedSegment::lane(Rank from, Rank to) const {
  return object<SharedLane>(Regions(ranks_).lanes + static_cast<std::size_t>(from * ranks_ + to) * sizeof(SharedLane));
}

SharedReceipt& SharedSegment::receipt(Rank sender, std::uint32_t index) const {
  const auto place = static_cast<std::size_t>(sender) * kReceipts + index;
  return object<SharedReceipt>(Regions(ranks_).receipts + place * sizeof(SharedReceipt));
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

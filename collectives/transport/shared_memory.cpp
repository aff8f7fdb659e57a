#include "collectives/transport/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
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

}  // namespace hbench

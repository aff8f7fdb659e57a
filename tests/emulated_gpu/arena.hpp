#pragma once

/// The memory of all emulated GPUs: a range of addresses of which no part is used twice, so that memory that was freed
/// is never anything else again, and a device's addresses differ from the host's.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "tests/emulated_gpu/operations.hpp"
#include "tests/emulated_gpu/shadow.hpp"

namespace hbench::emulated_gpu {

/// Where memory is from, which decides who may use it: a pool is opened to other GPUs as a whole.
enum class Origin : std::uint8_t { pool, device, other_process };

struct Allocation {
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  int device = 0;
  Origin origin = Origin::pool;
  OperationId made_by = 0;         ///< whoever uses the memory comes after it
  int file = -1;                   ///< a memfd, where other processes can open the memory
  bool is_freed = false;           ///< nothing may touch it any more
  bool is_freeing = false;         ///< enqueued to be freed
  OperationId checked_by = 0;      ///< the last operation that was found to have access
  std::unique_ptr<Shadow> shadow;  ///< null in memory of another process, whose accesses this one does not see
};

constexpr int kDevices = 3;

class Arena {
 public:
  Arena();
  /// Memory with bytes that are no zeros; null where the device has not enough of it. A file is mapped, and then owned.
  Allocation* allocate(std::size_t size, int device, Origin origin, OperationId made_by, int file = -1);
  /// Makes the memory inaccessible, to the host too. \pre no operation uses it
  void release(Allocation& allocation);

  /// Lets a kernel that was reported go on: maps what it must not touch.
  void let_touch(std::uintptr_t address, std::size_t bytes);

  bool contains(std::uintptr_t address) const { return address - begin_ < kBytes; }
  /// The allocation on whose pages an address lies, live or freed; null where there is none.
  Allocation* find(std::uintptr_t address) const { return owners_[(address - begin_) / kPage]; }
  /// The allocation that begins there; null where none does.
  Allocation* beginning_at(const void* address) const;
  std::size_t used(int device) const { return used_[device]; }

  static constexpr std::size_t kDeviceBytes = std::size_t{8} << 30;

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 30;
  static constexpr std::size_t kPage = 4096;

  std::uintptr_t begin_;
  Allocation** owners_;  ///< of each page; written under the mutex before anyone knows the address
  std::mutex mutex_;
  std::size_t next_ = kPage;
  std::atomic<std::size_t> used_[kDevices] = {};
};

}  // namespace hbench::emulated_gpu

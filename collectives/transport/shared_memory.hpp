#pragma once

/// Memory that several ranks have mapped.

#include <cstddef>

#include "collectives/base/availability.hpp"

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

}  // namespace hbench

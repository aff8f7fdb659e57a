#pragma once

/// GPU memory that other processes of the host can open (CUDA programming guide, Interprocess Communication).

#include <map>
#include <memory>
#include <mutex>

#include "collectives/device/device.hpp"
#include "collectives/transport/peer_memory.hpp"

namespace hbench::cuda {

/// Memory of one GPU. Freed memory is kept for later allocations, in the order of the device's stream, and returned to
/// the GPU with this object. Memory that was reported to peers is returned when the process ends: they may have it open
/// for longer than this object lives, and freeing it then is undefined (CUDA runtime API, cudaIpcCloseMemHandle).
class ShareableMemory final : public PeerMemory, public std::enable_shared_from_this<ShareableMemory> {
 public:
  explicit ShareableMemory(int gpu) : gpu_(gpu) {}
  ~ShareableMemory() override;
  ShareableMemory(const ShareableMemory&) = delete;
  ShareableMemory& operator=(const ShareableMemory&) = delete;

  /// Null when there is not enough. \throws Error (environment)
  DeviceMemory allocate(std::size_t bytes);

  MemoryHandle handle_of(std::span<const std::byte> memory) override;
  const std::byte* open(const MemoryHandle& handle) override;

 private:
  void give_back(std::byte* memory);

  const int gpu_;
  std::mutex mutex_;                                              ///< memory may be freed by any thread
  std::map<const std::byte*, std::size_t> sizes_;                 ///< of all allocations, by their beginnings
  std::multimap<std::size_t, std::byte*> free_;                   ///< by size
  std::map<const std::byte*, MemoryHandle> names_;                ///< of memory that peers were sent
  std::map<std::array<std::byte, 64>, const std::byte*> opened_;  ///< of peers
};

}  // namespace hbench::cuda

#pragma once

/// Messages between ranks that are processes of one host and reach each other's device memory: the receiver reads where
/// the sender's data lie, and only notices travel.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "collectives/transport/transport.hpp"

namespace hbench {

/// What another process needs to reach memory of a device.
struct MemoryHandle {
  std::array<std::byte, 64> name{};  ///< of the allocation; as CUDA's (cudaIpcMemHandle_t)
  std::uint64_t offset = 0;          ///< in bytes, from its beginning
};

/// One process's; used by one thread at a time.
class PeerMemory {
 public:
  virtual ~PeerMemory() = default;
  /// \throws Error (internal) for memory that is not of this process's device.
  virtual MemoryHandle handle_of(std::span<const std::byte> memory) = 0;
  /// Where this process reaches what a peer has named, as long as this object lives. \throws Error (environment)
  virtual const std::byte* open(const MemoryHandle& handle) = 0;
};

/// This rank's end. A send is complete once its receiver's device has read it, a receive once ours has: neither leaves
/// work behind. Everything given outlives it; notices travel by `control`, with tags above its users'.
std::unique_ptr<Transport> make_peer_memory_transport(Transport& control, Device& device, PeerMemory& memory);

}  // namespace hbench

#pragma once

/// How gradients travel to servers that apply them as they come: as they are, or coded by the strategy's compressor.
///
/// Which servers hold what, where they apply gradients as they come.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "collectives/compressors/compressor.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "workloads/engine/memories.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// A run of elements of one tensor on one server. What workers push to it travels by one tag, what they pull by
/// another.
struct ServerPiece {
  int number = 0;  ///< among those of all servers
  int tensor = 0;
  Rank server = 0;     ///< the rank that holds it
  ElementRange range;  ///< of the flat buffers
  int push_tag = 0, pull_tag = 0;

  /// Its part of a flat buffer.
  std::span<float> of(std::span<float> buffer) const {
    return buffer.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.size()));
  }
};

/// By tensor, the same on all ranks, which call it at the same place: it reserves tags. A server may hold several runs
/// of one tensor. \throws Error (usage) where there are more pieces than tags.
std::vector<std::vector<ServerPiece>> server_pieces(const TrainingRequest& request, const GradientLayout& layout,
                                                    Endpoint& endpoint);

/// A worker's pushes to other ranks: each piece is coded for itself, with what its pushes have lost before where the
/// compressor carries that over. Used by one thread at a time.
class PushEncoder {
 public:
  /// The endpoint outlives it. \throws Error (usage) where the device cannot do what the compressor needs.
  PushEncoder(const TrainingRequest& request, Endpoint& endpoint);

  /// Returns what of the gradients of `piece` is to be sent: themselves, or a code of them, for which they may change.
  /// Valid until the next push of the piece.
  std::span<const std::byte> encode(const ServerPiece& piece, std::span<float> gradients);

 private:
  struct Coded {
    DeviceMemory bytes;
    std::unique_ptr<GradientMemory> memory;
    std::int32_t pushes = 0;
  };

  CompressorChoice compressor_;
  std::uint64_t seed_;
  Rank rank_;
  Device& device_;
  std::shared_ptr<const Codec> codec_;  ///< null where gradients travel as they are
  std::map<int, Coded> coded_;          ///< by the number of a piece
};

/// A server's side of it.
class PushDecoder {
 public:
  /// As that of `PushEncoder`, for pieces of up to `most` elements.
  PushDecoder(const TrainingRequest& request, Endpoint& endpoint, std::size_t most);

  /// The size of a push of `elements`, which is always the same.
  std::size_t bytes_of(std::size_t elements) const;
  /// Returns the gradients of a push of `elements`. Valid until the next call, and as long as `pushed` is.
  std::span<float> decode(std::span<std::byte> pushed, std::size_t elements);

 private:
  std::shared_ptr<const Codec> codec_;
  DeviceFloats decoded_;
};

}  // namespace hbench

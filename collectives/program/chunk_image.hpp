#pragma once

/// The bytes of one rank's chunks as they travel, and what is done with them: encoding what is sent, applying what has
/// arrived. Internal to `rank_program.cpp`; `messages.hpp` says what the image is.

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/arithmetic/operand.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/program/messages.hpp"

namespace hbench {

/// Called by its rank alone. Work is enqueued on `device`, in the order of the calls.
class ChunkImage {
 public:
  /// `plan`, `codec` (null: the image is the operand's buffer), `device` and the operand's memory outlive it.
  ChunkImage(const MessagePlan& plan, const Codec* codec, Device& device, const Operand& operand);

  /// Begins run number `run`, which random codecs draw by: no chunk is encoded yet.
  void begin(std::int32_t run);

  /// Where the bytes of `message` lie in the image.
  std::span<std::byte> of(const Message& message) const { return image_.subspan(message.at, message.bytes); }
  /// Where the elements of `count` chunks from `first` lie in the operand's buffer.
  std::span<std::byte> elements_of(std::size_t first, std::size_t count) const;

  /// Encodes the chunks of a send that are not encoded yet.
  void encode(const Message& message);
  /// Adds or copies what a receive has brought; `payload` may be the message's place in the image.
  void apply(const Message& message, std::span<const std::byte> payload);
  /// Replaces the result by what its encoded form decodes to, so that all workers end with the same bits.
  void round_result();

 private:
  /// What the image holds of a chunk.
  struct Chunk {
    bool encoded = false;       ///< the encoded form of what is in the buffer
    bool written_back = false;  ///< and decoding it gives what is in the buffer
  };

  template <class Function>
  void for_chunks(const Message& message, Function function);
  std::span<float> floats(const ChunkPlace& chunk) const;
  void encode(const ChunkPlace& place, Chunk& chunk, std::int32_t draw, bool write_back);

  const MessagePlan& plan_;
  const Codec* codec_;
  Device& device_;
  Operand operand_;
  DeviceMemory encoded_;
  std::span<std::byte> image_;
  std::vector<Chunk> chunks_;
  std::int32_t run_ = 0;
};

}  // namespace hbench

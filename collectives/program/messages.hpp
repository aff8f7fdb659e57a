#pragma once

/// A rank's plan worked out for one element count and codec: which bytes go where, and what waits for what. Internal to
/// the programs of this folder.
///
/// Messages lie in an *image* of the buffer: the buffer itself, or, where a codec encodes what travels, the encoded
/// forms of all chunks side by side. Chunks are encoded one by one, so that a chunk has one encoded form whichever
/// message it travels in, and a rank that passes a chunk on sends the bytes that it received.
///
/// Only data dependencies order things. A send waits until what was received into its chunks in earlier rounds is
/// there; a receive is applied once the sends of its chunks, of its own and earlier rounds, have left, and after the
/// receives before it. What a receive cannot apply before a send of its own round has left is *held* in the
/// staging buffer, since its peer may wait for the same. So no message waits for one of a later round, and by induction
/// over the rounds every message arrives.
///
/// The bytes of one rank's chunks as they travel, and what is done with them: encoding what is sent, applying what has
/// arrived.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// One message of one rank.
struct Message {
  Rank peer = 0;
  bool send = false;
  TransferKind kind = TransferKind::copy;
  int round = 0;  ///< of the schedule
  int step = 0;   ///< counts the rounds in which this rank moves something
  int first_chunk = 0;
  int chunk_count = 0;
  std::size_t at = 0;  ///< in the image
  std::size_t bytes = 0;
  /// A receive that lands in the staging buffer, from `offset` of its step's slot; else in the image.
  bool staged = false;
  std::size_t offset = 0;
  /// A receive that must be taken from its sender before it may be applied.
  bool held = false;
  /// A send after which this rank, too, continues with what the receiver decodes.
  bool writes_back = false;
  /// A copy whose encoded form is sent on, so that the image must keep it.
  bool passed_on = false;
  int waits = 0;    ///< the number of messages that it waits for
  int before = -1;  ///< the message before it to, or from, the same peer: they are posted and tested in this order
  std::vector<int> successors;  ///< that wait for this one
};

/// Where one chunk lies.
struct ChunkPlace {
  std::int64_t first = 0;  ///< element
  std::int64_t elements = 0;
  std::size_t at = 0;  ///< in the image
  std::size_t bytes = 0;
};

struct MessagePlan {
  Rank rank = 0;
  World world;
  CollectiveKind collective = CollectiveKind::all_reduce;
  int rounds = 0;                 ///< of the schedule
  std::vector<Message> messages;  ///< step by step; within a step receives, then sends, each in posting order
  std::vector<int> steps;         ///< where each step begins in `messages`, and the end
  std::vector<ChunkPlace> chunks;
  std::size_t image = 0;    ///< bytes
  std::size_t staging = 0;  ///< bytes of one step's slot
  /// Results may differ in their last digits between workers until each has rounded them as the codec does: some hold
  /// what they added up themselves, others what was copied to them.
  bool rounds_result = false;

  /// A server of its own, which brings nothing.
  bool is_dedicated() const { return rank >= world.workers; }
};

/// The messages of `plan` for a buffer of `elements` elements of `element_size` bytes, encoded by `codec` or, where it
/// is null, travelling as they are. Messages without elements are dropped; the peer drops them too.
///
/// Lossy codecs: a worker must end with the very bits its peers end with, so the sender of a *copy* keeps the decoded
/// form of what it sent, and so do two ranks that exchange *reduces* of one chunk (each then adds the same two
/// numbers).
MessagePlan lay_out(const RankPlan& plan, const Codec* codec, std::int64_t elements, std::size_t element_size);

/// Called by its rank alone. Work is enqueued on `device`, in the order of the calls.
class ChunkImage {
 public:
  /// `plan`, `codec` (null: the image is the operand's buffer), `device` and the operand's memory outlive it.
  ChunkImage(const MessagePlan& plan, const Codec* codec, Device& device, const Operand& operand);

  /// Begins run number `run`, which random codecs draw by: no chunk is encoded yet.
  void begin(std::int32_t run);

  /// Where the bytes of `message` lie in the image.
  std::span<std::byte> of(const Message& message) const { return image_.subspan(message.at, message.bytes); }
  /// Encodes the chunks of a send that are not encoded yet.
  void encode(const Message& message);
  /// Adds or copies what a receive has brought; `payload` may be the message's place in the image.
  void apply(const Message& message, std::span<const std::byte> payload);
  /// Turns the buffer into the result, once every message is done: what was added up is rounded where all workers are
  /// to end with the same bits, and divided where it is an average.
  void finish();

 private:
  /// What the image holds of a chunk.
  struct Chunk {
    bool encoded = false;       ///< the encoded form of what is in the buffer
    bool written_back = false;  ///< and decoding it gives what is in the buffer
  };

  template <class Function>
  void for_chunks(const Message& message, Function function);
  std::span<float> floats(const ChunkPlace& chunk) const;
  /// Where the elements of `count` chunks from `first` lie in the operand's buffer.
  std::span<std::byte> elements_of(std::size_t first, std::size_t count) const;
  /// Replaces the result by what its encoded form decodes to.
  void round_result();
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

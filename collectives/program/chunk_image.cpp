#include "collectives/program/chunk_image.hpp"

#include <algorithm>

namespace hbench {
namespace {

/// What ranks that hold the same sum must draw alike: it depends on what is sent when, but not on who sends it.
std::int32_t draw_of(const Message& message) { return message.kind == TransferKind::copy ? 0 : message.round + 1; }

}  // namespace

ChunkImage::ChunkImage(const MessagePlan& plan, const Codec* codec, Device& device, const Operand& operand)
    : plan_(plan),
      codec_(codec),
      device_(device),
      operand_(operand),
      image_(operand.buffer),
      chunks_(plan.chunks.size()) {
  if (codec == nullptr) return;
  encoded_ = device.allocate(plan.image);
  image_ = {encoded_.get(), plan.image};
}

void ChunkImage::begin(std::int32_t run) {
  run_ = run;
  std::ranges::fill(chunks_, Chunk());
}

std::span<std::byte> ChunkImage::elements_of(std::size_t first, std::size_t count) const {
  const ChunkPlace& begin = plan_.chunks[first];
  const ChunkPlace& last = plan_.chunks[first + count - 1];
  const std::size_t size = size_of(operand_.type);
  return operand_.buffer.subspan(static_cast<std::size_t>(begin.first) * size,
                                 static_cast<std::size_t>(last.first + last.elements - begin.first) * size);
}

std::span<float> ChunkImage::floats(const ChunkPlace& chunk) const {
  return operand_.floats().subspan(static_cast<std::size_t>(chunk.first), static_cast<std::size_t>(chunk.elements));
}

/// Calls `function` for each chunk of the message that has elements: the others have no encoded form.
template <class Function>
void ChunkImage::for_chunks(const Message& message, Function function) {
  for (int i = message.first_chunk; i < message.first_chunk + message.chunk_count; ++i) {
    const ChunkPlace& place = plan_.chunks[static_cast<std::size_t>(i)];
    if (place.elements > 0) function(place, chunks_[static_cast<std::size_t>(i)]);
  }
}

void ChunkImage::encode(const ChunkPlace& place, Chunk& chunk, std::int32_t draw, bool write_back) {
  const std::span<std::byte> form = image_.subspan(place.at, place.bytes);
  if (!chunk.encoded) codec_->encode(floats(place), {.rank = draw, .step = run_, .offset = place.first}, form);
  chunk.encoded = true;
  if (!write_back || chunk.written_back) return;
  codec_->decode(form, TransferKind::copy, floats(place));
  chunk.written_back = true;
}

void ChunkImage::encode(const Message& message) {
  if (codec_ == nullptr) return;
  for_chunks(message, [&](const ChunkPlace& place, Chunk& chunk) {
    encode(place, chunk, draw_of(message), message.writes_back);
  });
}

void ChunkImage::apply(const Message& message, std::span<const std::byte> payload) {
  const std::span<std::byte> target = of(message);
  const bool elsewhere = payload.data() != target.data();
  const bool copies = message.kind == TransferKind::copy;
  if (codec_ == nullptr && !copies) return device_.accumulate(operand_.type, operand_.op, payload, target);
  if (elsewhere && copies && (codec_ == nullptr || message.passed_on)) device_.copy(payload, target);
  if (codec_ == nullptr) return;
  for_chunks(message, [&](const ChunkPlace& place, Chunk& chunk) {
    codec_->decode(payload.subspan(place.at - message.at, place.bytes), message.kind, floats(place));
    chunk = {.encoded = copies, .written_back = copies};
  });
}

void ChunkImage::round_result() {
  for (std::size_t i = 0; i < chunks_.size(); ++i)
    if (plan_.chunks[i].elements > 0) encode(plan_.chunks[i], chunks_[i], 0, true);
}

}  // namespace hbench

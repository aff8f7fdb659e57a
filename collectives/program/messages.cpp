#include "collectives/program/messages.hpp"

#include <algorithm>
#include <map>

namespace hbench {
namespace {

/// Staged messages begin on cache lines of their own.
constexpr std::size_t kAlignment = 64;
/// ... and have room to begin as what they are added to does: a GPU then takes 16 bytes at a time.
constexpr std::size_t kPhase = 16;

bool overlaps_any(const Transfer& transfer, const std::vector<Transfer>& others) {
  return std::ranges::any_of(others, [&](const Transfer& other) { return overlap(transfer, other); });
}

/// Works through a plan step by step.
class Layout {
 public:
  Layout(const RankPlan& plan, const Codec* codec, std::int64_t elements, std::size_t element_size)
      : plan_(plan), codec_(codec), uses_(static_cast<std::size_t>(plan.schedule.chunks)) {
    out_.rank = plan.rank;
    out_.world = plan.schedule.world;
    out_.collective = plan.schedule.collective;
    out_.rounds = plan.schedule.rounds;
    for (int chunk = 0; chunk < plan.schedule.chunks; ++chunk) {
      const ElementRange range = plan.schedule.range(chunk, 1, elements);
      const std::size_t bytes = codec != nullptr && range.size() > 0
                                    ? static_cast<std::size_t>(codec->max_wire_bytes(range.size()))
                                    : static_cast<std::size_t>(range.size()) * element_size;
      out_.chunks.push_back({range.begin, range.size(), out_.image, bytes});
      out_.image += bytes;
    }
  }

  void add(const RankPlan::Step& step) {
    const std::size_t begin = out_.messages.size();
    step_staging_ = 0;
    for (const Transfer& transfer : step.receives) add_message(transfer, false);
    const std::size_t sends = out_.messages.size();
    for (const Transfer& transfer : step.sends) add_message(transfer, true);
    // Sends read what was there before the step's receives.
    for (std::size_t i = sends; i < out_.messages.size(); ++i) order_send(i, step);
    for (std::size_t i = begin; i < sends; ++i) order_receive(i, step);
    if (out_.messages.size() == begin) return;
    out_.steps.push_back(static_cast<int>(begin));
    out_.staging = std::max(out_.staging, step_staging_);
  }

  MessagePlan finished() {
    out_.steps.push_back(static_cast<int>(out_.messages.size()));
    out_.rounds_result = exchanges_ && plan_.copies && out_.collective == CollectiveKind::all_reduce;
    return std::move(out_);
  }

 private:
  /// Who has last touched a chunk: indices into the messages.
  struct Uses {
    int writer = -1;
    std::vector<int> readers;  ///< since then
  };

  static Transfer chunks_of(const Message& message) {
    return {.first_chunk = message.first_chunk, .chunk_count = message.chunk_count};
  }

  void add_message(const Transfer& transfer, bool send) {
    const ChunkPlace& first = out_.chunks[static_cast<std::size_t>(transfer.first_chunk)];
    const ChunkPlace& last = out_.chunks[static_cast<std::size_t>(transfer.first_chunk + transfer.chunk_count - 1)];
    Message message{.peer = send ? transfer.dst : transfer.src,
                    .send = send,
                    .kind = transfer.kind,
                    .round = transfer.round,
                    .step = static_cast<int>(out_.steps.size()),
                    .first_chunk = transfer.first_chunk,
                    .chunk_count = transfer.chunk_count,
                    .at = first.at,
                    .bytes = last.at + last.bytes - first.at};
    if (last.first + last.elements == first.first) return;
    const auto [newest, none] = newest_.try_emplace({message.peer, send}, -1);
    message.before = newest->second;
    newest->second = static_cast<int>(out_.messages.size());
    out_.messages.push_back(std::move(message));
  }

  void wait_for(std::size_t later, int earlier) {
    std::vector<int>& successors = out_.messages[static_cast<std::size_t>(earlier)].successors;
    // One message's edges are added in one go, so an equal one is the last.
    if (!successors.empty() && successors.back() == static_cast<int>(later)) return;
    successors.push_back(static_cast<int>(later));
    ++out_.messages[later].waits;
  }

  void order_send(std::size_t index, const RankPlan::Step& step) {
    Message& send = out_.messages[index];
    for (int chunk = send.first_chunk; chunk < send.first_chunk + send.chunk_count; ++chunk) {
      Uses& uses = uses_[static_cast<std::size_t>(chunk)];
      if (uses.writer >= 0) {
        wait_for(index, uses.writer);
        out_.messages[static_cast<std::size_t>(uses.writer)].passed_on = true;
      }
      uses.readers.push_back(static_cast<int>(index));
    }
    if (codec_ == nullptr || out_.is_dedicated()) return;
    const bool exchange = std::ranges::any_of(step.receives, [&](const Transfer& receive) {
      return receive.kind == TransferKind::reduce && overlap(receive, chunks_of(send));
    });
    exchanges_ = exchanges_ || exchange;
    send.writes_back = exchange || send.kind == TransferKind::copy;
  }

  void order_receive(std::size_t index, const RankPlan::Step& step) {
    Message& receive = out_.messages[index];
    receive.held = overlaps_any(chunks_of(receive), step.sends);
    for (int chunk = receive.first_chunk; chunk < receive.first_chunk + receive.chunk_count; ++chunk) {
      Uses& uses = uses_[static_cast<std::size_t>(chunk)];
      for (const int reader : uses.readers) wait_for(index, reader);
      if (uses.writer >= 0) {
        wait_for(index, uses.writer);
        const Message& writer = out_.messages[static_cast<std::size_t>(uses.writer)];
        receive.held = receive.held || (writer.held && writer.step == receive.step);
      }
      uses = {.writer = static_cast<int>(index)};
    }
    receive.staged = receive.held || receive.kind == TransferKind::reduce;
    if (!receive.staged) return;
    receive.offset = step_staging_;
    step_staging_ += (receive.bytes + kPhase + kAlignment - 1) / kAlignment * kAlignment;
  }

  const RankPlan& plan_;
  const Codec* codec_;
  MessagePlan out_;
  std::vector<Uses> uses_;  ///< by chunk
  std::map<std::pair<Rank, bool>, int> newest_;
  std::size_t step_staging_ = 0;
  bool exchanges_ = false;
};

/// What ranks that hold the same sum must draw alike: it depends on what is sent when, but not on who sends it.
std::int32_t draw_of(const Message& message) { return message.kind == TransferKind::copy ? 0 : message.round + 1; }

}  // namespace

MessagePlan lay_out(const RankPlan& plan, const Codec* codec, std::int64_t elements, std::size_t element_size) {
  Layout layout(plan, codec, elements, element_size);
  for (const RankPlan::Step& step : plan.steps) layout.add(step);
  return layout.finished();
}

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

void ChunkImage::finish() {
  if (plan_.rounds_result) round_result();
  // Averages are not within groups, where parts are not those of ranks.
  if (plan_.is_dedicated() || operand_.op != ReduceOp::average) return;
  const int workers = plan_.world.workers;
  if (plan_.collective == CollectiveKind::all_reduce)
    device_.finish(operand_.type, operand_.op, workers, operand_.buffer);
  if (plan_.collective == CollectiveKind::reduce_scatter) {
    const std::size_t part = plan_.chunks.size() / static_cast<std::size_t>(workers);
    device_.finish(operand_.type, operand_.op, workers, elements_of(static_cast<std::size_t>(plan_.rank) * part, part));
  }
}

void ChunkImage::round_result() {
  for (std::size_t i = 0; i < chunks_.size(); ++i)
    if (plan_.chunks[i].elements > 0) encode(plan_.chunks[i], chunks_[i], 0, true);
}

}  // namespace hbench

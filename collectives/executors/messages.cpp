#include "collectives/executors/messages.hpp"

#include <algorithm>

namespace hbench {
namespace {

/// Staged messages begin on cache lines of their own.
constexpr std::size_t kAlignment = 64;

bool overlap(const Transfer& a, const Transfer& b) {
  return a.first_chunk < b.first_chunk + b.chunk_count && b.first_chunk < a.first_chunk + a.chunk_count;
}

bool overlaps_any(const Transfer& transfer, const std::vector<Transfer>& others) {
  return std::ranges::any_of(others, [&](const Transfer& other) { return overlap(transfer, other); });
}

/// Works through a plan round by round.
class Layout {
 public:
  Layout(const RankPlan& plan, const Codec* codec, std::int64_t elements, std::size_t element_size)
      : plan_(plan), codec_(codec), elements_(elements), element_size_(element_size), settled_(plan.schedule.chunks) {}

  MessageRound round(const RankPlan::Step& step) {
    MessageRound round;
    round.round = (step.sends.empty() ? step.receives : step.sends).front().round;
    for (const Transfer& transfer : step.sends) add_send(transfer, step, round);
    for (const Transfer& transfer : step.receives) add_receive(transfer, step, round);
    return round;
  }

 private:
  Message message(const Transfer& transfer, Rank peer) const {
    Message message;
    message.peer = peer;
    message.range = plan_.schedule.range(transfer.first_chunk, transfer.chunk_count, elements_);
    message.kind = transfer.kind;
    message.bytes = codec_ != nullptr ? static_cast<std::size_t>(codec_->max_wire_bytes(message.range.size()))
                                      : static_cast<std::size_t>(message.range.size()) * element_size_;
    return message;
  }

  static void stage(Message& message, MessageRound& round) {
    message.staged = true;
    message.offset = round.staging;
    round.staging += (message.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  void add_send(const Transfer& transfer, const RankPlan::Step& step, MessageRound& round) {
    Message send = message(transfer, transfer.dst);
    if (send.range.size() == 0) return;
    if (codec_ != nullptr) {
      encode_once(send, round);
      send.settles = settles(transfer, step);
    }
    round.sends.push_back(send);
  }

  /// Equal sends of one round, such as a server's answers, share one encoded form.
  void encode_once(Message& send, MessageRound& round) const {
    const auto same = std::ranges::find_if(round.sends, [&](const Message& other) {
      return other.range.begin == send.range.begin && other.range.end == send.range.end;
    });
    if (same == round.sends.end()) {
      stage(send, round);
      send.encodes = true;
    } else {
      send.staged = true;
      send.offset = same->offset;
    }
  }

  bool settles(const Transfer& transfer, const RankPlan::Step& step) {
    const bool wants_the_sum = plan_.rank < plan_.schedule.world.workers;
    if (!wants_the_sum) return false;
    const bool exchange = std::ranges::any_of(step.receives, [&](const Transfer& receive) {
      return receive.kind == TransferKind::reduce && overlap(receive, transfer);
    });
    if (transfer.kind != TransferKind::copy && !exchange) return false;
    const auto first = settled_.begin() + transfer.first_chunk;
    if (std::all_of(first, first + transfer.chunk_count, [](bool settled) { return settled; })) return false;
    mark(transfer, true);
    return true;
  }

  void add_receive(const Transfer& transfer, const RankPlan::Step& step, MessageRound& round) {
    Message receive = message(transfer, transfer.src);
    mark(transfer, transfer.kind == TransferKind::copy);
    if (receive.range.size() == 0) return;
    const bool verbatim = codec_ == nullptr;
    receive.after_sends = verbatim && overlaps_any(transfer, step.sends);
    if (!verbatim || receive.after_sends || receive.kind == TransferKind::reduce) stage(receive, round);
    round.receives.push_back(receive);
  }

  void mark(const Transfer& transfer, bool settled) {
    std::fill_n(settled_.begin() + transfer.first_chunk, transfer.chunk_count, settled);
  }

  const RankPlan& plan_;
  const Codec* codec_;
  std::int64_t elements_;
  std::size_t element_size_;
  /// Chunks whose value on this rank survives encoding.
  std::vector<bool> settled_;
};

}  // namespace

std::vector<MessageRound> lay_out(const RankPlan& plan, const Codec* codec, std::int64_t elements,
                                  std::size_t element_size) {
  Layout layout(plan, codec, elements, element_size);
  std::vector<MessageRound> rounds;
  for (const RankPlan::Step& step : plan.steps) {
    MessageRound round = layout.round(step);
    if (!round.sends.empty() || !round.receives.empty()) rounds.push_back(std::move(round));
  }
  return rounds;
}

}  // namespace hbench

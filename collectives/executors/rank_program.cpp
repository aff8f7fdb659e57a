#include "collectives/executors/rank_program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/executors/messages.hpp"

namespace hbench {
namespace {

/// A message that has been posted.
struct Posted {
  Transport::Request request;
  bool done = false;
};

}  // namespace

struct RankProgram::State {
  State(const RankPlan& of, const Codec* with, Transport& over, int with_tag, const Operand& on)
      : plan(of),
        codec(with),
        transport(over),
        tag(with_tag),
        operand(on),
        rounds(lay_out(of, with, on.elements(), size_of(on.type))) {
    std::size_t needed = 0;
    for (const MessageRound& round : rounds) needed = std::max(needed, round.staging);
    staging = std::make_unique_for_overwrite<std::byte[]>(needed);
    prepare_buffer();
  }

  ~State() {
    for (auto* messages : {&receives, &sends}) {
      for (const Posted& message : *messages) {
        if (!message.done) transport.cancel(message.request);
      }
    }
  }

  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const MessageRound& round() const { return rounds[current]; }
  bool complete() const { return current == rounds.size(); }

  void prepare_buffer() const {
    if (plan.rank >= plan.schedule.world.workers) fill_neutral(operand.type, operand.op, operand.buffer);
  }

  std::span<std::byte> part(const Message& message) const {
    const std::size_t size = size_of(operand.type);
    return operand.buffer.subspan(static_cast<std::size_t>(message.range.begin) * size,
                                  static_cast<std::size_t>(message.range.size()) * size);
  }

  std::span<float> floats(const Message& message) const {
    const std::span<std::byte> bytes = part(message);
    return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
  }

  std::span<std::byte> wire(const Message& message) const {
    return message.staged ? std::span(staging.get() + message.offset, message.bytes) : part(message);
  }

  void encode(const Message& message) const {
    codec->encode(floats(message), {.rank = plan.rank, .step = run, .offset = message.range.begin}, wire(message));
  }

  /// What arrived, or was encoded, becomes part of the buffer.
  void take(const Message& message, TransferKind kind) const {
    if (codec != nullptr) return codec->decode(wire(message), kind, floats(message));
    if (kind == TransferKind::reduce) return accumulate(operand.type, operand.op, wire(message), part(message));
    std::ranges::copy(wire(message), part(message).begin());
  }

  void enter() {
    for (const Message& message : round().receives) {
      receives.push_back({transport.receive(message.peer, tag, wire(message))});
    }
    for (const Message& message : round().sends) {
      if (message.encodes) encode(message);
      if (message.settles) take(message, TransferKind::copy);
      sends.push_back({transport.send(message.peer, tag, wire(message))});
    }
    applied = 0;
    entered = true;
  }

  /// In posting order, so that a sum of several messages is the same in every run.
  void apply(bool sends_left) {
    for (; applied < receives.size() && receives[applied].done; ++applied) {
      const Message& message = round().receives[applied];
      if (message.after_sends && !sends_left) return;
      if (message.staged) take(message, message.kind);
    }
  }

  bool all_done(std::vector<Posted>& messages) {
    bool all = true;
    for (Posted& message : messages) {
      if (!message.done) message.done = transport.test(message.request);
      all = all && message.done;
    }
    return all;
  }

  bool progress() {
    while (!complete()) {
      if (!entered) enter();
      const bool sends_left = all_done(sends);
      all_done(receives);
      apply(sends_left);
      if (!sends_left || applied < receives.size()) return false;
      sends.clear();
      receives.clear();
      entered = false;
      ++current;
    }
    if (!finished) finish(operand.type, operand.op, plan.schedule.world.workers, operand.buffer);
    finished = true;
    return true;
  }

  void restart() {
    prepare_buffer();
    current = 0;
    finished = false;
    ++run;
  }

  std::vector<Rank> waiting_ranks() const {
    std::vector<Rank> ranks;
    const auto add = [&](const std::vector<Message>& messages, const std::vector<Posted>& posted) {
      for (std::size_t i = 0; i < messages.size(); ++i) {
        const bool known = std::ranges::find(ranks, messages[i].peer) != ranks.end();
        if ((i >= posted.size() || !posted[i].done) && !known) ranks.push_back(messages[i].peer);
      }
    };
    if (complete()) return ranks;
    add(round().receives, receives);
    add(round().sends, sends);
    return ranks;
  }

  const RankPlan& plan;
  const Codec* codec;
  Transport& transport;
  int tag;
  Operand operand;
  std::vector<MessageRound> rounds;
  std::unique_ptr<std::byte[]> staging;
  std::size_t current = 0;  ///< index into `rounds`
  bool entered = false;     ///< the current round's messages are posted
  bool finished = false;
  std::int32_t run = 0;     ///< how often it was restarted
  std::size_t applied = 0;  ///< receives whose content is in the buffer
  std::vector<Posted> receives;
  std::vector<Posted> sends;
};

RankProgram::RankProgram(const RankPlan& plan, const Codec* codec, Transport& transport, int tag,
                         const Operand& operand)
    : state_(std::make_unique<State>(plan, codec, transport, tag, operand)) {}

RankProgram::~RankProgram() = default;

bool RankProgram::progress() { return state_->progress(); }

void RankProgram::restart() { state_->restart(); }

std::string RankProgram::waiting_for() const {
  const std::vector<Rank> ranks = state_->waiting_ranks();
  if (ranks.empty()) return {};
  return fmt::format("{} {} in round {} of {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "),
                     state_->round().round + 1, state_->plan.schedule.rounds);
}

std::vector<Rank> RankProgram::waiting_ranks() const { return state_->waiting_ranks(); }

}  // namespace hbench

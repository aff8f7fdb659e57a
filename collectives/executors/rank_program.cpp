#include "collectives/executors/rank_program.hpp"

#include <fmt/format.h>

#include <algorithm>

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
  State(const RankPlan& plan, const Compressor& with, Transport& over, int with_tag, std::span<float> on)
      : compressor(with),
        transport(over),
        tag(with_tag),
        buffer(on),
        total_rounds(plan.schedule.rounds),
        rounds(lay_out(plan, with, static_cast<std::int64_t>(on.size()))) {
    std::size_t needed = 0;
    for (const MessageRound& round : rounds) needed = std::max(needed, round.staging);
    staging = std::make_unique_for_overwrite<std::byte[]>(needed);
    if (plan.rank >= plan.schedule.world.workers) std::ranges::fill(buffer, 0.0F);
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

  std::span<float> part(const Message& message) const {
    return buffer.subspan(static_cast<std::size_t>(message.range.begin),
                          static_cast<std::size_t>(message.range.size()));
  }

  std::span<std::byte> wire(const Message& message) const {
    if (message.staged) return {staging.get() + message.offset, message.bytes};
    return std::as_writable_bytes(part(message));
  }

  void enter() {
    for (const Message& message : round().receives) {
      receives.push_back({transport.receive(message.peer, tag, wire(message))});
    }
    for (const Message& message : round().sends) {
      if (message.encodes) compressor.encode(part(message), wire(message));
      if (message.settles) compressor.decode(wire(message), TransferKind::copy, part(message));
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
      if (message.staged) compressor.decode(wire(message), message.kind, part(message));
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
    return true;
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

  const Compressor& compressor;
  Transport& transport;
  int tag;
  std::span<float> buffer;
  int total_rounds;
  std::vector<MessageRound> rounds;
  std::unique_ptr<std::byte[]> staging;
  std::size_t current = 0;  ///< index into `rounds`
  bool entered = false;     ///< the current round's messages are posted
  std::size_t applied = 0;  ///< receives whose content is in the buffer
  std::vector<Posted> receives;
  std::vector<Posted> sends;
};

RankProgram::RankProgram(const RankPlan& plan, const Compressor& compressor, Transport& transport, int tag,
                         std::span<float> buffer)
    : state_(std::make_unique<State>(plan, compressor, transport, tag, buffer)) {}

RankProgram::~RankProgram() = default;

bool RankProgram::progress() { return state_->progress(); }

std::string RankProgram::waiting_for() const {
  const std::vector<Rank> ranks = state_->waiting_ranks();
  if (ranks.empty()) return {};
  return fmt::format("{} {} in round {} of {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "),
                     state_->round().round + 1, state_->total_rounds);
}

std::vector<Rank> RankProgram::waiting_ranks() const { return state_->waiting_ranks(); }

}  // namespace hbench

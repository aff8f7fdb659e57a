#include "workloads/engine/messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

namespace hbench {
namespace {

class Flush final : public Operation {
 public:
  explicit Flush(Outbox& outbox) : outbox_(outbox) {}
  bool progress() override { return outbox_.progress(); }
  std::string waiting_for() const override { return fmt::format("rank {}", fmt::join(waiting_ranks(), ", ")); }
  std::vector<Rank> waiting_ranks() const override { return outbox_.receivers(); }

 private:
  Outbox& outbox_;
};

}  // namespace

Outbox::~Outbox() {
  for (const Message& message : messages_ | std::views::reverse) transport_.cancel(message.request);
}

void Outbox::send(Rank to, int tag, std::span<const std::byte> payload) {
  Message& message = messages_.emplace_back(Message{to, {}, {payload.begin(), payload.end()}});
  message.request = transport_.send(to, tag, message.payload);
}

bool Outbox::progress() {
  messages_.remove_if([&](const Message& message) { return transport_.test(message.request); });
  return messages_.empty();
}

std::vector<Rank> Outbox::receivers() const {
  std::vector<Rank> ranks;
  for (const Message& message : messages_) ranks.push_back(message.to);
  return ranks;
}

void receive_now(Transport& transport, Rank from, int tag, std::span<std::byte> payload, Seconds timeout,
                 std::string_view what) {
  PostedMessage message(transport, transport.receive(from, tag, payload), from);
  wait_for(message, timeout, what);
}

void flush(Outbox& outbox, Seconds timeout, std::string_view what) {
  Flush operation(outbox);
  wait_for(operation, timeout, what);
}

}  // namespace hbench

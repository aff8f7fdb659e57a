#include "workloads/engine/mail.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ranges>

#include "collectives/executors/posted_message.hpp"
#include "collectives/executors/wait.hpp"

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
  for (const Letter& letter : letters_ | std::views::reverse) transport_.cancel(letter.request);
}

void Outbox::send(Rank to, int tag, std::span<const std::byte> payload) {
  Letter& letter = letters_.emplace_back(Letter{to, {}, {payload.begin(), payload.end()}});
  letter.request = transport_.send(to, tag, letter.payload);
}

bool Outbox::progress() {
  letters_.remove_if([&](const Letter& letter) { return transport_.test(letter.request); });
  return letters_.empty();
}

std::vector<Rank> Outbox::receivers() const {
  std::vector<Rank> ranks;
  for (const Letter& letter : letters_) ranks.push_back(letter.to);
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

#include "workloads/engine/mail.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/executors/wait.hpp"

namespace hbench {
namespace {

class Receive final : public Operation {
 public:
  Receive(Transport& transport, Rank from, int tag, std::span<std::byte> payload)
      : transport_(transport), from_(from), request_(transport.receive(from, tag, payload)) {}
  ~Receive() override {
    if (!done_) transport_.cancel(request_);
  }
  Receive(const Receive&) = delete;
  Receive& operator=(const Receive&) = delete;

  bool progress() override { return done_ = done_ || transport_.test(request_); }
  std::string waiting_for() const override { return done_ ? std::string() : fmt::format("rank {}", from_); }
  std::vector<Rank> waiting_ranks() const override { return done_ ? std::vector<Rank>() : std::vector<Rank>{from_}; }

 private:
  Transport& transport_;
  Rank from_;
  Transport::Request request_;
  bool done_ = false;
};

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
  for (const Letter& letter : letters_) transport_.cancel(letter.request);
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
  Receive receive(transport, from, tag, payload);
  wait_for(receive, timeout, what);
}

void flush(Outbox& outbox, Seconds timeout, std::string_view what) {
  Flush operation(outbox);
  wait_for(operation, timeout, what);
}

}  // namespace hbench

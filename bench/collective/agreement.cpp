#include "bench/collective/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/executors/wait.hpp"

namespace hbench {
namespace {

/// Below the tags of `Endpoint::prepare`.
constexpr int kTag = 11000;

/// One message, to be waited for.
class Message final : public Operation {
 public:
  Message(Transport& transport, Transport::Request request, Rank peer)
      : transport_(transport), request_(request), peer_(peer) {}
  ~Message() override {
    if (!done_) transport_.cancel(request_);
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  bool progress() override { return done_ = done_ || transport_.test(request_); }
  std::string waiting_for() const override { return done_ ? "" : fmt::format("rank {}", peer_); }
  std::vector<Rank> waiting_ranks() const override { return done_ ? std::vector<Rank>() : std::vector{peer_}; }

 private:
  Transport& transport_;
  Transport::Request request_;
  Rank peer_;
  bool done_ = false;
};

}  // namespace

void Agreement::wait(Transport::Request request, Rank peer) {
  Message message(transport_, request, peer);
  wait_for(message, timeout_, fmt::format("rank {}", transport_.rank()));
}

void Agreement::send_to(Rank peer, std::span<const double> values) {
  wait(transport_.send(peer, kTag, std::as_bytes(values)), peer);
}

void Agreement::receive_from(Rank peer, std::span<double> values) {
  wait(transport_.receive(peer, kTag, std::as_writable_bytes(values)), peer);
}

template <class Reduce>
double Agreement::agree(double mine, Reduce reduce) {
  if (transport_.rank() != 0) {
    send_to(0, {&mine, 1});
    receive_from(0, {&mine, 1});
    return mine;
  }
  for (Rank peer = 1; peer < transport_.size(); ++peer) {
    double theirs = 0;
    receive_from(peer, {&theirs, 1});
    mine = reduce(mine, theirs);
  }
  for (Rank peer = 1; peer < transport_.size(); ++peer) send_to(peer, {&mine, 1});
  return mine;
}

double Agreement::largest(double mine) {
  return agree(mine, [](double a, double b) { return std::max(a, b); });
}

std::int64_t Agreement::total(std::int64_t mine) {
  return static_cast<std::int64_t>(agree(static_cast<double>(mine), [](double a, double b) { return a + b; }));
}

std::vector<std::vector<double>> Agreement::gather(std::span<const double> mine) {
  if (transport_.rank() != 0) {
    send_to(0, mine);
    return {};
  }
  std::vector<std::vector<double>> all{{mine.begin(), mine.end()}};
  for (Rank peer = 1; peer < transport_.size(); ++peer) receive_from(peer, all.emplace_back(mine.size()));
  return all;
}

}  // namespace hbench

#include "bench/worker/agreement.hpp"

#include <algorithm>

#include "collectives/transport/transport.hpp"

namespace hbench {
namespace {

/// Below the tags of `Endpoint::prepare`.
constexpr int kAgreementTag = 11000;

}  // namespace

void Agreement::wait(Transport::Request request, Rank peer) {
  PostedMessage message(transport_, request, peer);
  wait_for(message, timeout_, "between two iterations");
}

void Agreement::send_to(Rank peer, std::span<const double> values) {
  wait(transport_.send(peer, kAgreementTag, std::as_bytes(values)), peer);
}

void Agreement::receive_from(Rank peer, std::span<double> values) {
  wait(transport_.receive(peer, kAgreementTag, std::as_writable_bytes(values)), peer);
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

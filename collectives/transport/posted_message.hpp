#pragma once

#include <fmt/format.h>

#include "collectives/transport/operation.hpp"
#include "collectives/transport/transport.hpp"
#include "collectives/transport/wait.hpp"

namespace hbench {

/// One posted message as an operation; cancelled when it is destroyed before it is complete.
class PostedMessage final : public Operation {
 public:
  PostedMessage(Transport& transport, Transport::Request request, Rank peer)
      : transport_(transport), request_(request), peer_(peer) {}
  ~PostedMessage() override {
    if (!done_) transport_.cancel(request_);
  }
  PostedMessage(const PostedMessage&) = delete;
  PostedMessage& operator=(const PostedMessage&) = delete;

  bool progress() override { return done_ = done_ || transport_.test(request_); }
  std::string waiting_for() const override { return done_ ? "" : fmt::format("rank {}", peer_); }
  std::vector<Rank> waiting_ranks() const override { return done_ ? std::vector<Rank>() : std::vector{peer_}; }

 private:
  Transport& transport_;
  Transport::Request request_;
  Rank peer_;
  bool done_ = false;
};

/// Waits until a message that was just posted is complete; \param what as for `wait_for`. \throws Error (lost_rank).
inline void complete(Transport& transport, Transport::Request request, Rank peer, Seconds timeout,
                     std::string_view what) {
  PostedMessage message(transport, request, peer);
  wait_for(message, timeout, what);
}

}  // namespace hbench

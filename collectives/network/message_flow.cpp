#include "collectives/network/message_flow.hpp"

#include <algorithm>

namespace hbench {

void MessageFlow::advance() {
  const auto [at, cue] = events_.pop();
  now_ = at;
  if (cue.kind == kTakesTurn)
    take_turn(cue.subject);
  else
    owner_->cued(cue);
}

int MessageFlow::connection(Rank src, Rank dst) {
  std::vector<int>& known = connection_of_[static_cast<std::size_t>(src)];
  if (known.empty()) known.assign(connection_of_.size(), -1);
  int& connection = known[static_cast<std::size_t>(dst)];
  if (connection < 0) {
    connection = static_cast<int>(connections_.size());
    connections_.emplace_back();
  }
  return connection;
}

void MessageFlow::send(int sender, const Transfer& transfer, const Network::Message& whole, std::int64_t bytes,
                       double start) {
  Queued queued{.sender = sender, .transfer = transfer, .start = start};
  queued.pieces = static_cast<int>(std::max<std::int64_t>(1, (bytes + turn_ - 1) / turn_));
  queued.bytes = (bytes + queued.pieces - 1) / queued.pieces;
  queued.each = {.link = whole.link / queued.pieces,
                 .streams = whole.streams / queued.pieces,
                 .server = whole.server / queued.pieces,
                 .afterwards = whole.afterwards};
  if (transfer.kind == TransferKind::copy) {
    // A server handles one pull after the other, and its link is not behind: bytes leave as they have been handled.
    queued.handled = network_->pass_server(transfer.src, transfer.dst, transfer.kind, whole.server, start);
    queued.start = std::max(start, queued.handled - std::max(whole.link, whole.streams));
  }
  const int on = connection(transfer.src, transfer.dst);
  Connection& path = connections_[static_cast<std::size_t>(on)];
  // Many messages are short and find their connection idle: these need no event.
  if (queued.pieces == 1 && path.first < 0 && std::max(path.free_at, queued.start) <= now_)
    owner_->arrived(sender, transfer, send_piece(path, queued).value());
  else
    enqueue(on, queued);
}

void MessageFlow::enqueue(int on, const Queued& queued) {
  if (unused_.empty()) {
    unused_.push_back(static_cast<int>(queued_.size()));
    queued_.emplace_back();
  }
  const int place = unused_.back();
  unused_.pop_back();
  queued_[static_cast<std::size_t>(place)] = queued;
  Connection& path = connections_[static_cast<std::size_t>(on)];
  if (path.first >= 0) {
    queued_[static_cast<std::size_t>(path.last)].next = place;
    path.last = place;
    return;
  }
  path.first = path.last = place;
  cue(std::max(path.free_at, queued.start), {.kind = kTakesTurn, .subject = on});
}

void MessageFlow::take_turn(int on) {
  Connection& path = connections_[static_cast<std::size_t>(on)];
  std::int64_t room = turn_;
  while (path.first >= 0) {
    Queued& queued = queued_[static_cast<std::size_t>(path.first)];
    if (queued.start > now_ || queued.bytes > room) break;
    room -= queued.bytes;
    const std::optional<double> arrival = send_piece(path, queued);
    if (!arrival) continue;
    unused_.push_back(path.first);
    path.first = queued.next;
    owner_->arrived(queued.sender, queued.transfer, *arrival);
  }
  if (path.first >= 0)
    cue(std::max(path.free_at, queued_[static_cast<std::size_t>(path.first)].start),
        {.kind = kTakesTurn, .subject = on});
}

std::optional<double> MessageFlow::send_piece(Connection& path, Queued& queued) {
  const auto& [round, src, dst, chunk, count, kind] = queued.transfer;
  path.free_at = network_->pass_links(src, dst, queued.each, now_);
  if (kind == TransferKind::reduce) {
    // Pushes are handled as they come from the link.
    const double came = path.free_at - queued.each.link;
    queued.handled = std::max(queued.handled, network_->pass_server(src, dst, kind, queued.each.server, came));
  }
  if (--queued.pieces > 0) return std::nullopt;
  return std::max(path.free_at, queued.handled) + queued.each.afterwards;
}

}  // namespace hbench

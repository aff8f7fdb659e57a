#include "collectives/network/concurrent_collectives.hpp"

#include <algorithm>
#include <limits>

namespace hbench {
namespace {

std::size_t chunk_of(const Transfer& transfer) { return static_cast<std::size_t>(transfer.first_chunk); }

}  // namespace

int ConcurrentCollectives::begin(const SimulationPlan& plan, std::int64_t elements, Seconds start) {
  const int number = static_cast<int>(collectives_.size());
  Collective& collective = *collectives_.emplace_back(std::make_unique<Collective>());
  collective.chunk_begin = plan.chunk_begin(elements);
  const std::size_t chunks = collective.chunk_begin.size() - 1;
  collective.chunks.resize(chunks);
  collective.ready.assign(chunks * ranks(), start.value);
  collective.finish = start.value;
  collective.unfinished = static_cast<int>(chunks);
  for (const PlannedRun& planned : plan.runs())
    for (int index = 0; index < planned.run.count; ++index) collective.transfers.push_back(planned.run.at(index));

  std::vector<int> first_round(chunks, std::numeric_limits<int>::max());
  for (const Transfer& transfer : collective.transfers) {
    int& first = first_round[chunk_of(transfer)];
    first = std::min(first, transfer.round);
  }
  const auto others = std::ranges::stable_partition(collective.transfers, [&](const Transfer& transfer) {
    return transfer.round == first_round[chunk_of(transfer)];
  });
  std::ranges::stable_sort(others, {}, &Transfer::first_chunk);
  collective.first_rounds = collective.transfers.size() - others.size();
  for (std::size_t i = 0; i < collective.transfers.size(); ++i) {
    Chunk& chunk = collective.chunks[chunk_of(collective.transfers[i])];
    if (i < collective.first_rounds) {
      ++chunk.missing;
    } else {
      if (chunk.end == 0) chunk.next = i;
      chunk.end = i + 1;
    }
  }
  add_event(start.value, EventKind::begin, number);
  return number;
}

std::int64_t ConcurrentCollectives::bytes_in_flight(const World& world, const Shape& shape) {
  // Half of the messages can be queued at once: what is sent back is not while something has yet to come.
  constexpr auto kTransfer = static_cast<std::int64_t>(sizeof(Transfer) + sizeof(Queued) / 2);
  constexpr auto kTime = static_cast<std::int64_t>(sizeof(double));
  return kTransfer * shape.transfers + kTime * shape.chunks * world.ranks();
}

std::optional<int> ConcurrentCollectives::advance() {
  const Event event = events_.top();
  events_.pop();
  now_ = event.at;
  switch (event.kind) {
    case EventKind::begin:
      send_first_rounds(event.subject);
      break;
    case EventKind::round:
      send_round(event.subject, event.chunk);
      break;
    case EventKind::turn:
      take_turn(event.subject);
      break;
    case EventKind::finish:
      collectives_[static_cast<std::size_t>(event.subject)] = nullptr;
      return event.subject;
  }
  return std::nullopt;
}

void ConcurrentCollectives::send_first_rounds(int number) {
  Collective& collective = *collectives_[static_cast<std::size_t>(number)];
  // Nobody sends a chunk that is nowhere missing: it is where it is wanted.
  for (std::size_t chunk = 0; chunk < collective.chunks.size(); ++chunk)
    if (collective.chunks[chunk].missing == 0) prepare_round(number, static_cast<int>(chunk));
  for (std::size_t i = 0; i < collective.first_rounds; ++i) send(number, collective.transfers[i]);
}

void ConcurrentCollectives::prepare_round(int number, int index) {
  Collective& collective = *collectives_[static_cast<std::size_t>(number)];
  Chunk& chunk = collective.chunks[static_cast<std::size_t>(index)];
  if (chunk.next == chunk.end) {
    if (--collective.unfinished == 0) add_event(collective.finish, EventKind::finish, number);
    return;
  }
  double earliest = std::numeric_limits<double>::infinity();
  const int round = collective.transfers[chunk.next].round;
  for (std::size_t i = chunk.next; i < chunk.end && collective.transfers[i].round == round; ++i) {
    earliest = std::min(earliest, ready(collective, index, collective.transfers[i].src));
    ++chunk.missing;
  }
  add_event(earliest, EventKind::round, number, index);
}

void ConcurrentCollectives::send_round(int number, int index) {
  Collective& collective = *collectives_[static_cast<std::size_t>(number)];
  Chunk& chunk = collective.chunks[static_cast<std::size_t>(index)];
  const std::size_t begin = chunk.next;
  chunk.next += static_cast<std::size_t>(chunk.missing);
  for (std::size_t i = begin, end = chunk.next; i < end; ++i) send(number, collective.transfers[i]);
}

int ConcurrentCollectives::connection(Rank src, Rank dst) {
  const std::int64_t key = static_cast<std::int64_t>(src) * static_cast<std::int64_t>(ranks()) + dst;
  const auto [known, is_new] = connection_of_.try_emplace(key, static_cast<int>(connections_.size()));
  if (is_new) connections_.emplace_back();
  return known->second;
}

void ConcurrentCollectives::send(int number, const Transfer& transfer) {
  Collective& collective = *collectives_[static_cast<std::size_t>(number)];
  const auto& [round, src, dst, chunk, count, kind] = transfer;
  const double start = ready(collective, chunk, src);
  const std::int64_t elements =
      collective.chunk_begin[chunk_of(transfer) + 1] - collective.chunk_begin[chunk_of(transfer)];
  if (elements == 0 || src == dst) return arrive(number, transfer, start);

  const Network::Message& whole = messages_.of(network_->is_local(src, dst), kind, elements);
  const std::int64_t bytes = messages_.encoding().wire_bytes(elements);
  Queued queued{.collective = number, .transfer = transfer, .start = start};
  queued.pieces = static_cast<int>(std::max<std::int64_t>(1, (bytes + kPieceBytes - 1) / kPieceBytes));
  queued.bytes = (bytes + queued.pieces - 1) / queued.pieces;
  queued.each = {.link = whole.link / queued.pieces,
                 .streams = whole.streams / queued.pieces,
                 .server = whole.server / queued.pieces,
                 .afterwards = whole.afterwards};
  if (kind == TransferKind::copy) {
    // A server handles one pull after the other, and its link is not behind: bytes leave as they have been handled.
    queued.handled = network_->pass_server(src, dst, kind, whole.server, start);
    queued.start = std::max(start, queued.handled - std::max(whole.link, whole.streams));
  }
  const int on = connection(src, dst);
  Connection& path = connections_[static_cast<std::size_t>(on)];
  // Many messages are short and find their connection idle: these need no event.
  if (queued.pieces == 1 && path.first < 0 && std::max(path.free_at, queued.start) <= now_) {
    arrive(number, transfer, send_piece(path, queued).value());
  } else {
    enqueue(on, queued);
  }
}

void ConcurrentCollectives::enqueue(int on, const Queued& queued) {
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
  add_event(std::max(path.free_at, queued.start), EventKind::turn, on);
}

void ConcurrentCollectives::take_turn(int on) {
  Connection& path = connections_[static_cast<std::size_t>(on)];
  std::int64_t room = kPieceBytes;
  while (path.first >= 0) {
    Queued& queued = queued_[static_cast<std::size_t>(path.first)];
    if (queued.start > now_ || queued.bytes > room) break;
    room -= queued.bytes;
    const std::optional<double> arrival = send_piece(path, queued);
    if (!arrival) continue;
    unused_.push_back(path.first);
    path.first = queued.next;
    arrive(queued.collective, queued.transfer, *arrival);
  }
  if (path.first >= 0)
    add_event(std::max(path.free_at, queued_[static_cast<std::size_t>(path.first)].start), EventKind::turn, on);
}

std::optional<double> ConcurrentCollectives::send_piece(Connection& path, Queued& queued) {
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

void ConcurrentCollectives::arrive(int number, const Transfer& transfer, double at) {
  Collective& collective = *collectives_[static_cast<std::size_t>(number)];
  double& known = ready(collective, transfer.first_chunk, transfer.dst);
  known = std::max(known, at);
  collective.finish = std::max(collective.finish, at);
  if (--collective.chunks[chunk_of(transfer)].missing == 0) prepare_round(number, transfer.first_chunk);
}

}  // namespace hbench

#include "collectives/network/concurrent_collectives.hpp"

#include <algorithm>
#include <limits>

namespace hbench {
namespace {

/// Transfers of plans that are kept for later (25 MB).
constexpr std::size_t kMostKept = std::size_t{1} << 20;

std::size_t chunk_of(const Transfer& transfer) { return static_cast<std::size_t>(transfer.first_chunk); }

}  // namespace

ConcurrentPlan::ConcurrentPlan(const RankLayout& layout, const SimulationPlan& plan, std::int64_t elements)
    : chunk_begin(plan.chunk_begin(elements)), chunks(chunk_begin.size() - 1), moved(plan.moved(layout, elements)) {
  for (const PlannedRun& planned : plan.runs())
    for (int index = 0; index < planned.run.count; ++index) transfers.push_back(planned.run.at(index));

  std::vector<int> first_round(chunks.size(), std::numeric_limits<int>::max());
  for (const Transfer& transfer : transfers) {
    int& first = first_round[chunk_of(transfer)];
    first = std::min(first, transfer.round);
  }
  const auto others = std::ranges::stable_partition(
      transfers, [&](const Transfer& transfer) { return transfer.round == first_round[chunk_of(transfer)]; });
  std::ranges::stable_sort(others, {}, &Transfer::first_chunk);
  first_rounds = transfers.size() - others.size();
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    Chunk& chunk = chunks[chunk_of(transfers[i])];
    if (i < first_rounds) {
      ++chunk.missing;
    } else {
      if (chunk.end == 0) chunk.next = i;
      chunk.end = i + 1;
    }
  }
}

std::shared_ptr<const ConcurrentPlan> ConcurrentPlans::of(const RankLayout& layout, const World& world,
                                                          const AlgorithmChoice& algorithm,
                                                          const std::vector<Shard>& shards, std::int64_t elements) {
  std::vector<std::int64_t> placed;
  for (const Shard& shard : shards) placed.insert(placed.end(), {shard.server, shard.elements});
  Key key{world, algorithm.algorithm, algorithm.parameters, elements, std::move(placed)};
  if (const auto known = made_.find(key); known != made_.end()) return known->second;
  auto made = std::make_shared<const ConcurrentPlan>(layout, SimulationPlan(layout, algorithm.runs(world, 1, shards)),
                                                     elements);
  if (kept_ > kMostKept) {
    made_.clear();
    kept_ = 0;
  }
  kept_ += made->transfers.size();
  return made_.emplace(std::move(key), std::move(made)).first->second;
}

int ConcurrentCollectives::begin(std::shared_ptr<const ConcurrentPlan> plan, Seconds start) {
  const int number = static_cast<int>(collectives_.size());
  Collective& collective = *collectives_.emplace_back(std::make_unique<Collective>());
  collective.chunks = plan->chunks;
  collective.ready.assign(plan->chunks.size() * ranks(), start.value);
  collective.finish = start.value;
  collective.unfinished = static_cast<int>(plan->chunks.size());
  collective.plan = std::move(plan);
  flow_.cue(start.value, {kBegin, number});
  return number;
}

std::int64_t ConcurrentCollectives::bytes_in_flight(const World& world, const Shape& shape) {
  // Half of the messages can be queued at once: what is sent back is not while something has yet to come.
  constexpr auto kTransfer = static_cast<std::int64_t>(sizeof(Transfer)) + MessageFlow::bytes_per_message() / 2;
  constexpr auto kTime = static_cast<std::int64_t>(sizeof(double));
  return kTransfer * shape.transfers + kTime * shape.chunks * world.ranks();
}

std::optional<int> ConcurrentCollectives::advance() {
  finished_.reset();
  flow_.advance();
  return finished_;
}

void ConcurrentCollectives::cued(const MessageFlow::Cue& cue) {
  switch (cue.kind) {
    case kBegin:
      return send_first_rounds(cue.subject);
    case kRound:
      return send_round(cue.subject, cue.part);
    default:
      collectives_[static_cast<std::size_t>(cue.subject)] = nullptr;
      finished_ = cue.subject;
  }
}

void ConcurrentCollectives::send_first_rounds(int number) {
  Collective& collective = *collectives_[static_cast<std::size_t>(number)];
  // Nobody sends a chunk that is nowhere missing: it is where it is wanted.
  for (std::size_t chunk = 0; chunk < collective.chunks.size(); ++chunk)
    if (collective.chunks[chunk].missing == 0) prepare_round(number, static_cast<int>(chunk));
  for (std::size_t i = 0; i < collective.plan->first_rounds; ++i) send(number, collective.plan->transfers[i]);
}

void ConcurrentCollectives::prepare_round(int number, int index) {
  Collective& collective = *collectives_[static_cast<std::size_t>(number)];
  ConcurrentPlan::Chunk& chunk = collective.chunks[static_cast<std::size_t>(index)];
  if (chunk.next == chunk.end) {
    if (--collective.unfinished == 0) flow_.cue(collective.finish, {kFinish, number});
    return;
  }
  double earliest = std::numeric_limits<double>::infinity();
  const std::vector<Transfer>& transfers = collective.plan->transfers;
  const int round = transfers[chunk.next].round;
  for (std::size_t i = chunk.next; i < chunk.end && transfers[i].round == round; ++i) {
    earliest = std::min(earliest, ready(collective, index, transfers[i].src));
    ++chunk.missing;
  }
  flow_.cue(earliest, {kRound, number, index});
}

void ConcurrentCollectives::send_round(int number, int index) {
  Collective& collective = *collectives_[static_cast<std::size_t>(number)];
  ConcurrentPlan::Chunk& chunk = collective.chunks[static_cast<std::size_t>(index)];
  const std::size_t begin = chunk.next;
  chunk.next += static_cast<std::size_t>(chunk.missing);
  for (std::size_t i = begin, end = chunk.next; i < end; ++i) send(number, collective.plan->transfers[i]);
}

void ConcurrentCollectives::send(int number, const Transfer& transfer) {
  Collective& collective = *collectives_[static_cast<std::size_t>(number)];
  const double start = ready(collective, transfer.first_chunk, transfer.src);
  const std::vector<std::int64_t>& begin = collective.plan->chunk_begin;
  const std::int64_t elements = begin[chunk_of(transfer) + 1] - begin[chunk_of(transfer)];
  if (elements == 0 || transfer.src == transfer.dst) return arrived(number, transfer, start);
  const Network::Message& whole = messages_.of(network_->is_local(transfer.src, transfer.dst), transfer.kind, elements);
  flow_.send(number, transfer, whole, messages_.encoding().wire_bytes(elements), start);
}

void ConcurrentCollectives::arrived(int number, const Transfer& transfer, double at) {
  Collective& collective = *collectives_[static_cast<std::size_t>(number)];
  double& known = ready(collective, transfer.first_chunk, transfer.dst);
  known = std::max(known, at);
  collective.finish = std::max(collective.finish, at);
  if (--collective.chunks[chunk_of(transfer)].missing == 0) prepare_round(number, transfer.first_chunk);
}

}  // namespace hbench

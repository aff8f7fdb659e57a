#include "collectives/endpoints/shared_one_pass.hpp"

#include <algorithm>
#include <stdexcept>

#include "collectives/transport/shared_transport.hpp"

namespace hbench {
namespace {

/// The most bytes of all buffers together that a rank claims at once: large enough for a claim to cost nothing, small
/// enough to stay in a core's second-level cache between reading and writing, and for the last blocks to be shared.
constexpr std::size_t kMostTogether = 256 << 10;
/// The least of one buffer: below it a second rank that joins in costs more than it saves.
constexpr std::size_t kLeastBlock = 4 << 10;

/// How one chunk travels.
struct Journey {
  Rank owner = -1;  ///< the rank that takes the contributions, or gives the result
  int reduce_round = -1;
  int copy_round = -1;
  int reduces = 0;
  int copies = 0;
};

/// Adds `transfer` to the journey of a chunk; false where it cannot belong to one of a single owner.
bool add(const Transfer& transfer, Journey& journey) {
  const bool reduces = transfer.kind == TransferKind::reduce;
  const Rank owner = reduces ? transfer.dst : transfer.src;
  int& round = reduces ? journey.reduce_round : journey.copy_round;
  if (journey.owner < 0) journey.owner = owner;
  if (round < 0) round = transfer.round;
  ++(reduces ? journey.reduces : journey.copies);
  return owner == journey.owner && round == transfer.round;
}

/// Whether the owner gets the contribution of every other rank, and every other rank its result.
bool whole(const Schedule& schedule, const Journey& journey) {
  const int workers = schedule.world.workers;
  const int others = journey.owner >= 0 && journey.owner < workers ? workers - 1 : workers;
  if (workers == 1 && journey.owner < 0) return true;
  switch (schedule.collective) {
    case CollectiveKind::all_reduce:
      return journey.reduces == others && journey.copies == others && journey.reduce_round < journey.copy_round;
    case CollectiveKind::reduce_scatter:
      return journey.reduces == others && journey.copies == 0;
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast:
      return journey.reduces == 0 && journey.copies == others;
  }
  return false;
}

}  // namespace

OnePass::OnePass(const Schedule& schedule, const Operand& operand, SharedSegment& segment, int control,
                 ControlLedger& ledger, ByteCounts& byte_counts)
    : collective_(schedule.collective),
      workers_(schedule.world.workers),
      operand_(operand),
      segment_(segment),
      control_(segment.control(control)),
      own_(segment.arrival(control, segment.rank())),
      control_index_(control),
      ledger_(ledger),
      byte_counts_(byte_counts),
      buffer_(operand.buffer),
      staged_(!segment.contains(operand.buffer)) {
  if (schedule.world.ranks() != segment.ranks())
    throw std::logic_error("the schedule is for another number of ranks than share memory");
  cut(schedule);
  count(schedule);
  if (staged_) buffer_ = segment_.allocate(operand.buffer.size());
  ledger_.used = true;
}

OnePass::~OnePass() {
  ledger_.used = false;
  // Peers may still write this rank's buffer unless it is complete: then the copy is not reused.
  if (staged_ && stage_ != Stage::arrived) segment_.release(buffer_);
}

void OnePass::cut(const Schedule& schedule) {
  const std::int64_t elements = operand_.elements();
  if (collective_ == CollectiveKind::all_reduce || collective_ == CollectiveKind::broadcast)
    return cut({0, elements}, 0);
  const int chunks = schedule.chunks / workers_;
  for (Rank owner = 0; owner < workers_; ++owner) cut(schedule.range(owner * chunks, chunks, elements), owner);
}

void OnePass::cut(ElementRange range, Rank owner) {
  const std::size_t size = size_of(operand_.type);
  const auto end = static_cast<std::size_t>(range.end) * size;
  const auto ranks = static_cast<std::size_t>(segment_.ranks());
  const auto at_once = static_cast<std::size_t>(segment_.ranks_at_once());
  const std::size_t share = (operand_.buffer.size() / at_once + kCacheLine - 1) / kCacheLine * kCacheLine;
  const std::size_t block = std::max(std::min(share, kMostTogether / ranks / kCacheLine * kCacheLine), kLeastBlock);
  for (std::size_t begin = static_cast<std::size_t>(range.begin) * size; begin < end;) {
    // Blocks end where cache lines end, so that two ranks do not write one line.
    const std::size_t next = std::min(end, (begin + block) / kCacheLine * kCacheLine);
    blocks_.push_back({begin, next > begin ? next : end, owner});
    begin = blocks_.back().end;
  }
  // Ranks wait for each other even where there is nothing to move.
  if (blocks_.empty()) blocks_.push_back({0, 0, owner});
}

void OnePass::count(const Schedule& schedule) {
  for (const Transfer& transfer : schedule.transfers) {
    const ElementRange range = schedule.range(transfer.first_chunk, transfer.chunk_count, operand_.elements());
    const std::size_t bytes = static_cast<std::size_t>(range.size()) * size_of(operand_.type);
    if (transfer.src == segment_.rank()) sends_.push_back({transfer.dst, bytes});
    if (transfer.dst == segment_.rank()) receives_.push_back({transfer.src, bytes});
  }
}

bool OnePass::progress() {
  if (stage_ == Stage::complete) return true;
  if (stage_ == Stage::begin) arrive();
  const std::uint64_t last = first_block_ + blocks_.size();
  if (control_.done.load() < last) {
    if (blocks_.size() > 1 && everybody_is_there()) claim_blocks();
    if (control_.done.load() < last) {
      if (segment_.header().stopped_by.load(std::memory_order_relaxed) != 0) throw stopped_error(segment_);
      return false;
    }
  }
  complete();
  return true;
}

bool OnePass::everybody_is_there() const {
  return control_.arrived.load() >= pass_ * static_cast<std::uint64_t>(segment_.ranks());
}

void OnePass::arrive() {
  pass_ = ++ledger_.passes;
  first_block_ = ledger_.blocks;
  ledger_.blocks += blocks_.size();
  if (staged_) std::ranges::copy(operand_.buffer, buffer_.begin());
  if (addresses_.empty()) own_.offset.store(segment_.offset_of(buffer_.data()), std::memory_order_relaxed);
  own_.passes.store(pass_, std::memory_order_relaxed);
  stage_ = Stage::arrived;
  // Publishes this rank's contribution; the last rank to arrive sees those of all others.
  const std::uint64_t before = control_.arrived.fetch_add(1);
  const bool last = before + 1 == pass_ * static_cast<std::uint64_t>(segment_.ranks());
  if (last && blocks_.size() > 1) segment_.ring_others();
  if (last && blocks_.size() == 1) {
    // One rank has nothing to share: nobody else reads `claimed`.
    control_.claimed.store(first_block_ + 1, std::memory_order_relaxed);
    work(blocks_.front());
  }
}

void OnePass::learn_addresses() {
  for (Rank rank = 0; rank < segment_.ranks(); ++rank) {
    const SharedArrival& arrival = segment_.arrival(control_index_, rank);
    addresses_.push_back(segment_.at(arrival.offset.load(std::memory_order_relaxed)));
  }
  sources_.reserve(addresses_.size());
  targets_.reserve(addresses_.size());
}

void OnePass::claim_blocks() {
  const std::uint64_t last = first_block_ + blocks_.size();
  std::uint64_t next = control_.claimed.load(std::memory_order_relaxed);
  while (next < last) {
    if (!control_.claimed.compare_exchange_weak(next, next + 1, std::memory_order_relaxed)) continue;
    work(blocks_[next - first_block_]);
    next = control_.claimed.load(std::memory_order_relaxed);
  }
}

void OnePass::work(const Block& block) {
  own_.working.store(pass_, std::memory_order_relaxed);
  if (addresses_.empty()) learn_addresses();
  sources_.clear();
  targets_.clear();
  const bool adds = reduces(collective_);
  for (Rank worker = 0; worker < workers_; ++worker) {
    std::byte* const at = addresses_[static_cast<std::size_t>(worker)] + block.begin;
    if (adds || worker == block.owner) sources_.push_back(at);
    if (collective_ == CollectiveKind::all_reduce ||
        (collective_ == CollectiveKind::reduce_scatter) == (worker == block.owner))
      targets_.push_back(at);
  }
  const int divisor = operand_.op == ReduceOp::average && adds ? workers_ : 1;
  if (block.end > block.begin && !targets_.empty())
    combine(operand_.type, operand_.op, sources_, targets_, block.end - block.begin, divisor);
  own_.working.store(0, std::memory_order_relaxed);
  const std::uint64_t done = control_.done.fetch_add(1) + 1;
  if (done == first_block_ + blocks_.size()) segment_.ring_others();
}

void OnePass::complete() {
  stage_ = Stage::complete;
  for (const Message& each : sends_) byte_counts_.send(each.peer, each.bytes);
  for (const Message& each : receives_) byte_counts_.receive(each.peer, each.bytes, workers_);
  if (staged_) std::ranges::copy(buffer_, operand_.buffer.begin());
}

std::vector<Rank> OnePass::waiting_ranks() const {
  std::vector<Rank> ranks;
  if (stage_ == Stage::complete) return ranks;
  const std::uint64_t pass = stage_ == Stage::begin ? ledger_.passes + 1 : pass_;
  const bool all = everybody_is_there();
  for (Rank rank = 0; rank < segment_.ranks(); ++rank) {
    if (rank == segment_.rank()) continue;
    const SharedArrival& arrival = segment_.arrival(control_index_, rank);
    const bool late = arrival.passes.load(std::memory_order_relaxed) < pass;
    if (all ? arrival.working.load(std::memory_order_relaxed) == pass : late) ranks.push_back(rank);
  }
  return ranks;
}

std::string OnePass::waiting_for() const {
  if (stage_ == Stage::complete) return {};
  const std::vector<Rank> ranks = waiting_ranks();
  if (ranks.empty()) return "the ranks that share its memory";
  return text_of_ranks(ranks) + (everybody_is_there() ? " to finish a block" : " to arrive");
}

bool has_one_pass_form(const Schedule& schedule) {
  std::vector<Journey> journeys(static_cast<std::size_t>(schedule.chunks));
  for (const Transfer& transfer : schedule.transfers) {
    if (transfer.src == transfer.dst) continue;
    for (int chunk = transfer.first_chunk; chunk < transfer.first_chunk + transfer.chunk_count; ++chunk)
      if (!add(transfer, journeys[static_cast<std::size_t>(chunk)])) return false;
  }
  return std::ranges::all_of(journeys, [&](const Journey& journey) { return whole(schedule, journey); });
}

}  // namespace hbench

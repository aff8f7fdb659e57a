#include "collectives/endpoints/shared_small.hpp"

#include <algorithm>
#include <stdexcept>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/transport/shared_transport.hpp"

namespace hbench {
namespace {

/// The largest buffer for which one wait less outweighs the additional reading.
constexpr std::size_t kMostBytes = 4096;

}  // namespace

bool is_small_all_reduce(const Schedule& schedule, std::size_t bytes) {
  return schedule.collective == CollectiveKind::all_reduce && bytes <= kMostBytes;
}

SmallAllReduce::SmallAllReduce(const Schedule& schedule, const Operand& operand, SharedSegment& segment, int control,
                               ControlLedger& ledger)
    : workers_(schedule.world.workers),
      operand_(operand),
      segment_(segment),
      control_(control),
      own_(segment.arrival(control, segment.rank())),
      ledger_(ledger) {
  if (schedule.world.ranks() != segment.ranks())
    throw std::logic_error("the schedule is for another number of ranks than share memory");
  // The slots stay with the control block: peers may still read them when this rank is done.
  if (ledger_.places.empty()) ledger_.places = segment_.allocate(2 * kMostBytes);
  own_.places.store(segment_.offset_of(ledger_.places.data()), std::memory_order_relaxed);
  for (Rank rank = 0; rank < segment_.ranks(); ++rank) arrivals_.push_back(&segment_.arrival(control_, rank));
  contributions_.resize(static_cast<std::size_t>(workers_));
  ledger_.used = true;
}

/// Two slots are used in turn: a rank that arrives in the next epoch but one knows that all ranks have arrived in the
/// next, and so have read this one.
std::uint64_t SmallAllReduce::place() const { return epoch_ % 2 * kMostBytes; }

void SmallAllReduce::arrive() {
  epoch_ = ++ledger_.epochs;
  next_ = 0;
  std::ranges::copy(operand_.buffer, ledger_.places.begin() + static_cast<std::ptrdiff_t>(place()));
  own_.epoch.store(epoch_);
  segment_.ring_others();
  stage_ = Stage::arrived;
}

bool SmallAllReduce::everybody_is_there() {
  for (; next_ < segment_.ranks(); ++next_)
    if (arrivals_[static_cast<std::size_t>(next_)]->epoch.load() < epoch_) return false;
  return true;
}

bool SmallAllReduce::progress() {
  if (stage_ == Stage::complete) return true;
  if (stage_ == Stage::begin) arrive();
  if (!everybody_is_there()) {
    if (segment_.header().stopped_by.load(std::memory_order_relaxed) != 0) throw stopped_error(segment_);
    return false;
  }
  combine_all();
  stage_ = Stage::complete;
  return true;
}

void SmallAllReduce::combine_all() {
  if (operand_.buffer.empty() || segment_.rank() >= workers_) return;
  for (std::size_t worker = 0; worker < contributions_.size(); ++worker)
    contributions_[worker] = segment_.at(arrivals_[worker]->places.load(std::memory_order_relaxed) + place());
  std::byte* const targets[] = {operand_.buffer.data()};
  const int divisor = operand_.op == ReduceOp::average ? workers_ : 1;
  combine(operand_.type, operand_.op, contributions_, targets, operand_.buffer.size(), divisor);
}

std::vector<Rank> SmallAllReduce::waiting_ranks() const {
  std::vector<Rank> ranks;
  if (stage_ == Stage::complete) return ranks;
  const std::uint64_t epoch = stage_ == Stage::begin ? ledger_.epochs + 1 : epoch_;
  for (Rank rank = 0; rank < segment_.ranks(); ++rank) {
    const auto& arrival = *arrivals_[static_cast<std::size_t>(rank)];
    if (rank != segment_.rank() && arrival.epoch.load(std::memory_order_relaxed) < epoch) ranks.push_back(rank);
  }
  return ranks;
}

std::string SmallAllReduce::waiting_for() const {
  const std::vector<Rank> ranks = waiting_ranks();
  if (ranks.empty()) return {};
  return text_of_ranks(ranks) + " to arrive";
}

}  // namespace hbench

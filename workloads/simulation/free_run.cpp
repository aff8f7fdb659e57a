#include "workloads/simulation/free_run.hpp"

#include <algorithm>
#include <random>

#include "workloads/methods/step_plan.hpp"

namespace hbench {
namespace {

/// The first iterations of a rank, which begins together with all others.
constexpr int kWarmup = 2;

/// What takes time to simulate: a message, with what it makes its ranks do, and a piece of one that shares links with
/// others. Measured with servers for 16 to 1024 workers.
constexpr Seconds kPerFreeMessage(1e-6);
constexpr Seconds kPerFreePiece(150e-9);

/// Any number that is the same each time; one is as good as another.
constexpr std::uint64_t kSeed = 20260101;

/// No iteration has more buckets: a key of a message is its iteration and bucket in one number.
constexpr int kMostBuckets = 100'000;

/// What all ranks send in an iteration, as if each tensor left for itself.
std::int64_t messages_per_iteration(const World& world, const StepTimeline& timeline,
                                    const TrainingStrategy& strategy) {
  std::int64_t pieces = static_cast<std::int64_t>(timeline.gradients.size());
  if (strategy.placement != nullptr) {
    pieces = 0;
    for (const std::vector<Shard>& shards : strategy.placement->place(timeline.elements(), world.servers))
      pieces += static_cast<std::int64_t>(shards.size());
  }
  return 2 * pieces * world.workers;
}

}  // namespace

Lateness drawn_lateness(double deviation, int workers) {
  auto draws = std::make_shared<std::vector<std::mt19937_64>>();
  for (int rank = 0; rank < workers; ++rank) draws->emplace_back(kSeed + static_cast<std::uint64_t>(rank));
  return [deviation, draws](Rank rank) {
    if (deviation <= 0) return 1.0;
    std::normal_distribution<double> normal(1, deviation);
    // No pass takes less than a tenth of its time: of deviations of a few hundredths that never happens.
    return std::max(0.1, normal((*draws)[static_cast<std::size_t>(rank)]));
  };
}

FreeRunGrain grain_of(const World& world, const StepTimeline& timeline, const TrainingStrategy& strategy) {
  constexpr double kFinest = 16'384, kPieces = 100'000;
  constexpr Seconds kTime(1);
  const auto messages = static_cast<double>(messages_per_iteration(world, timeline, strategy));
  const double bytes = 2.0 * world.workers * static_cast<double>(timeline.all_elements()) * sizeof(float);
  FreeRunGrain grain;
  grain.turn = static_cast<std::int64_t>(std::clamp(bytes / kPieces, kFinest, double{MessageFlow::kTurn}));
  const Seconds iteration = kPerFreeMessage * messages + kPerFreePiece * (bytes / static_cast<double>(grain.turn));
  grain.iterations = kWarmup + static_cast<int>(std::clamp(kTime / iteration, 3.0, 40.0));
  grain.time = iteration * grain.iterations;
  return grain;
}

FreeRun::FreeRun(const RankWalk::Request& request, Network& network, Lateness lateness, StopRequested stop)
    : network_(network),
      world_(request.world),
      lateness_(std::move(lateness)),
      stop_(std::move(stop)),
      spans_(request.spans),
      messages_(network, request.strategy.compressor.encoding()),
      answers_(network, {}),
      grain_(grain_of(world_, request.timeline, request.strategy)),
      flow_(network, *this, grain_.turn),
      elements_(request.timeline.elements()),
      all_elements_(request.timeline.all_elements()),
      walkers_(static_cast<std::size_t>(world_.workers)),
      behind_(world_.workers) {
  Carrier& carrier = *this;
  for (Rank rank = 0; rank < world_.workers; ++rank) {
    RankWalk::Request mine = request;
    mine.rank = rank;
    mine.spans = rank == 0 && spans_ != nullptr ? &spans_of_iteration_ : nullptr;
    walker(rank).walk = std::make_unique<RankWalk>(mine, carrier);
  }
  const StepPlan& plan = walkers_.front().walk->plan();
  task_ = *std::ranges::find_if(plan.tasks, [](const Task& task) { return !task.computes(); });
  needed_ += static_cast<int>(neighbours_of(0, world_.workers).size());
  if (task_.among != Among::servers) return;
  for (const std::vector<Shard>& shards :
       request.strategy.placement->place(request.timeline.elements(), world_.servers)) {
    std::vector<int>& pieces = pieces_.emplace_back();
    for (const Shard& shard : shards) {
      pieces.push_back(static_cast<int>(held_.size()));
      held_.push_back({.server = world_.server_rank(shard.server),
                       .elements = shard.elements,
                       .seen = std::vector<int>(walkers_.size())});
    }
  }
}

StepTimes FreeRun::run() {
  for (Rank rank = 0; rank < world_.workers; ++rank) begin_iteration(rank);
  while (behind_ > 0) {
    stop_if(stop_);
    const double messages = flow_.idle() ? kNever : std::max(now_, flow_.next_event().value);
    if (!due_.empty() && due_.begin()->first <= messages) {
      now_ = due_.begin()->first;
      rank_event(due_.begin()->second);
    } else {
      now_ = messages;
      flow_.advance();
    }
  }
  return mean();
}

void FreeRun::begin_iteration(Rank rank) {
  Walker& mine = walker(rank);
  if (mine.iteration == kWarmup) mine.measured_from = mine.origin;
  mine.walk->begin(mine.iteration, lateness_(rank));
  follow(rank);
}

void FreeRun::end_iteration(Rank rank) {
  Walker& mine = walker(rank);
  const StepTimes times = mine.walk->finish();
  if (mine.iteration >= kWarmup) add_share(mine.sum, times, 1);
  if (rank == 0 && spans_ != nullptr) *spans_ = spans_of_iteration_;
  mine.origin += times.step.value;
  if (++mine.iteration == grain_.iterations) --behind_;
  begin_iteration(rank);
}

void FreeRun::rank_event(Rank rank) {
  Walker& mine = walker(rank);
  mine.walk->move_to(mine.local_due);
  mine.local_due == mine.compute_due ? mine.walk->compute_event() : mine.walk->timer_event();
  follow(rank);
}

void FreeRun::follow(Rank rank) {
  Walker& mine = walker(rank);
  due_.erase({mine.due, rank});
  if (mine.walk->ended()) return end_iteration(rank);
  mine.compute_due = mine.walk->next_compute();
  mine.local_due = std::min(mine.compute_due, mine.walk->next_timer());
  mine.due = mine.origin + mine.local_due;
  if (mine.due < kNever) due_.insert({mine.due, rank});
}

void FreeRun::deliver(Rank rank, int number) {
  Walker& mine = walker(rank);
  mine.walk->move_to(std::max(mine.walk->now(), now_ - mine.origin));
  mine.walk->arrived(number);
  follow(rank);
}

void FreeRun::carry(RankWalk& rank, const LaunchedBucket& leaving) {
  const auto& [at, coding] = leaving.departure;
  rank.spans().add(SpanKind::coding, at, at + coding, leaving.number);
  const double start = walker(rank.rank()).origin + at + coding;
  switch (task_.among) {
    case Among::servers:
      return send_to_servers(rank.rank(), leaving, start);
    case Among::partner:
      return send_to_partner(rank.rank(), leaving, start);
    default:
      return send_to_neighbours(rank.rank(), leaving, start);
  }
}

int FreeRun::open(Rank rank, const LaunchedBucket& leaving, int answers) {
  if (closed_.empty()) {
    closed_.push_back(static_cast<int>(exchanges_.size()));
    exchanges_.emplace_back();
  }
  const int index = closed_.back();
  closed_.pop_back();
  exchange(index) = {rank, leaving.number, walker(rank).iteration, answers};
  return index;
}

void FreeRun::send_to_servers(Rank rank, const LaunchedBucket& leaving, double start) {
  const int index = open(rank, leaving, 0);
  for (const int tensor : leaving.bucket.tensors)
    for (const int piece : pieces_[static_cast<std::size_t>(tensor)]) {
      ++exchange(index).missing;
      send(index, {.src = rank, .dst = held(piece).server, .first_chunk = piece, .kind = TransferKind::reduce},
           held(piece).elements, start);
    }
}

/// A rank that is drawn among all others, which answers tensor by tensor: small ones that follow each other count as
/// one.
void FreeRun::send_to_partner(Rank rank, const LaunchedBucket& leaving, double start) {
  constexpr std::int64_t kParts = 32;  // of a model, about
  const Rank partner = partner_of(rank, walker(rank).iteration, world_.workers);
  std::vector<std::int64_t> parts;
  for (const int tensor : leaving.bucket.tensors) {
    if (parts.empty() || parts.back() * kParts >= all_elements_) parts.push_back(0);
    parts.back() += elements_[static_cast<std::size_t>(tensor)];
  }
  const int index = open(rank, leaving, static_cast<int>(parts.size()));
  exchange(index).parts = parts;
  for (int part = 0; part < std::ssize(parts); ++part)
    send(index, {.src = rank, .dst = partner, .first_chunk = part, .kind = TransferKind::reduce},
         parts[static_cast<std::size_t>(part)], start);
}

void FreeRun::send_to_neighbours(Rank rank, const LaunchedBucket& leaving, double start) {
  const int key = walker(rank).iteration * kMostBuckets + leaving.number;
  for (const Rank other : neighbours_of(rank, world_.workers))
    send(key, {.src = rank, .dst = other, .kind = TransferKind::reduce}, leaving.elements, start);
  flow_.cue(start, {kCame, rank, key});
}

void FreeRun::send(int sender, const Transfer& transfer, std::int64_t elements, double start) {
  if (elements == 0 || transfer.src == transfer.dst) return arrived(sender, transfer, start);
  const bool local = network_.is_local(transfer.src, transfer.dst);
  Messages& messages = transfer.kind == TransferKind::reduce ? messages_ : answers_;
  const std::int64_t bytes = messages.encoding().wire_bytes(elements);
  const int iteration = task_.among == Among::neighbours ? sender / kMostBuckets : exchange(sender).iteration;
  if (iteration < grain_.iterations) (local ? sent_.within : sent_.between) += static_cast<double>(bytes);
  flow_.send(sender, transfer, messages.of(local, transfer.kind, elements), bytes, start);
}

void FreeRun::arrived(int sender, const Transfer& transfer, double at) {
  if (task_.among == Among::neighbours) return flow_.cue(at, {kCame, transfer.dst, sender});
  flow_.cue(at, {transfer.kind == TransferKind::reduce ? kReached : kAnswered, sender, transfer.first_chunk});
}

void FreeRun::cued(const MessageFlow::Cue& cue) {
  switch (cue.kind) {
    case kReached:
      return task_.among == Among::servers ? reached(cue.subject, cue.part) : answer(cue.subject, cue.part);
    case kAnswered: {
      if (--exchange(cue.subject).missing > 0) return;
      closed_.push_back(cue.subject);
      const auto [rank, number] = std::pair(exchange(cue.subject).rank, exchange(cue.subject).number);
      return deliver(rank, number);
    }
    default:
      return came(cue.subject, cue.part);
  }
}

void FreeRun::reached(int index, int piece) {
  Held& mine = held(piece);
  const Exchange& from = exchange(index);
  ++unseen_[mine.version++ - mine.seen[static_cast<std::size_t>(from.rank)]];
  if (!task_.bound) return answer(index, piece);
  const auto iteration = static_cast<std::size_t>(from.iteration);
  if (mine.pushed.size() <= iteration) mine.pushed.resize(iteration + 1);
  ++mine.pushed[iteration];
  while (mine.complete < static_cast<int>(mine.pushed.size()) &&
         mine.pushed[static_cast<std::size_t>(mine.complete)] == world_.workers)
    ++mine.complete;
  mine.waiting.push_back(index);
  const auto ready = std::stable_partition(mine.waiting.begin(), mine.waiting.end(), [&](int each) {
    return exchange(each).iteration - *task_.bound >= mine.complete;
  });
  const std::vector<int> answered(ready, mine.waiting.end());
  mine.waiting.erase(ready, mine.waiting.end());
  for (const int each : answered) answer(each, piece);
}

/// \param part the piece of a server, or the part of what the partner was asked
void FreeRun::answer(int index, int part) {
  const Exchange& to = exchange(index);
  Transfer back{.dst = to.rank, .first_chunk = part, .kind = TransferKind::copy};
  if (task_.among == Among::partner) {
    back.src = partner_of(to.rank, to.iteration, world_.workers);
    return send(index, back, to.parts[static_cast<std::size_t>(part)], now_);
  }
  Held& mine = held(part);
  mine.seen[static_cast<std::size_t>(to.rank)] = mine.version;
  back.src = mine.server;
  send(index, back, mine.elements, now_);
}

/// Its own bucket counts as one of the messages that it waits for.
void FreeRun::came(Rank rank, int key) {
  std::map<int, int>& counts = walker(rank).came;
  if (++counts[key] < needed_) return;
  counts.erase(key);
  deliver(rank, key % kMostBuckets);
}

StepTimes FreeRun::mean() const {
  double all = 0;  // iterations of all ranks in a second
  const auto rate_of = [](const Walker& each) {
    return (each.iteration - kWarmup) / (each.origin - each.measured_from);
  };
  for (const Walker& each : walkers_) all += rate_of(each);
  StepTimes mean;
  for (const Walker& each : walkers_) add_share(mean, each.sum, rate_of(each) / all / (each.iteration - kWarmup));
  // Nobody waits for the slowest: what passes take longer, or shorter, is of the mean rank's compute.
  mean.compute = mean.compute + std::exchange(mean.straggler, Seconds(0));
  mean.sent = sent_ * (1.0 / (world_.workers * grain_.iterations));
  if (!unseen_.empty()) mean.staleness = Staleness::of(unseen_);
  return mean;
}

}  // namespace hbench

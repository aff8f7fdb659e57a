#include "workloads/engine/reducer.hpp"

#include <algorithm>

#include "collectives/exchange/exchange.hpp"
#include "collectives/fusion/departures.hpp"

namespace hbench {
namespace {

/// Buckets may differ from step to step: then what was known is forgotten from time to time.
constexpr std::size_t kMostPackings = 256;

/// Whether a collective is within groups of ranks of which each lies on one node.
bool is_within_nodes(const Task& task, const TrainingRequest& request) {
  if (task.computes() || task.groups.size == 0) return false;
  const auto on_one_node = [&](const std::vector<Rank>& ranks) {
    return std::ranges::all_of(ranks,
                               [&](Rank rank) { return request.node_of(rank) == request.node_of(ranks.front()); });
  };
  return std::ranges::all_of(task.groups.members(request.world.workers), on_one_node);
}

std::vector<bool> within_nodes(const StepPlan& plan, const TrainingRequest& request) {
  std::vector<bool> within;
  for (const Task& task : plan.tasks) within.push_back(is_within_nodes(task, request));
  return within;
}

bool has_both(const StepPlan& plan, const std::vector<bool>& within) {
  bool inside = false, outside = false;
  for (int task = 0; task < plan.size(); ++task)
    if (!plan.task(task).computes()) (within[static_cast<std::size_t>(task)] ? inside : outside) = true;
  return inside && outside;
}

}  // namespace

Reducer::Reducer(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout, const StepPlan& plan,
                 const ModelMemory& memory, StepTrace* trace, SomeExchange* some)
    : request_(request),
      endpoint_(endpoint),
      plan_(plan),
      memory_(memory),
      offsets_(layout.offsets()),
      own_parts_(plan.tasks.size()),
      memories_(request.strategy.compressor, layout, request.seed, endpoint.device()),
      stays_within_nodes_(within_nodes(plan, request)),
      beside_(has_both(plan, stays_within_nodes_)),
      trace_(trace),
      some_(some) {
  if (request.strategy.algorithm.uses_servers())
    shards_ = request.strategy.placement->place(layout.elements, request.world.servers);
}

// Cancels what is in flight, which might never end, before it waits for the device to unpack from staging memory.
Reducer::~Reducer() {
  for (Queue& queue : queues_) queue = {};
  synchronize_noexcept(endpoint_.device());
}

void Reducer::walk(StateWalk& state) {
  state.number("exchanging steps", step_);
  memories_.walk(state);
}

void Reducer::begin_step() {
  ++step_;
  launched_ = 0;
  for (auto& parts : own_parts_) parts.clear();
}

/// Two queues may come to their buckets in another order than on other ranks. Tags must be reserved in the same order
/// on all: here, as buckets are launched.
void Reducer::launch(LeavingBucket leaving) {
  Queue& queue = queue_of(leaving.task);
  Running& running = queue.waiting.emplace_back();
  running.task = leaving.task;
  running.bucket = std::move(leaving.bucket);
  running.number = launched_++;
  for (const int index : running.bucket.tensors)
    running.bytes += static_cast<std::int64_t>(tensor(running, index).size_bytes());
  if (beside_) {
    lay_out(running);
    prepare(running);
    running.operation->take_turn();
  }
  begin_waiting(queue);
}

int Reducer::in_flight() const { return static_cast<int>(queues_[0].size() + queues_[1].size()); }

bool Reducer::in_flight(int task, const std::vector<int>& tensors) const {
  const auto is_it = [&](const Running& each) {
    return each.task == task && std::ranges::find_first_of(each.bucket.tensors, tensors) != each.bucket.tensors.end();
  };
  return std::ranges::any_of(queues_, [&](const Queue& queue) {
    return std::ranges::any_of(queue.running, is_it) || std::ranges::any_of(queue.waiting, is_it);
  });
}

/// Rank 0 lets a bucket leave when what it comes after has ended there; on this rank that may be in flight, in the
/// other queue.
bool Reducer::may_begin(const Queue& queue, const Running& running) const {
  if (is_among_all(running) && !request_.strategy.algorithm.concurrent() && !queue.running.empty()) return false;
  return std::ranges::none_of(task(running).after,
                              [&](const After& after) { return in_flight(after.task, running.bucket.tensors); });
}

void Reducer::begin_waiting(Queue& queue) {
  while (!queue.waiting.empty() && may_begin(queue, queue.waiting.front())) {
    queue.running.splice(queue.running.end(), queue.waiting, queue.waiting.begin());
    begin(queue.running.back());
  }
}

void Reducer::begin(Running& running) {
  running.begin = Clock::now();
  if (!beside_) lay_out(running);
  pack(running);
  running.departed = mark();
  if (!beside_) prepare(running);
}

std::vector<Reducer::Arrival> Reducer::progress() {
  std::vector<Arrival> arrivals;
  for (Queue& queue : queues_) progress(queue, arrivals);
  return arrivals;
}

void Reducer::progress(Queue& queue, std::vector<Arrival>& arrivals) {
  begin_waiting(queue);
  for (auto it = queue.running.begin(); it != queue.running.end();) {
    if (!advance(*it)) {
      ++it;
      continue;
    }
    unpack(*it);
    if (leaves_own_parts(task(*it))) note_own_part(*it);
    arrivals.push_back({it->task, it->bytes});
    it = queue.running.erase(it);
    if (!queue.running.empty()) continue;
    begin_waiting(queue);
    it = queue.running.begin();
  }
}

/// Codecs work within the call: their time is put at its end. On a GPU they are a part of the communication.
bool Reducer::advance(Running& running) {
  if (!traced()) return running.operation->progress();
  const Seconds before = coded_.encode + coded_.decode;
  const bool done = running.operation->progress();
  const Clock::time_point now = Clock::now();
  const Seconds coding = coded_.encode + coded_.decode - before;
  if (coding > Seconds(0)) {
    const auto length = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(coding.value));
    trace_->add(SpanKind::coding, now - length, now, running.number);
  }
  if (done) trace_->add(SpanKind::communication, running.departed, mark(), running.number);
  return done;
}

const Operation* Reducer::late(Seconds patience) const {
  const auto now = Clock::now();
  for (const Queue& queue : queues_)
    for (const Running& running : queue.running)
      if (std::chrono::duration<double>(now - running.begin).count() > patience.value) return running.operation.get();
  return nullptr;
}

AlgorithmChoice Reducer::algorithm_of(const Running& running, const Task& task) const {
  return hbench::algorithm_of(request_.strategy, task, running.bytes);
}

void Reducer::prepare(Running& running) {
  running.operation = is_among_all(running) ? operation(running) : some_->exchange(running.bucket);
}

std::unique_ptr<Operation> Reducer::operation(const Running& running) {
  const std::vector<Shard> shards = shards_.empty() ? std::vector<Shard>() : shards_of(running.bucket, shards_);
  const Task& of = task(running);
  Operand operand = Operand::of(of.part_among ? own_part_of(running) : running.buffer);
  if (!of.adds_up() && reduces(of.collective)) operand.op = ReduceOp::average;
  return prepare_exchange(endpoint_, {.world = request_.world,
                                      .groups = of.groups,
                                      .algorithm = algorithm_of(running, of),
                                      .compressor = compressor_of(request_.strategy, of),
                                      .operand = operand,
                                      .shards = shards,
                                      .memory = of.coded() ? memories_.of(running.bucket, step_) : nullptr,
                                      .times = traced() ? &coded_ : nullptr});
}

std::span<float> Reducer::tensor(const Running& running, int index) const {
  const auto i = static_cast<std::size_t>(index);
  const std::span<float> whole =
      memory_.of(task(running).carried)
          .subspan(static_cast<std::size_t>(offsets_[i]), static_cast<std::size_t>(offsets_[i + 1] - offsets_[i]));
  const Bucket& bucket = running.bucket;
  if (bucket.whole()) return whole;
  return whole.subspan(static_cast<std::size_t>(bucket.begin) / sizeof(float),
                       static_cast<std::size_t>(bucket.end - bucket.begin) / sizeof(float));
}

void Reducer::lay_out(Running& running) {
  if (!is_among_all(running)) return;
  const std::vector<int>& tensors = running.bucket.tensors;
  std::size_t elements = 0;
  for (const int index : tensors) elements += tensor(running, index).size();
  const std::size_t filled = elements + filling(running, elements);
  if (contiguous(running.bucket) && filled == elements) {
    running.tensors = running.buffer = {tensor(running, tensors.front()).data(), elements};
    return;
  }
  running.staging = staging_of(filled * sizeof(float));
  running.buffer = {reinterpret_cast<float*>(running.staging.memory.get()), filled};
  running.tensors = running.buffer.first(elements);
  running.packing = packing_of(running);
}

void Reducer::pack(Running& running) {
  if (running.packing == nullptr) return;
  const Event begin = mark();
  running.packing->pack(std::as_writable_bytes(running.tensors));
  if (traced()) trace_->add(SpanKind::coding, begin, mark(), running.number);
}

/// Libraries cut buffers into equal parts, so that a buffer whose parts matter has some elements more there.
std::size_t Reducer::filling(const Running& running, std::size_t elements) const {
  const auto workers = static_cast<std::size_t>(request_.world.workers);
  const CollectiveKind collective = task(running).collective;
  const bool in_parts = collective == CollectiveKind::reduce_scatter || collective == CollectiveKind::all_gather;
  return in_parts && request_.strategy.algorithm.is_vendor() ? (workers - elements % workers) % workers : 0;
}

void Reducer::unpack(Running& running) {
  if (running.packing == nullptr) return;
  const Event begin = mark();
  running.packing->unpack(std::as_bytes(running.tensors));
  if (traced()) trace_->add(SpanKind::coding, begin, mark(), running.number);
  spare_.push_back(std::move(running.staging));
}

std::span<float> Reducer::own_part_of(const Running& running) const {
  Task scatter = task(running);
  scatter.collective = CollectiveKind::reduce_scatter;
  const ElementRange part = own_part(endpoint_, algorithm_of(running, scatter), request_.world,
                                     scatter.part_among.value_or(scatter.groups), running.buffer);
  return running.buffer.subspan(static_cast<std::size_t>(part.begin), static_cast<std::size_t>(part.size()));
}

/// Cuts this rank's part of the bucket at the ends of tensors, each of which lies where it does.
void Reducer::note_own_part(const Running& running) {
  const std::span<float> own = own_part_of(running);
  const std::int64_t first = own.data() - running.buffer.data();
  const ElementRange part{first, first + std::ssize(own)};
  const float* const base = memory_.of(task(running).carried).data();
  std::int64_t at = 0;  // in the bucket
  for (const int index : running.bucket.tensors) {
    const std::span<float> each = tensor(running, index);
    const auto size = static_cast<std::int64_t>(each.size());
    const std::int64_t begin = std::max(part.begin - at, std::int64_t{0}), end = std::min(part.end - at, size);
    const std::int64_t offset = each.data() - base;
    if (begin < end) own_parts_[static_cast<std::size_t>(running.task)].push_back({offset + begin, offset + end});
    at += size;
  }
}

std::shared_ptr<Packing> Reducer::packing_of(const Running& running) {
  const auto key = std::pair(task(running).carried, running.bucket);
  if (const auto known = packings_.find(key); known != packings_.end()) return known->second;
  if (packings_.size() == kMostPackings) packings_.clear();
  std::vector<std::span<std::byte>> parts;
  for (const int index : running.bucket.tensors) parts.push_back(std::as_writable_bytes(tensor(running, index)));
  return packings_[key] = endpoint_.device().packing(parts);
}

Reducer::Staging Reducer::staging_of(std::size_t bytes) {
  const auto fits = std::ranges::find_if(spare_, [&](const Staging& spare) { return spare.bytes >= bytes; });
  if (fits == spare_.end()) return {endpoint_.device().allocate(bytes), bytes};
  Staging staging = std::move(*fits);
  spare_.erase(fits);
  return staging;
}

}  // namespace hbench

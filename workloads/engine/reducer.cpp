#include "workloads/engine/reducer.hpp"

#include <algorithm>

#include "collectives/exchange/exchange.hpp"
#include "collectives/fusion/shards.hpp"

namespace hbench {
namespace {

/// Buckets may differ from step to step: then what was known is forgotten from time to time.
constexpr std::size_t kMostPackings = 256;

}  // namespace

Reducer::Reducer(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout,
                 std::span<float> gradients, StepTrace* trace)
    : request_(request),
      endpoint_(endpoint),
      gradients_(gradients),
      offsets_(layout.offsets()),
      memories_(request.strategy.compressor, layout, request.seed, endpoint.device()),
      trace_(trace) {
  if (request.strategy.algorithm.uses_servers())
    shards_ = request.strategy.placement->place(layout.elements, request.world.servers);
}

// Cancels what is in flight, which might never end, before it waits for the device to unpack from staging memory.
Reducer::~Reducer() {
  running_.clear();
  synchronize_noexcept(endpoint_.device());
}

void Reducer::begin_step() {
  ++step_;
  started_ = 0;
}

void Reducer::launch(Bucket bucket) {
  if (request_.strategy.algorithm.concurrent() || running_.empty()) {
    start(std::move(bucket));
  } else {
    waiting_.push_back(std::move(bucket));
  }
}

int Reducer::progress() {
  int completed = 0;
  for (auto it = running_.begin(); it != running_.end();) {
    if (!advance(*it)) {
      ++it;
      continue;
    }
    unpack(*it);
    it = running_.erase(it);
    ++completed;
    if (running_.empty() && !waiting_.empty()) {
      start(std::move(waiting_.front()));
      waiting_.pop_front();
      it = running_.begin();
    }
  }
  return completed;
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
  const auto found = std::ranges::find_if(running_, [&](const Running& running) {
    return std::chrono::duration<double>(now - running.begin).count() > patience.value;
  });
  return found == running_.end() ? nullptr : found->operation.get();
}

void Reducer::start(Bucket bucket) {
  Running& running = running_.emplace_back();
  running.bucket = std::move(bucket);
  running.begin = Clock::now();
  running.number = started_++;
  pack(running);
  running.departed = mark();
  running.operation = operation(running.bucket, running.buffer);
}

std::unique_ptr<Operation> Reducer::operation(const Bucket& bucket, std::span<float> buffer) {
  const std::vector<Shard> shards = shards_.empty() ? std::vector<Shard>() : shards_of(bucket, shards_);
  return prepare_exchange(endpoint_,
                          {.world = request_.world,
                           .algorithm = request_.strategy.algorithm.at(static_cast<std::int64_t>(buffer.size_bytes())),
                           .compressor = request_.strategy.compressor,
                           .operand = Operand::of(buffer),
                           .shards = shards,
                           .memory = memories_.of(bucket, step_),
                           .times = traced() ? &coded_ : nullptr});
}

std::span<float> Reducer::tensor(int index) const {
  const auto i = static_cast<std::size_t>(index);
  return gradients_.subspan(static_cast<std::size_t>(offsets_[i]),
                            static_cast<std::size_t>(offsets_[i + 1] - offsets_[i]));
}

void Reducer::pack(Running& running) {
  const Bucket& bucket = running.bucket;
  if (contiguous(bucket)) {
    const std::span<float> last = tensor(bucket.tensors.back());
    const std::span<float> first = tensor(bucket.tensors.front());
    running.buffer = {first.data(), last.data() + last.size()};
    if (!bucket.whole())
      running.buffer = running.buffer.subspan(static_cast<std::size_t>(bucket.begin) / sizeof(float),
                                              static_cast<std::size_t>(bucket.end - bucket.begin) / sizeof(float));
    return;
  }
  std::size_t bytes = 0;
  for (const int index : bucket.tensors) bytes += tensor(index).size_bytes();
  running.staging = staging_of(bytes);
  running.buffer = {reinterpret_cast<float*>(running.staging.memory.get()), bytes / sizeof(float)};
  running.packing = packing_of(bucket.tensors);
  const Event begin = mark();
  running.packing->pack(std::as_writable_bytes(running.buffer));
  if (traced()) trace_->add(SpanKind::coding, begin, mark(), running.number);
}

void Reducer::unpack(Running& running) {
  if (running.packing == nullptr) return;
  const Event begin = mark();
  running.packing->unpack(std::as_bytes(running.buffer));
  if (traced()) trace_->add(SpanKind::coding, begin, mark(), running.number);
  spare_.push_back(std::move(running.staging));
}

std::shared_ptr<Packing> Reducer::packing_of(const std::vector<int>& tensors) {
  if (const auto known = packings_.find(tensors); known != packings_.end()) return known->second;
  if (packings_.size() == kMostPackings) packings_.clear();
  std::vector<std::span<std::byte>> parts;
  for (const int index : tensors) parts.push_back(std::as_writable_bytes(tensor(index)));
  return packings_[tensors] = endpoint_.device().packing(parts);
}

Reducer::Staging Reducer::staging_of(std::size_t bytes) {
  const auto fits = std::ranges::find_if(spare_, [&](const Staging& spare) { return spare.bytes >= bytes; });
  if (fits == spare_.end()) return {endpoint_.device().allocate(bytes), bytes};
  Staging staging = std::move(*fits);
  spare_.erase(fits);
  return staging;
}

}  // namespace hbench

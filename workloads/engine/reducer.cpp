#include "workloads/engine/reducer.hpp"

#include <algorithm>

#include "workloads/engine/messages.hpp"

namespace hbench {
namespace {

/// Plans kept for buckets that come again; a policy that follows the clock makes ever new ones.
constexpr std::size_t kMostPlans = 2048;

}  // namespace

Reducer::Reducer(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout,
                 std::span<float> gradients)
    : request_(request), endpoint_(endpoint), gradients_(gradients), offsets_(layout.offsets()) {
  if (request.algorithm.uses_servers()) shards_ = request.placement->place(layout.elements, request.world.servers);
}

void Reducer::launch(Bucket bucket) {
  if (request_.algorithm.concurrent() || running_.empty()) {
    start(std::move(bucket));
  } else {
    waiting_.push_back(std::move(bucket));
  }
}

int Reducer::progress() {
  int completed = 0;
  for (auto it = running_.begin(); it != running_.end();) {
    if (!it->operation->progress()) {
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
  pack(running);
  running.operation = operation(running.bucket, running.buffer);
}

std::unique_ptr<Operation> Reducer::operation(const Bucket& bucket, std::span<float> buffer) {
  if (request_.algorithm.opaque()) return endpoint_.vendor(Goal::all_reduce, Operand::of(buffer));
  const int tag = kFirstBucketTag + launched_++ % kBucketTags;
  return std::make_unique<RankProgram>(plan(bucket, buffer.size_bytes()), request_.compressor.encoding().codec,
                                       endpoint_.transport(), tag, Operand::of(buffer));
}

const RankPlan& Reducer::plan(const Bucket& bucket, std::size_t bytes) {
  const AlgorithmChoice& algorithm = request_.algorithm.at(static_cast<std::int64_t>(bytes));
  const int segments = algorithm.segments(request_.world, static_cast<std::int64_t>(bytes));
  // Without servers one schedule serves any number of elements.
  const PlanKey key{algorithm.text(), segments, shards_.empty() ? Bucket() : bucket};
  const auto known = plans_.find(key);
  if (known != plans_.end()) return known->second;
  // The bucket being started is the only one without an operation.
  if (plans_.size() >= kMostPlans && running_.size() == 1) plans_.clear();
  std::vector<Shard> shards;
  for (const int tensor : std::get<Bucket>(key)) {
    const auto& own = shards_[static_cast<std::size_t>(tensor)];
    shards.insert(shards.end(), own.begin(), own.end());
  }
  const Schedule schedule = algorithm.build(request_.world, segments, shards);
  return plans_.emplace(key, plan_for(schedule, endpoint_.transport().rank())).first->second;
}

std::span<float> Reducer::tensor(int index) const {
  const auto i = static_cast<std::size_t>(index);
  return gradients_.subspan(static_cast<std::size_t>(offsets_[i]),
                            static_cast<std::size_t>(offsets_[i + 1] - offsets_[i]));
}

void Reducer::pack(Running& running) {
  const Bucket& bucket = running.bucket;
  if (contiguous(bucket)) {
    const std::span<float> last = tensor(bucket.back());
    const std::span<float> first = tensor(bucket.front());
    running.buffer = {first.data(), last.data() + last.size()};
    return;
  }
  if (!spare_.empty()) {
    running.staging = std::move(spare_.back());
    spare_.pop_back();
  }
  running.staging.clear();
  for (const int index : bucket) {
    const std::span<float> part = tensor(index);
    running.staging.insert(running.staging.end(), part.begin(), part.end());
  }
  running.buffer = running.staging;
}

void Reducer::unpack(Running& running) {
  if (contiguous(running.bucket)) return;
  auto from = running.staging.begin();
  for (const int index : running.bucket) {
    const std::span<float> part = tensor(index);
    std::copy_n(from, part.size(), part.begin());
    from += static_cast<std::ptrdiff_t>(part.size());
  }
  spare_.push_back(std::move(running.staging));
}

}  // namespace hbench

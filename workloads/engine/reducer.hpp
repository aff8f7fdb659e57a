#pragma once

/// Buckets in flight: each is one collective on a part of the gradient buffer.

#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "collectives/endpoints/endpoint.hpp"
#include "collectives/exchange/exchange_request.hpp"
#include "workloads/engine/layout.hpp"
#include "workloads/engine/memories.hpp"
#include "workloads/engine/step_trace.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// One rank's. Every rank launches the same buckets in the same order. Used by one thread at a time.
class Reducer {
 public:
  /// Everything given outlives the reducer. `gradients` is laid out as `layout` says. Where `trace` (null: nowhere) is
  /// active, buckets leave their spans.
  Reducer(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout, std::span<float> gradients,
          StepTrace* trace = nullptr);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  void begin_step();
  /// The bucket leaves now, or after those before it where the algorithm is not concurrent.
  void launch(Bucket bucket);
  /// Does what can be done now; how many buckets were completed by it.
  int progress();
  int in_flight() const { return static_cast<int>(running_.size() + waiting_.size()); }

  /// The collective that has run longer than `patience`, if there is one.
  const Operation* late(Seconds patience) const;

 private:
  using Clock = std::chrono::steady_clock;
  /// Memory that buckets are packed in, which is used again.
  struct Staging {
    DeviceMemory memory;
    std::size_t bytes = 0;
  };
  struct Running {
    Bucket bucket;
    std::span<float> buffer;
    Staging staging;  ///< holds `buffer` when the tensors are not neighbours
    std::shared_ptr<Packing> packing;
    Clock::time_point begin;
    std::unique_ptr<Operation> operation;
    int number = 0;  ///< in its step
    Event departed;  ///< in a traced step
  };

  void start(Bucket bucket);
  bool advance(Running& running);
  bool traced() const { return trace_ != nullptr && trace_->active(); }
  Event mark() { return traced() ? trace_->mark() : nullptr; }
  std::unique_ptr<Operation> operation(const Bucket& bucket, std::span<float> buffer);
  std::span<float> tensor(int index) const;
  /// The bucket as one piece of memory: as it lies, or packed.
  void pack(Running& running);
  void unpack(Running& running);
  std::shared_ptr<Packing> packing_of(const std::vector<int>& tensors);
  Staging staging_of(std::size_t bytes);

  const TrainingRequest& request_;
  Endpoint& endpoint_;
  std::span<float> gradients_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::vector<Shard>> shards_;  ///< per tensor, with servers only
  GradientMemories memories_;
  std::deque<Bucket> waiting_;
  std::list<Running> running_;
  std::vector<Staging> spare_;
  /// Of the same tensors, bucket after bucket: what a device knows of them has reached it once.
  std::map<std::vector<int>, std::shared_ptr<Packing>> packings_;
  std::int32_t step_ = -1;
  StepTrace* trace_;
  CodecTimes coded_;  ///< in traced steps
  int started_ = 0;   ///< buckets of the step
};

}  // namespace hbench

#pragma once

/// Buckets in flight: each is one collective, or one exchange with some ranks, on a part of the buffer of gradients, or
/// of parameters.

#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "collectives/endpoints/endpoint.hpp"
#include "collectives/exchange/exchange_request.hpp"
#include "workloads/engine/coordinator.hpp"
#include "workloads/engine/layout.hpp"
#include "workloads/engine/memories.hpp"
#include "workloads/engine/slices.hpp"
#include "workloads/engine/some_exchange.hpp"
#include "workloads/engine/step_trace.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// One rank's. Every rank launches the same buckets in the same order. Used by one thread at a time.
class Reducer {
 public:
  /// Everything given outlives the reducer. `memory` is laid out as `layout` says. Where `trace` (null: nowhere) is
  /// active, buckets leave their spans. `some` does what is not among all ranks; null where nothing is.
  Reducer(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout, const StepPlan& plan,
          const ModelMemory& memory, StepTrace* trace = nullptr, SomeExchange* some = nullptr);
  ~Reducer();
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;

  void begin_step();
  /// The bucket leaves now, or after those before it where the algorithm is not concurrent.
  void launch(LeavingBucket bucket);
  /// Does what can be done now; the collectives of which a bucket was completed by it, with that bucket's bytes.
  struct Arrival {
    int task = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Arrival> progress();
  /// Returns the parts of the buffer that the reduce-scatter `task` has left whole on this rank, in this step so far.
  const std::vector<ElementRange>& own_parts(int task) const { return own_parts_[static_cast<std::size_t>(task)]; }
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
    int task = 0;
    Bucket bucket;
    std::int64_t bytes = 0;    ///< of the bucket
    std::span<float> tensors;  ///< of the bucket, where this and what follows is of a collective
    std::span<float> buffer;   ///< that the collective is of: `tensors`, with what makes equal parts of it
    Staging staging;           ///< holds `buffer` where that is not where the tensors lie
    std::shared_ptr<Packing> packing;
    std::shared_ptr<Slices> slices;  ///< in place of `packing`, of a scatter that has the parts in another order
    Clock::time_point begin;
    std::unique_ptr<Operation> operation;
    int number = 0;  ///< in its step
    Event departed;  ///< in a traced step
  };

  void start(LeavingBucket leaving);
  bool advance(Running& running);
  bool traced() const { return trace_ != nullptr && trace_->active(); }
  Event mark() { return traced() ? trace_->mark() : nullptr; }
  const Task& task(const Running& running) const { return plan_.task(running.task); }
  std::unique_ptr<Operation> operation(const Running& running);
  /// By which `task` of the bucket goes.
  AlgorithmChoice algorithm_of(const Running& running, const Task& task) const;
  /// The memory of a tensor, or of the bucket's piece of it.
  std::span<float> tensor(const Running& running, int index) const;
  /// The bucket as one piece of memory: as it lies, or packed.
  void pack(Running& running);
  void pack_slices(Running& running);
  void stage(Running& running, std::size_t elements);
  void unpack(Running& running);
  std::size_t filling(const Running& running, std::size_t elements) const;
  /// Of the buffer: what a reduce-scatter of it leaves on this rank, or has left.
  std::span<float> own_part_of(const Running& running) const;
  /// Of the bucket: what rank `owner` gathers from, where all ranks share out the model.
  ElementRange part_of(const Running& running, Rank owner) const;
  /// A part of the bucket as it lies in memory: cut at the ends of tensors.
  Slices::Part pieces(const Running& running, ElementRange part) const;
  void note_own_parts(const Running& running);
  std::shared_ptr<Packing> packing_of(const Running& running);
  std::shared_ptr<Slices> slices_of(const Running& running);
  Staging staging_of(std::size_t bytes);

  const TrainingRequest& request_;
  Endpoint& endpoint_;
  const StepPlan& plan_;
  RankGroups owners_;  ///< that share out the model
  ModelMemory memory_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::vector<ElementRange>> own_parts_;  ///< by task
  std::vector<std::vector<Shard>> shards_;            ///< per tensor, with servers only
  GradientMemories memories_;
  std::deque<LeavingBucket> waiting_;
  std::list<Running> running_;
  std::vector<Staging> spare_;
  /// Of the same tensors, bucket after bucket: what a device knows of them has reached it once.
  std::map<std::pair<Carried, Bucket>, std::shared_ptr<Packing>> packings_;
  std::map<std::pair<int, Bucket>, std::shared_ptr<Slices>> slices_;  ///< by task
  std::int32_t step_ = -1;
  StepTrace* trace_;
  SomeExchange* some_;
  CodecTimes coded_;  ///< in traced steps
  int started_ = 0;   ///< buckets of the step
};

}  // namespace hbench

#pragma once

/// Buckets in flight: each is one collective, or one exchange with some ranks, on a part of the buffer of gradients, or
/// of parameters.

#include <array>
#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "collectives/endpoints/endpoint.hpp"
#include "collectives/exchange/exchange.hpp"
#include "workloads/engine/coordinator.hpp"
#include "workloads/engine/memories.hpp"
#include "workloads/engine/some_exchange.hpp"
#include "workloads/engine/step_trace.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// One rank's. Every rank launches the same buckets in the same order. Those of collectives whose groups lie within
/// nodes have a queue of their own: they go on beside what leaves nodes, as with a communicator for each of a library,
/// since they have links of their own. Used by one thread at a time.
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
  /// The bucket leaves now, or after those before it in its queue where the algorithm is not concurrent; never before
  /// the collectives that it comes after have ended on this rank.
  void launch(LeavingBucket bucket);
  /// Does what can be done now; the collectives of which a bucket was completed by it, with that bucket's bytes.
  struct Arrival {
    int task = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Arrival> progress();
  /// Returns the parts of the buffer that the reduce-scatter `task` has left whole on this rank, in this step so far.
  const std::vector<ElementRange>& own_parts(int task) const { return own_parts_[static_cast<std::size_t>(task)]; }
  int in_flight() const;
  /// \pre nothing is in flight
  void walk(StateWalk& state);

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
    std::unique_ptr<Operation> operation;
    int number = 0;           ///< in its step
    Clock::time_point begin;  ///< where it has begun, this and what follows
    Event departed;           ///< in a traced step
  };
  /// Collectives that go on one after the other, or together where the algorithm is concurrent.
  struct Queue {
    std::list<Running> running, waiting;
    std::size_t size() const { return running.size() + waiting.size(); }
  };

  Queue& queue_of(int task) { return queues_[stays_within_nodes_[static_cast<std::size_t>(task)] ? 1 : 0]; }
  /// Whether a task has not ended with one of these tensors.
  bool in_flight(int task, const std::vector<int>& tensors) const;
  bool may_begin(const Queue& queue, const Running& running) const;
  /// Begins what waits for nothing any more.
  void begin_waiting(Queue& queue);
  void begin(Running& running);
  void progress(Queue& queue, std::vector<Arrival>& arrivals);
  bool advance(Running& running);
  bool traced() const { return trace_ != nullptr && trace_->active(); }
  Event mark() { return traced() ? trace_->mark() : nullptr; }
  const Task& task(const Running& running) const { return plan_.task(running.task); }
  bool is_among_all(const Running& running) const { return task(running).among == Among::all; }
  void prepare(Running& running);
  std::unique_ptr<Operation> operation(const Running& running);
  /// By which `task` of the bucket goes.
  AlgorithmChoice algorithm_of(const Running& running, const Task& task) const;
  /// The memory of a tensor, or of the bucket's piece of it.
  std::span<float> tensor(const Running& running, int index) const;
  /// Finds one piece of memory for the bucket: as it lies, or that it is packed in.
  void lay_out(Running& running);
  void pack(Running& running);
  void unpack(Running& running);
  std::size_t filling(const Running& running, std::size_t elements) const;
  /// Of the buffer: what a reduce-scatter of it leaves on this rank, or has left.
  std::span<float> own_part_of(const Running& running) const;
  void note_own_part(const Running& running);
  std::shared_ptr<Packing> packing_of(const Running& running);
  Staging staging_of(std::size_t bytes);

  const TrainingRequest& request_;
  Endpoint& endpoint_;
  const StepPlan& plan_;
  ModelMemory memory_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::vector<ElementRange>> own_parts_;  ///< by task
  std::vector<std::vector<Shard>> shards_;            ///< per tensor, with servers only
  GradientMemories memories_;
  std::vector<bool> stays_within_nodes_;  ///< by task
  bool beside_;                           ///< the plan has tasks for both queues
  std::array<Queue, 2> queues_;           ///< of what leaves nodes, and of what stays within them
  std::vector<Staging> spare_;
  /// Of the same tensors, bucket after bucket: what a device knows of them has reached it once.
  std::map<std::pair<Carried, Bucket>, std::shared_ptr<Packing>> packings_;
  std::int32_t step_ = -1;
  StepTrace* trace_;
  SomeExchange* some_;
  CodecTimes coded_;  ///< in traced steps
  int launched_ = 0;  ///< buckets of the step
};

}  // namespace hbench

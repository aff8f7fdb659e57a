#pragma once

// Ranks of the engine that are threads, without LibTorch: the "gradients" are numbers whose sums are exact.

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "collectives/base/table.hpp"
#include "tests/collectives/lazy_device.hpp"
#include "workloads/engine/communicator.hpp"
#include "workloads/engine/memories.hpp"
#include "workloads/engine/negotiator.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

inline constexpr int kSteps = 4;
/// The task of a synchronous plan that makes gradients.
inline constexpr int kBackward = 1;

/// Sizes that do not divide evenly, one tensor much larger than the others, and a very small one.
inline GradientLayout test_layout() { return {.parameters = {4, 3, 2, 1, 0}, .elements = {7, 1, 5000, 64, 129}}; }

inline DeviceFactory lazy_devices() {
  return [](Rank rank) { return std::make_shared<support::LazyDevice>(static_cast<unsigned>(rank) + 1); };
}

inline float value(int worker, int step, std::size_t element) {
  return static_cast<float>((worker + 1) * (static_cast<int>(element % 97) + 3 * step + 1));
}

inline float expected_sum(int workers, int step, std::size_t element) {
  float sum = 0;
  for (int worker = 0; worker < workers; ++worker) sum += value(worker, step, element);
  return sum;
}

inline TrainingRequest make_request(World world, std::string_view algorithm, std::string_view placement,
                                    std::string_view fusion) {
  TrainingRequest request;
  request.world = world;
  request.strategy.algorithm = parse_algorithm_rule(algorithm);
  if (!placement.empty()) request.strategy.placement = &find_entry(placements(), placement, "placement");
  request.strategy.fusion = parse_fusion(fusion);
  request.warmup_steps = 1;
  request.steps = kSteps - 1;
  return request;
}

/// What a worker does in a step; replaced to make it misbehave.
using Announce = std::function<void(Handover&, Rank, int step)>;

/// Each worker announces in an order of its own.
inline void announce_all(Handover& handover, Rank rank, int step) {
  const int tensors = test_layout().tensors();
  for (int i = 0; i < tensors; ++i) handover.announce(kBackward, (i + rank + step) % tensors);
}

inline std::vector<float> values(int worker, int step, std::size_t elements) {
  std::vector<float> all(elements);
  for (std::size_t i = 0; i < elements; ++i) all[i] = value(worker, step, i);
  return all;
}

/// Returns what each step has made of a worker's gradients. `computing` makes these; the communication thread waits on
/// what `listen_to` makes of its doorbell.
inline std::vector<std::vector<float>> exchanged_by_step(
    const TrainingRequest& request, Endpoint& endpoint, const Announce& announce, Device& computing = host_device(),
    const std::function<Doorbell&(Doorbell&)>& listen_to = [](Doorbell& own) -> Doorbell& { return own; }) {
  const Rank rank = endpoint.transport().rank();
  const GradientLayout own = test_layout();
  const GradientLayout layout =
      share_layout(rank < request.world.workers ? &own : nullptr, endpoint.control(), request.timeout);
  const auto elements = static_cast<std::size_t>(layout.total());
  const std::span<std::byte> memory = endpoint.allocate(elements * sizeof(float));
  synchronize(endpoint.device());
  const StepPlan plan = request.strategy.method.plan(request.strategy.overlap);
  Communicator communicator(request, endpoint, layout, plan,
                            {.gradients = {reinterpret_cast<float*>(memory.data()), elements}, .parameters = {}});
  if (rank >= request.world.workers) {
    communicator.serve();
    return {};
  }
  Handover handover(listen_to(communicator.doorbell()));
  std::jthread thread([&] { communicator.run(handover); });
  struct Closer {
    Handover& handover;
    ~Closer() { handover.close(); }
  } const closer{handover};
  std::vector<std::vector<float>> all;
  for (int step = 0;; ++step) {
    handover.begin_step({Handover::Clock::now(), step});
    const std::vector<float> gradients = values(rank, step, elements);
    computing.copy(std::as_bytes(std::span(gradients)), memory);
    announce(handover, rank, step);
    const StepEnd end = handover.wait_for_step_end();
    computing.wait(end.arrived);
    computing.read(memory, std::as_writable_bytes(std::span(all.emplace_back(elements))));
    if (end.next == Phase::stop) return all;
  }
}

/// Returns how many steps there were, and counts sums that are wrong.
inline int work(
    const TrainingRequest& request, Endpoint& endpoint, const Announce& announce, int& wrong,
    Device& computing = host_device(),
    const std::function<Doorbell&(Doorbell&)>& listen_to = [](Doorbell& own) -> Doorbell& { return own; }) {
  const auto all = exchanged_by_step(request, endpoint, announce, computing, listen_to);
  const auto steps = static_cast<int>(all.size());
  for (int step = 0; step < steps; ++step) {
    const std::vector<float>& sums = all[static_cast<std::size_t>(step)];
    for (std::size_t i = 0; i < sums.size(); ++i)
      wrong += sums[i] != expected_sum(request.world.workers, step, i) ? 1 : 0;
  }
  return steps;
}

/// One thread per rank, as in a job; `body` gets its endpoint. Returns what each rank failed with, or "".
inline std::vector<std::string> on_all_ranks(const std::vector<std::unique_ptr<Endpoint>>& endpoints,
                                             const std::function<void(Endpoint&)>& body) {
  std::vector<std::string> failures(endpoints.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < endpoints.size(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          body(*endpoints[rank]);
        } catch (const std::exception& error) {
          failures[rank] = error.what();
        }
      });
    }
  }
  return failures;
}

inline std::vector<std::string> on_all_ranks(int ranks, const std::function<void(Endpoint&)>& body,
                                             const DeviceFactory& devices = {}) {
  return on_all_ranks(make_thread_endpoints(ranks, devices), body);
}

}  // namespace hbench

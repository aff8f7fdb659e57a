// What the communication thread of a rank costs its compute thread, which has the same core: steps in a world of one,
// where nothing is sent. A step "computes" for about 25 ms and announces the 62 gradients of a ResNet-18.
//
// `overhead_us`: processor time of this process per step, beyond that of the same step without a communication thread,
// in turn; medians. `wakes`: how often the communication thread wakes in a step.

#include <benchmark/benchmark.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <vector>

#include "collectives/endpoints/endpoint.hpp"
#include "workloads/engine/communicator.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {
namespace {

constexpr int kTensors = 62;
constexpr int kWorkPerTensor = 100'000;  ///< dependent multiplications

/// Remembers how often its listener waits.
class WaitCounter final : public Doorbell {
 public:
  explicit WaitCounter(Doorbell& inner) : inner_(inner) {}
  void ring() override { inner_.ring(); }
  Ticket listen() override { return inner_.listen(); }
  void wait(Ticket ticket, std::chrono::nanoseconds longest) override {
    ++waits_;
    inner_.wait(ticket, longest);
  }
  int waits() const { return waits_; }

 private:
  Doorbell& inner_;
  std::atomic<int> waits_ = 0;
};

/// An endpoint that only answers when asked, as MPI's does.
class EndpointWithoutDoorbell final : public Endpoint {
 public:
  explicit EndpointWithoutDoorbell(Endpoint& inner) : inner_(inner) {}
  Transport& transport() override { return inner_.transport(); }
  Transport& control() override { return inner_.control(); }
  [[noreturn]] void abort(int) override { std::abort(); }

 private:
  Endpoint& inner_;
};

void compute() {
  double value = 1;
  for (int i = 0; i < kWorkPerTensor; ++i) benchmark::DoNotOptimize(value = value * 1.0000001);
}

double process_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

template <class Work>
double timed(Work work) {
  const double begin = process_seconds();
  work();
  return process_seconds() - begin;
}

void pin_to_this_core() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
}

void step(benchmark::State& state, const char* fusion, bool polled) {
  pin_to_this_core();
  TrainingRequest request;
  request.world = {.workers = 1};
  request.strategy.algorithm = parse_algorithm_rule("ring");
  request.strategy.fusion = parse_fusion(fusion);
  request.steps = 1'000'000'000;
  GradientLayout layout;
  for (int tensor = 0; tensor < kTensors; ++tensor) {
    layout.parameters.push_back(tensor);
    layout.elements.push_back(256);
  }
  std::vector<float> gradients(static_cast<std::size_t>(layout.total()));
  const auto endpoints = make_thread_endpoints(1);
  EndpointWithoutDoorbell asked(*endpoints[0]);
  const StepPlan plan = request.strategy.method.plan(request.strategy.overlap);
  const int backward = announced_tasks(plan, 0).front();
  Communicator communicator(request, polled ? asked : *endpoints[0], layout, plan, {.gradients = gradients});
  WaitCounter doorbell(communicator.doorbell());
  Handover handover(doorbell);
  std::jthread thread([&] { communicator.run(handover); });

  std::vector<double> alone, together;
  const int waits_before = doorbell.waits();
  for (auto _ : state) {
    alone.push_back(timed([] {
      for (int tensor = 0; tensor < kTensors; ++tensor) compute();
    }));
    together.push_back(timed([&] {
      handover.begin_step({.at = Handover::Clock::now()});
      for (int tensor = 0; tensor < kTensors; ++tensor) {
        compute();
        handover.announce(backward, tensor);
      }
      handover.wait_for_step_end();
    }));
    state.SetIterationTime(together.back());
  }
  handover.close();
  state.counters["overhead_us"] = 1e6 * (median(together) - median(alone));
  state.counters["wakes"] = static_cast<double>(doorbell.waits() - waits_before) / static_cast<double>(together.size());
}

BENCHMARK_CAPTURE(step, each_gradient_alone, "none", false)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, all_together, "threshold:1GiB", false)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, horovod, "horovod", false)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, polled, "threshold:1GiB", true)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hbench

BENCHMARK_MAIN();

#include "workloads/engine/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <thread>

#include "collectives/base/error.hpp"
#include "workloads/engine/digest.hpp"
#include "workloads/engine/worker.hpp"
#include "workloads/methods/step_plan.hpp"
#include "workloads/simulation/step_simulator.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {
namespace {

/// A sleep ends some tens of microseconds late; so much is waited for awake.
constexpr std::chrono::microseconds kSpin{50};
/// How often a rank looks whether communication slows it.
constexpr std::chrono::milliseconds kSlice{5};

/// The number of elements after which contributions repeat, a prime number: no chunk of a schedule is a multiple of it
/// long.
constexpr std::int64_t kPeriod = 65521;
/// The largest contribution of worker 0. Sums of up to 361 workers are below 2^24, and so exact in float32.
constexpr int kMost = 251;
/// The share of each timed step that is compared, in runs of `kRun` elements: one of every `kSampled` runs.
constexpr std::int64_t kSampled = 64, kRun = 4096;

/// What worker 0 contributes to the first step; worker r contributes r + 1 times as much.
const std::vector<float>& pattern() {
  static const std::vector<float> values = [] {
    std::vector<float> drawn(kPeriod);
    std::mt19937 random(1);
    for (float& value : drawn) value = static_cast<float>(1 + random() % kMost);
    return drawn;
  }();
  return values;
}

double normal_quantile(double share) {
  double low = -9, high = 9;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::numbers::sqrt2) < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

Seconds thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return Seconds(static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec));
}

/// Adds what its scope takes of the core.
class ProcessorTime {
 public:
  explicit ProcessorTime(Seconds& sum) : sum_(sum) {}
  ~ProcessorTime() { sum_ = sum_ + thread_time() - begin_; }
  ProcessorTime(const ProcessorTime&) = delete;
  ProcessorTime& operator=(const ProcessorTime&) = delete;

 private:
  Seconds& sum_;
  Seconds begin_ = thread_time();
};

/// Calls `use(values, first, count)` for runs of `[begin, end)` within which the pattern does not start again.
template <class Use>
void for_pattern_runs(int step, std::int64_t begin, std::int64_t end, Use use) {
  constexpr std::int64_t kShift = 7919;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t place = (at + step * kShift) % kPeriod;
    const std::int64_t count = std::min(end - at, kPeriod - place);
    use(pattern().data() + place, at, count);
    at += count;
  }
}

}  // namespace

double replayed_deviation(Rank worker, int workers, int step) {
  if (workers <= 1) return 0;
  std::vector<int> places(static_cast<std::size_t>(workers));
  std::iota(places.begin(), places.end(), 1);
  std::mt19937 random(static_cast<unsigned>(step) + 1);
  for (std::size_t left = places.size(); left > 1; --left) std::swap(places[left - 1], places[random() % left]);
  // Blom (1958), Statistical Estimates and Transformed Beta-Variables: near the expected order statistics of a normal
  // distribution; of few draws a little too far out, so that all are scaled to the largest.
  const auto expected = [workers](int place) { return normal_quantile((place - 0.375) / (workers + 0.25)); };
  return expected(places[static_cast<std::size_t>(worker)]) * expected_largest_normal(workers) / expected(workers);
}

Replay::Replay(const ReplayRequest& request, Rank rank, int workers, bool exact, StepPlan plan)
    : request_(request),
      rank_(rank),
      workers_(workers),
      exact_(exact),
      plan_(std::move(plan)),
      scale_(exact ? 1 : 1.0F / (kMost * static_cast<float>(workers) * static_cast<float>(workers))) {}

Device& Replay::device() { return host_device(); }

GradientLayout Replay::record_layout() {
  GradientLayout layout;
  for (const GradientEvent& gradient : request_.timeline.gradients) {
    layout.parameters.push_back(layout.tensors());
    layout.elements.push_back(gradient.elements);
  }
  return layout;
}

void Replay::lay_out(const GradientLayout& layout, const ModelMemory& memory) {
  offsets_ = layout.offsets();
  memory_ = memory;
}

void Replay::forward(int step) {
  if (step > 0 && exchanges_parameters()) {
    const ProcessorTime counted(processor_time_);
    compare_some(parameters(), {0, offsets_.back()});
  }
  begin_step(step);
  compute_until(request_.timeline.forward);
}

void Replay::forward(int step, int unit) {
  if (unit == 0) begin_step(step);
  compare_gathered(unit);
  const StepTimeline& timeline = request_.timeline;
  forward_ = forward_ + timeline.forward *
                            (backward_of(plan_.units, static_cast<std::size_t>(unit), timeline) / timeline.backward);
  compute_until(std::min(forward_, timeline.forward));
  if (frees(unit)) forget_some(unit);
}

bool Replay::frees(int unit) const {
  const auto gather = std::ranges::find_if(plan_.tasks, [&](const Task& task) {
    return task.unit == unit && task.collective == CollectiveKind::all_gather;
  });
  return gather->frees;
}

void Replay::compare_gathered(int unit) {
  const ProcessorTime counted(processor_time_);
  if (step_ == 0) return;
  for (const int tensor : plan_.units[static_cast<std::size_t>(unit)]) compare_some(gathered(), range_of(tensor));
}

/// What another gather must bring again: of the runs that are compared, all but this rank's own parts.
void Replay::forget_some(int unit) {
  const ProcessorTime counted(processor_time_);
  if (own_.empty()) return;
  for (const int tensor : plan_.units[static_cast<std::size_t>(unit)])
    for_some_runs(range_of(tensor), [&](ElementRange run) {
      for (std::int64_t i = run.begin; i < run.end; ++i) {
        const auto holds = [i](const ElementRange& part) { return part.begin <= i && i < part.end; };
        if (std::ranges::none_of(own_, holds)) memory_.parameters[static_cast<std::size_t>(i)] = -1;
      }
    });
}

void Replay::begin_step(int step) {
  step_ = step;
  const auto worker = static_cast<std::size_t>(rank_);
  pace_ = (1 + request_.straggler * replayed_deviation(rank_, workers_, step)) *
          (worker < request_.slower.size() ? request_.slower[worker] : 1);
  done_ = forward_ = Seconds(0);
  at_ = Clock::now();
}

void Replay::backward(const std::function<void(int)>& ready, double) {
  const StepTimeline& timeline = request_.timeline;
  for (std::size_t tensor = 0; tensor < timeline.gradients.size(); ++tensor) {
    make_gradient(static_cast<int>(tensor));
    if (ready) ready(static_cast<int>(tensor));
  }
  compute_until(timeline.passes());
}

void Replay::backward(int unit) {
  compare_gathered(unit);
  for (const int tensor : plan_.units[static_cast<std::size_t>(unit)]) make_gradient(tensor);
  if (unit == 0) compute_until(request_.timeline.passes());
}

void Replay::make_gradient(int tensor) {
  const auto index = static_cast<std::size_t>(tensor);
  fill(memory_.gradients, range_of(tensor), scale_ * static_cast<float>(rank_ + 1));
  compute_until(request_.timeline.forward + request_.timeline.gradients[index].ready);
}

void Replay::compute_until(Seconds work) {
  const ProcessorTime counted(processor_time_);
  while (done_ < work) {
    const bool slowed = request_.overlap_slowdown > 0 && communicating_ && communicating_();
    const double factor = request_.dilation * pace_ * (slowed ? 1 + request_.overlap_slowdown : 1);
    auto until =
        at_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>((work - done_).value * factor));
    const bool last = request_.overlap_slowdown == 0 || until - at_ <= kSlice;
    if (!last) until = at_ + kSlice;
    if (until - kSpin > Clock::now())
      std::this_thread::sleep_until(until - (last ? kSpin : std::chrono::microseconds(0)));
    if (last)
      while (Clock::now() < until) {
      }
    // Not the time at which this thread wakes up: what is late is made up for.
    done_ = last ? work : done_ + Seconds(std::chrono::duration<double>(until - at_).count() / factor);
    at_ = until;
  }
}

void Replay::fill(std::span<float> buffer, ElementRange range, float times) {
  const ProcessorTime counted(processor_time_);
  for_pattern_runs(step_, range.begin, range.end, [&](const float* values, std::int64_t first, std::int64_t count) {
    float* const to = buffer.data() + first;
    for (std::int64_t i = 0; i < count; ++i) to[i] = times * values[i];
  });
}

Replay::Expected Replay::sums() const {
  const float times = static_cast<float>(workers_) * static_cast<float>(workers_ + 1) / 2;
  return {.buffer = memory_.gradients, .times = times * scale_, .what = "sum", .step = step_};
}

Replay::Expected Replay::gathered() const {
  return {.buffer = memory_.parameters, .what = "gathered parameter", .step = step_ - 1};
}

float Replay::mean_times() const { return static_cast<float>(workers_ + 1) / 2; }

Replay::Expected Replay::deltas(int fragment) const {
  return {.buffer = memory_.of(Carried::deltas),
          .times = sums().times,
          .what = "sum of deltas",
          .step = taken_[static_cast<std::size_t>(fragment)]};
}

Replay::Expected Replay::parameters() const {
  const float times = averages_parameters() ? mean_times() * parameter_times(0) : 1;
  return {.buffer = memory_.parameters, .times = times, .what = "parameter", .step = step_};
}

Replay::Expected Replay::means() const {
  const std::vector<Rank> neighbours = neighbours_of(rank_, workers_);
  float times = parameter_times(rank_);
  for (const Rank each : neighbours) times += parameter_times(each);
  times /= static_cast<float>(neighbours.size() + 1);
  return {.buffer = memory_.parameters, .times = times, .what = "mean parameter", .step = step_ - 1};
}

float Replay::parameter_times(Rank rank) const {
  return static_cast<float>(rank + 1) * (takes_means_with_some(plan_) ? 3.0F : 1.0F);
}

bool Replay::exchanges_parameters() const {
  return std::ranges::any_of(plan_.tasks, [&](const Task& task) {
    return !task.computes() && task.among == Among::all && task.carried == Carried::parameters && task.is_in(step_);
  });
}

bool Replay::averages_parameters() const {
  return std::ranges::any_of(plan_.tasks, [](const Task& task) {
    return !task.computes() && task.carried == Carried::parameters && reduces(task.collective);
  });
}

void Replay::compare(const Expected& expected, ElementRange range) const {
  for_pattern_runs(
      expected.step, range.begin, range.end, [&](const float* values, std::int64_t first, std::int64_t count) {
        const float* const found = expected.buffer.data() + first;
        bool same = true;
        for (std::int64_t i = 0; i < count; ++i) same &= found[i] == expected.times * values[i];
        if (same) return;
        std::int64_t wrong = 0;
        while (found[wrong] == expected.times * values[wrong]) ++wrong;
        const auto after = std::ranges::upper_bound(offsets_, first + wrong);
        const auto tensor = static_cast<std::size_t>(after - offsets_.begin() - 1);
        throw Error(ExitCode::wrong_data,
                    fmt::format("step {}: the {} of element {} of {} is {} and not {}", step_, expected.what,
                                first + wrong - offsets_[tensor], request_.timeline.gradients[tensor].tensor,
                                found[wrong], expected.times * values[wrong]),
                    "this is a defect of hbench's, or of the memory or network of this machine");
      });
}

/// All elements of the last step are compared by `digest`, which no step pays for.
template <class Use>
void Replay::for_some_runs(ElementRange within, Use use) const {
  const std::int64_t first = within.begin / kRun * kRun + (step_ % kSampled) * kRun;
  for (std::int64_t begin = first; begin < within.end; begin += kSampled * kRun)
    use({std::max(begin, within.begin), std::min(begin + kRun, within.end)});
}

void Replay::compare_some(const Expected& expected, ElementRange within) const {
  if (exact_) for_some_runs(within, [&](ElementRange run) { compare(expected, run); });
}

void Replay::apply(double, double) {
  at_ = Clock::now();
  pace_ = 1;
  const ElementRange all{0, offsets_.back()};
  if (applies_sums(plan_, plan_.size(), step_)) {
    const ProcessorTime counted(processor_time_);
    compare_some(sums(), all);
  }
  if (step_ > 0 && exchanges_among(plan_, Among::neighbours)) {
    const ProcessorTime counted(processor_time_);
    compare_some(means(), all);
  }
  if (!memory_.parameters.empty()) fill(memory_.parameters, all, parameter_times(rank_));
  compute_until(request_.timeline.step());
}

void Replay::apply_momenta(double rate, double divisor) { apply(rate, divisor); }

void Replay::apply_parts(double, double, std::span<const ElementRange> parts) {
  at_ = Clock::now();
  pace_ = 1;
  own_.assign(parts.begin(), parts.end());
  for (const ElementRange& part : parts) {
    {
      const ProcessorTime counted(processor_time_);
      compare_some(sums(), part);
    }
    fill(memory_.parameters, part, 1);
  }
  compute_until(request_.timeline.passes() + request_.timeline.update / workers_);
}

void Replay::take_deltas(int fragment) {
  const auto index = static_cast<std::size_t>(fragment);
  taken_[index] = step_;
  for (const int tensor : fragments_[index])
    fill(memory_.of(Carried::deltas), range_of(tensor), scale_ * static_cast<float>(rank_ + 1));
}

void Replay::apply_deltas(int fragment, int) {
  const ProcessorTime counted(processor_time_);
  for (const int tensor : fragments_[static_cast<std::size_t>(fragment)])
    compare_some(deltas(fragment), range_of(tensor));
}

std::uint64_t Replay::digest() const {
  if (sharded(plan_).parameters) {  // no two ranks have the same ones
    if (exact_)
      for (const ElementRange& part : own_) compare(sums(), part);
    return 0;
  }
  if (plan_.outer) return digest_deltas();
  const Expected last = memory_.parameters.empty() ? sums() : parameters();
  // Where nobody waits for others, what is there depends on how far each worker has come.
  const bool together = !exchanges_among(plan_, Among::servers) && !exchanges_among(plan_, Among::partner);
  if (exact_ && together) compare(last, {0, offsets_.back()});
  Digest digest;
  digest.add(last.buffer);
  return digest.value();
}

/// Of those that later gradients have not taken the place of.
std::uint64_t Replay::digest_deltas() const {
  Digest digest;
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    if (memory_.deltas.empty() && taken_[i] != step_) continue;
    for (const int tensor : fragments_[i]) {
      const ElementRange range = range_of(tensor);
      if (exact_) compare(deltas(static_cast<int>(i)), range);
      digest.add(memory_.of(Carried::deltas)
                     .subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.size())));
    }
  }
  return digest.value();
}

ReplayEnd replay(const TrainingRequest& request, const ReplayRequest& replayed, Endpoint& endpoint,
                 const std::function<void(const StepReport&)>& on_step) {
  const Rank rank = endpoint.transport().rank();
  TrainingRequest whole = request;
  whole.micro_batches = 1;  // the timeline has them all
  // Servers that apply gradients add them up exactly: each by its part of the mean, at this rate.
  whole.learning_rate = -request.world.workers;
  whole.strategy.optimizer = parse_optimizer("sgd");
  if (rank >= request.world.workers) {
    serve(whole, endpoint);
    return {};
  }
  Replay compute(replayed, rank, request.world.workers, request.strategy.compressor.verbatim(),
                 request.strategy.method.plan(request.strategy.overlap,
                                              {.elements = replayed.timeline.elements(), .units = replayed.units}));
  TrainingEnd end = train_together(compute, whole, endpoint, on_step, {}, [&](const Handover& handover) {
    compute.watch([&handover] { return handover.communicating(); });
  });
  end.consensus_distance.reset();  // of what stands for parameters it says nothing
  compare_digests(end.digest, request, endpoint.control());
  return {end, compute.processor_time()};
}

}  // namespace hbench

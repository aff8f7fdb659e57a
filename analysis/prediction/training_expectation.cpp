#include "analysis/prediction/training_expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/prediction/least_step.hpp"
#include "analysis/prediction/plan.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/prediction/slow_causes.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// A GPU may be this much faster alone than its rate says before something else than the GPU is at odds with it.
constexpr double kFasterGpu = 1.1;
/// A rate in a wide band that is further below the expected one has its causes named all the same.
constexpr double kAsExpected = 0.8;
/// What is further from the measured rate than a band is wide explains nothing.
constexpr double kFurthest = 0.15;

Case only_case(const Plan& plan, const PredictionRequest& request) {
  if (request.gpus.front() < 2)
    throw Error(ExitCode::usage, "one GPU exchanges nothing", "give the GPUs of the job, 2 or more: --gpus 8");
  if (plan.cases.size() != 1)
    throw Error(ExitCode::usage, fmt::format("{} strategies were asked for, and one was measured", plan.cases.size()),
                "name it: --preset ddp, or --algorithm ring");
  return plan.cases.front();
}

class Suspects {
 public:
  Suspects(const TrainingExpectation& found, const Catalog& catalog, const StopRequested& stop)
      : found_(found), catalog_(catalog), stop_(stop), samples_(found.asked.batch_per_gpu * found.asked.gpus) {}

  std::vector<TrainingSuspicion> all() {
    const Profile& healthy = catalog_.profiles.at(found_.asked.profile);
    for (const SlowCause& cause : slow_causes())
      if (const std::optional<Profile> sick = cause.on(healthy, healthy.domains_of(found_.asked.gpus) > 1))
        suspect(std::string(cause.what), std::string(cause.check), found_.asked, *sick);
    suspect_unit(fmt::format("it is the rate of one GPU, not of all {}", found_.asked.gpus), found_.asked.gpus);
    suspect_unit("it is in steps/s", samples_);
    std::erase_if(suspicions_, [](const TrainingSuspicion& each) { return each.off > kFurthest; });
    std::ranges::stable_sort(suspicions_, {}, &TrainingSuspicion::off);
    suspect_compute();
    suspect_host();
    return std::move(suspicions_);
  }

 private:
  double rate(const Case& asked, const Profile& profile) const {
    Catalog catalog = catalog_;
    catalog.profiles.insert_or_assign(profile.name, profile);
    return samples_ / SimulatedRunner(catalog, stop_).step(asked).step().value;
  }

  void suspect(std::string what, std::string check, const Case& asked, const Profile& profile) {
    suspect(std::move(what), std::move(check), rate(asked, profile));
  }

  void suspect(std::string what, std::string check, double expected) {
    suspicions_.push_back({.what = std::move(what),
                           .check = std::move(check),
                           .expected = expected,
                           .off = std::abs(std::log(found_.measured / expected))});
  }

  void suspect_unit(std::string what, double samples) {
    suspect(std::move(what), "what the program counts: samples/s of all GPUs are asked for", found_.expected / samples);
  }

  /// Input that does not keep up, a slow rank and a GPU at low clocks look alike from outside: all wait for it.
  void suspect_compute() {
    const double per_gpu = found_.alone / found_.asked.gpus;
    // The slowest GPU that is still faster than what was measured, by the search of rates between 1/1000 and all of it.
    double low = per_gpu / 1000, high = per_gpu;
    for (int i = 0; i < 20 && high / low > 1.005; ++i) {
      const double middle = std::sqrt(low * high);
      Case asked = found_.asked;
      asked.single_gpu_rate = middle;
      (rate(asked, catalog_.profiles.at(asked.profile)) < found_.measured ? low : high) = middle;
    }
    suspicions_.push_back(
        {.what =
             fmt::format("a GPU trains {:.4g} samples/s instead of {:.4g}: input, clocks, a slow rank", high, per_gpu),
         .check = "one GPU alone, with the real and with synthetic input; hbench doctor --find-slow",
         .expected = found_.measured,
         .fitted = true});
  }

  void suspect_host() {
    const double lost = samples_ / found_.measured - samples_ / found_.expected;
    suspicions_.push_back(
        {.what = fmt::format("{:.3g} ms of each step are spent outside of what is simulated", lost * 1e3),
         .check = "a trace: hbench import-job, 'update' and where the GPU is idle",
         .expected = found_.measured,
         .fitted = true});
  }

  const TrainingExpectation& found_;
  const Catalog& catalog_;
  const StopRequested& stop_;
  double samples_;
  std::vector<TrainingSuspicion> suspicions_;
};

}  // namespace

Normality TrainingExpectation::normality() const {
  if (measured > kFasterGpu * std::max(alone, high)) return Normality::impossible;
  if (measured < low) return Normality::slow;
  return measured > high ? Normality::fast : Normality::normal;
}

TrainingExpectation expect_training(const PredictionRequest& request, double samples_per_second, const Data& data,
                                    const SimulationMeans& means) {
  const Plan plan = plan_predictions(request, data, {.memory = means.memory});
  TrainingExpectation found{.asked = only_case(plan, request), .measured = samples_per_second};
  const SimulatedStep step = SimulatedRunner(plan.catalog, means.stop).step(found.asked);
  const double samples = found.asked.batch_per_gpu * found.asked.gpus;
  found.expected = samples / step.step().value;
  found.low = samples / step.high.value;
  found.high = samples / step.low.value;
  found.alone = step.rate * found.asked.gpus;
  found.communication = step.times.communication / step.step();
  const Trace& trace = plan.catalog.traces.at(found.asked.workload);
  for (const char* precision : {"float32", "tf32", "bf16", "fp16"})
    if (const auto least = trace.cost ? least_step_time(plan.catalog.profiles.at(found.asked.profile), trace,
                                                        found.asked.batch_per_gpu, precision)
                                      : std::nullopt)
      found.peak = std::max(found.peak, found.asked.gpus / least->value);
  if (found.measured < kAsExpected * found.expected || found.normality() == Normality::slow)
    found.suspicions = Suspects(found, plan.catalog, means.stop).all();
  return found;
}

}  // namespace hbench

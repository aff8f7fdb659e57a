#include "analysis/prediction/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "analysis/points/collectives.hpp"
#include "analysis/prediction/plan.hpp"
#include "analysis/prediction/rate_model.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/prediction/simulated_collective.hpp"
#include "analysis/prediction/slow_causes.hpp"
#include "collectives/arithmetic/data_type.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// No collective between GPUs ends sooner after its launch.
constexpr double kLeastTime = 1e-6;
/// What a link carries at its line rate, over what a profile says is reached: 300 of 235 GB/s on an A100.
constexpr double kLineOverReached = 1.3;
/// A suspicion explains slow sizes when it leaves at most this of their distance, and is not further off than a band is
/// wide.
constexpr double kExplains = 0.5, kFurthest = 0.35;

/// The profile with as many GPUs in a node as were measured on one, and the NICs that are theirs: two GPUs on two nodes
/// of eight use an eighth of each node's.
Profile as_measured(const Profile& profile, const Case& asked) {
  Profile fitting = profile;
  if (asked.nodes == 0) return fitting;
  fitting.gpus_per_node = std::max(1, (asked.gpus + asked.nodes - 1) / asked.nodes);
  if (fitting.gpus_per_node < profile.gpus_per_node)
    fitting.nics = std::max(1, profile.nics * fitting.gpus_per_node / profile.gpus_per_node);
  return fitting;
}

/// Types that hbench has no name for, and those that a file does not say, are bytes: nothing but their number counts.
std::string known_type(const std::string& type) {
  for (const DataTypeEntry* entry : data_types())
    if (entry->name == type) return type;
  return "uint8";
}

double floor_of(const Case& asked, const Profile& profile) {
  const int domains = (asked.nodes + profile.nodes_per_domain - 1) / profile.nodes_per_domain;
  const bool across = domains > 1;
  const double parts = across ? domains : asked.gpus;
  const double rate = across ? (profile.line_rate * (profile.nics * profile.nodes_per_domain)).value
                             : std::max(profile.local_rate.value * kLineOverReached, profile.gpu_link_rate.value);
  return std::max(kLeastTime, static_cast<double>(asked.collective.bytes) * (parts - 1) / parts / rate);
}

Case question(const Case& measured, const Profile& profile) {
  Case asked = measured;
  asked.evidence = Evidence::simulated;
  asked.profile = profile.name;
  if (asked.nodes == 0) asked.nodes = profile.nodes_of(asked.gpus);
  asked.collective.executor = "simulate";
  asked.collective.data_type = known_type(asked.collective.data_type);
  if (asked.collective.operation.empty()) asked.collective.operation = "sum";
  return asked;
}

ExpectedSize asked_of_model(const Case& asked, const Profile& profile, const StopRequested& stop) {
  const Profile fitting = as_measured(profile, asked);
  const std::array cases{asked};
  const std::vector<CaseResult> results = simulate_collectives(cases, {&fitting, 1}, stop, [](const CaseResult&) {});
  if (results.empty()) throw Error(ExitCode::interrupted, "interrupted");
  const CollectiveFigures figures = collective_figures(results.front());
  return {.asked = asked,
          .expected = figures.in_place.seconds.value_or(0),
          .low = figures.low.value_or(0),
          .high = figures.high.value_or(0),
          .floor = floor_of(asked, fitting),
          .basis = figures.basis};
}

/// Why a result cannot be held against a cluster; empty where it can.
std::string refusal(const CaseResult& result, const Profile& profile, std::int64_t memory) {
  const Case& asked = result.asked;
  if (!asked.is_collective()) return fmt::format("{} is no collective", asked.question());
  if (asked.gpus < 2) return "one GPU exchanges nothing";
  if (result.status == CaseStatus::failed) return result.failure;
  try {
    return refuse_to_simulate(question(asked, profile), memory);
  } catch (const Error& error) {
    return error.what();
  }
}

std::optional<double> soonest(CaseResult result, const Case& asked) {
  result.asked = asked;
  const CollectiveFigures figures = collective_figures(result);
  std::optional<double> time = figures.in_place.seconds;
  if (figures.out_of_place.seconds && (!time || *figures.out_of_place.seconds < *time))
    time = figures.out_of_place.seconds;
  return time;
}

std::vector<const ExpectedSize*> slow_ones(const Expectation& expectation) {
  std::vector<const ExpectedSize*> slow;
  for (const ExpectedSize& size : expectation.sizes)
    if (size.measured && size.normality() == Normality::slow) slow.push_back(&size);
  return slow;
}

std::vector<Suspicion> suspicions(const Expectation& expectation, const Profile& profile, const StopRequested& stop) {
  const std::vector<const ExpectedSize*> slow = slow_ones(expectation);
  std::vector<Suspicion> found;
  if (slow.empty()) return found;
  const auto count = static_cast<double>(slow.size());
  double before = 0;
  for (const ExpectedSize* size : slow) before += std::log(size->ratio()) / count;
  const bool across = slow.front()->asked.nodes > profile.nodes_per_domain;
  for (const SlowCause& cause : slow_causes()) {
    const std::optional<Profile> sick = cause.on(profile, across);
    if (!sick) continue;
    Suspicion suspicion{.what = cause.what, .check = cause.check};
    for (const ExpectedSize* size : slow) {
      const double expected = asked_of_model(size->asked, *sick, stop).expected;
      suspicion.off += std::abs(std::log(*size->measured / expected)) / count;
      suspicion.expected = expected;
    }
    if (suspicion.off <= kExplains * before && suspicion.off <= kFurthest) found.push_back(suspicion);
  }
  std::ranges::stable_sort(found, {}, &Suspicion::off);
  return found;
}

/// A GPU may be this much faster alone than its rate says before something else than the GPU is at odds with it.
constexpr double kFasterGpu = 1.1;
/// A rate in a wide band that is further below the expected one has its causes named all the same.
constexpr double kAsExpected = 0.8;
/// What is further from the measured rate than a band is wide explains nothing.
constexpr double kFurthestStep = 0.15;

const PlannedCase& only_case(const Plan& plan, const PredictionRequest& request) {
  if (request.gpus.front() < 2)
    throw Error(ExitCode::usage, "one GPU exchanges nothing", "give the GPUs of the job, 2 or more: --gpus 8");
  if (plan.cases.size() != 1)
    throw Error(ExitCode::usage, fmt::format("{} strategies were asked for, and one was measured", plan.cases.size()),
                "name it: --preset ddp, or --algorithm ring");
  return plan.cases.front();
}

class Suspects {
 public:
  Suspects(const TrainingExpectation& found, const Plan& plan, const StopRequested& stop)
      : found_(found), plan_(plan), stop_(stop), samples_(found.asked.batch_per_gpu * found.asked.gpus) {}

  std::vector<TrainingSuspicion> all() {
    const Profile& healthy = plan_.catalog.profiles.at(found_.asked.profile);
    for (const SlowCause& cause : slow_causes())
      if (const std::optional<Profile> sick = cause.on(healthy, healthy.domains_of(found_.asked.gpus) > 1))
        suspect(std::string(cause.what), std::string(cause.check), rate(plan_.cases.front(), *sick));
    suspect_unit(fmt::format("it is the rate of one GPU, not of all {}", found_.asked.gpus), found_.asked.gpus);
    suspect_unit("it is in steps/s", samples_);
    std::erase_if(suspicions_, [](const TrainingSuspicion& each) { return each.off > kFurthestStep; });
    std::ranges::stable_sort(suspicions_, {}, &TrainingSuspicion::off);
    suspect_compute();
    suspect_host();
    return std::move(suspicions_);
  }

 private:
  double rate(const PlannedCase& asked, const Profile& profile) const {
    Catalog catalog = plan_.catalog;
    catalog.profiles.insert_or_assign(profile.name, profile);
    return samples_ / SimulatedRunner(catalog, stop_).step(asked).step().value;
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
      PlannedCase slower = plan_.cases.front();
      slower.asked.single_gpu_rate = middle;
      (rate(slower, plan_.catalog.profiles.at(found_.asked.profile)) < found_.measured ? low : high) = middle;
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
  const Plan& plan_;
  const StopRequested& stop_;
  double samples_;
  std::vector<TrainingSuspicion> suspicions_;
};

}  // namespace

std::string_view to_string(Normality normality) {
  constexpr std::array<std::string_view, 4> kWords{"normal", "slow", "fast", "faster than possible"};
  return kWords.at(static_cast<std::size_t>(normality));
}

Normality ExpectedSize::normality() const {
  if (*measured < floor) return Normality::impossible;
  if (*measured > high) return Normality::slow;
  return *measured < low ? Normality::fast : Normality::normal;
}

Expectation expect(std::span<const CaseResult> results, std::string_view gpu, const Profile& profile,
                   std::int64_t memory, const StopRequested& stop) {
  Expectation expectation{.profile = profile.name};
  std::set<std::string> refusals;
  std::vector<Case> asked;
  for (const CaseResult& result : results) {
    if (const std::string why = refusal(result, profile, memory); !why.empty()) {
      refusals.insert(why);
      continue;
    }
    asked.push_back(question(result.asked, profile));
    ExpectedSize size = asked_of_model(asked.back(), profile, stop);
    size.measured = soonest(result, asked.back());
    expectation.sizes.push_back(std::move(size));
  }
  if (expectation.sizes.empty())
    throw Error(ExitCode::usage, "nothing in it can be compared with a cluster",
                refusals.empty() ? "give what a benchmark of collectives has printed" : *refusals.begin());
  std::ranges::stable_sort(expectation.sizes, {}, [](const ExpectedSize& size) { return size.asked.collective.bytes; });
  if (!gpu.empty() && !profile.gpu.empty() && !is_gpu_of_catalogue(gpu, profile.gpu))
    expectation.notes.push_back(
        fmt::format("Warning: it was measured on {}, and {} has {}.", gpu, profile.name, profile.gpu));
  for (const std::string& why : refusals) expectation.notes.push_back(fmt::format("Left out: {}.", why));
  std::ranges::copy(curve_notes(asked, {&profile, 1}), std::back_inserter(expectation.notes));
  expectation.suspicions = suspicions(expectation, profile, stop);
  return expectation;
}

Normality TrainingExpectation::normality() const {
  if (measured > kFasterGpu * std::max(alone, high)) return Normality::impossible;
  if (measured < low) return Normality::slow;
  return measured > high ? Normality::fast : Normality::normal;
}

TrainingExpectation expect_training(const PredictionRequest& request, double samples_per_second, const Data& data,
                                    const SimulationMeans& means) {
  const Plan plan = plan_predictions(request, data, {.memory = means.memory});
  const PlannedCase& planned = only_case(plan, request);
  TrainingExpectation found{.asked = planned, .measured = samples_per_second};
  const SimulatedStep step = SimulatedRunner(plan.catalog, means.stop).step(planned);
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
    found.suspicions = Suspects(found, plan, means.stop).all();
  return found;
}

}  // namespace hbench

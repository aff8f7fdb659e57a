#include "analysis/expect/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

#include "analysis/points/collectives.hpp"
#include "analysis/prediction/plan.hpp"
#include "analysis/prediction/rate_model.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/prediction/simulated_collective.hpp"
#include "analysis/prediction/slow_causes.hpp"
#include "analysis/prediction/varied_network.hpp"
#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// No collective between GPUs ends sooner after its launch.
constexpr double kLeastTime = 1e-6;
/// What a link carries at its line rate, over what a profile says is reached: 300 of 235 GB/s on an A100.
constexpr double kLineOverReached = 1.3;
/// A suspicion explains slow sizes when it leaves at most this of their distance, and is not further off than a band is
/// wide.
constexpr double kExplains = 0.5, kFurthest = 0.35;
/// A rate in a wide band that is further below the expected one has its causes named all the same.
constexpr double kAsExpected = 0.8;
/// What is not about as expected, and takes this many times as long as it may on a cluster that is well, is not called
/// normal.
constexpr double kTooLong = 2;
/// A band of a training's rates that is as wide tells nothing of those below the expected one.
constexpr double kSaysNothing = 5;

/// Of times. \pre `low` <= `high`
Normality place_in(double low, double high, double expected, double measured) {
  if (measured > high) return Normality::slow;
  if (measured < low) return Normality::fast;
  const bool as_expected = kAsExpected * measured <= expected;
  return as_expected || measured < kTooLong * low ? Normality::pass : Normality::inconclusive;
}

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
  const double rate =
      across ? (profile.line_rate * (profile.nics * profile.nodes_per_domain)).value
             : std::max(profile.local_rate_of(asked.gpus).value * kLineOverReached, profile.gpu_link_rate.value);
  return std::max(kLeastTime, static_cast<double>(asked.collective.bytes) * (parts - 1) / parts / rate);
}

/// Returns whether a size is expected to take less time than a ring over two nodes, whose NICs all of it passes.
bool beats_a_ring(const ExpectedSize& size, const Profile& profile) {
  const Case& asked = size.asked;
  const double sent = bus_factor(asked.collective.name, asked.gpus) * static_cast<double>(asked.collective.bytes);
  return asked.nodes == 2 && profile.domains_of(asked.gpus) == 2 &&
         size.expected * (profile.line_rate * profile.nics).value < sent;
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

/// The slow sizes; without one the largest, as far down as none can be judged.
std::vector<const ExpectedSize*> doubted(const Expectation& expectation) {
  std::vector<const ExpectedSize*> slow, unclear;
  for (const ExpectedSize& size : expectation.sizes) {
    if (!size.measured) continue;
    if (size.normality() == Normality::slow) slow.push_back(&size);
    if (size.normality() != Normality::inconclusive) unclear.clear();
    if (size.normality() == Normality::inconclusive && !size.is_usual()) unclear.push_back(&size);
  }
  return slow.empty() ? unclear : slow;
}

/// What a size takes on a sick cluster. Where that is slower for it, its nodes may run trees or rings between them: the
/// time counts that is nearer to the measured one.
double time_on(const Profile& sick, const ExpectedSize& size, bool across, const StopRequested& stop) {
  const double expected = asked_of_model(size.asked, sick, stop).expected;
  if (!across || kAsExpected * expected < size.expected) return expected;
  const double rings = asked_of_model(size.asked, with_rings(sick), stop).expected;
  const auto off = [&](double time) { return std::abs(std::log(*size.measured / time)); };
  return off(rings) < off(expected) ? rings : expected;
}

/// How well a sick cluster explains the sizes in doubt; without an end where another size contradicts it, which took
/// far less than it would there.
Suspicion suspicion_of(const SlowCause& cause, const Profile& sick, bool across, const Expectation& all,
                       const std::vector<const ExpectedSize*>& in_doubt, const StopRequested& stop) {
  Suspicion suspicion{.what = cause.what, .check = cause.check};
  for (const ExpectedSize& size : all.sizes) {
    if (!size.measured) continue;
    const double time = time_on(sick, size, across, stop), off = std::log(time / *size.measured);
    if (std::ranges::find(in_doubt, &size) != in_doubt.end()) {
      suspicion.expected = time;
      suspicion.off += std::abs(off) / static_cast<double>(in_doubt.size());
    } else if (off > kFurthest + cause.spread) {
      suspicion.off = INFINITY;
    }
  }
  return suspicion;
}

std::vector<Suspicion> suspicions(const Expectation& expectation, const Profile& profile, const StopRequested& stop) {
  const std::vector<const ExpectedSize*> slow = doubted(expectation);
  std::vector<Suspicion> found;
  if (slow.empty()) return found;
  double before = 0;
  for (const ExpectedSize* size : slow) before += std::log(size->ratio()) / static_cast<double>(slow.size());
  const bool across = slow.front()->asked.nodes > profile.nodes_per_domain;
  for (const SlowCause& cause : slow_causes()) {
    const std::optional<Profile> sick = cause.on(profile, across);
    if (!sick) continue;
    const Suspicion suspicion = suspicion_of(cause, *sick, across, expectation, slow, stop);
    if (suspicion.off <= kFurthest && suspicion.off - cause.spread <= kExplains * before) found.push_back(suspicion);
  }
  std::ranges::stable_sort(found, {}, &Suspicion::off);
  return found;
}

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
        suspect(std::string(cause.what), std::string(cause.check), rate(plan_.cases.front(), *sick), cause.spread);
    suspect_unit("it is in steps/s", samples_);
    if (found_.asked.gpus > 2) suspect_rate_of_one();
    std::ranges::stable_sort(suspicions_, {}, &TrainingSuspicion::off);
    suspect_links();
    suspect_compute();
    suspect_host();
    // Half of what is expected has many causes: a mistake of the person is the last.
    if (found_.asked.gpus == 2) suspect_rate_of_one();
    const double furthest = std::min(kFurthestStep, kExplains * std::log(found_.expected / found_.measured));
    std::erase_if(suspicions_, [&](const TrainingSuspicion& each) { return !each.fitted && each.off > furthest; });
    return std::move(suspicions_);
  }

 private:
  double rate(const PlannedCase& asked, const Profile& profile) const {
    Catalog catalog = plan_.catalog;
    catalog.profiles.insert_or_assign(profile.name, profile);
    return samples_ / SimulatedRunner(catalog, stop_).step(asked).step().value;
  }

  void suspect(std::string what, std::string check, double expected, double spread = 0) {
    suspicions_.push_back({.what = std::move(what),
                           .check = std::move(check),
                           .expected = expected,
                           .off = std::max(0.0, std::abs(std::log(found_.measured / expected)) - spread)});
  }

  void suspect_rate_of_one() {
    suspect_unit(fmt::format("it is the rate of one GPU, not of all {}", found_.asked.gpus), found_.asked.gpus);
  }

  void suspect_unit(std::string what, double samples) {
    suspect(std::move(what), "what the program counts: samples/s of all GPUs are asked for", found_.expected / samples);
  }

  /// The least share of something with which the training is still faster than what was measured, down to
  /// `kLeastShare`.
  double least_share(const std::function<double(double)>& rate_with) const {
    double low = kLeastShare, high = 1;
    for (int i = 0; i < 20 && high / low > 1.005; ++i) {
      const double middle = std::sqrt(low * high);
      (rate_with(middle) < found_.measured ? low : high) = middle;
    }
    return high;
  }

  void add_fitted(std::string what, std::string check) {
    suspicions_.push_back(
        {.what = std::move(what), .check = std::move(check), .expected = found_.measured, .fitted = true});
  }

  /// Whatever makes a network slow, or the links of one node.
  void suspect_links() {
    const Profile& healthy = plan_.catalog.profiles.at(found_.asked.profile);
    const bool across = healthy.domains_of(found_.asked.gpus) > 1;
    const BytesPerSecond stated = across ? healthy.path_rate() : healthy.local_rate_of(found_.asked.gpus);
    const double share = least_share([&](double part) {
      Profile sick = across ? with_network_rate(healthy, stated * part) : healthy;
      if (!across) sick.local_rate = healthy.local_rate * part;
      sick.curves.clear();
      return rate(plan_.cases.front(), sick);
    });
    if (share < 1.01 * kLeastShare) return;  // No network is so slow: it is something else.
    const char* nccl_tests = "nccl-tests on the same nodes: hbench expect of what it prints";
    if (across)
      add_fitted(fmt::format("the network carries {} Gbit/s a node instead of {}: the interface, streams, other jobs",
                             gigabits(stated * share), gigabits(stated)),
                 nccl_tests);
    else
      add_fitted(fmt::format("the links of a node carry {:.3g} GB/s instead of {:.3g}", stated.value * share / 1e9,
                             stated.value / 1e9),
                 nccl_tests);
  }

  /// Input that does not keep up, a slow rank and a GPU at low clocks look alike from outside: all wait for it.
  void suspect_compute() {
    SimulatedRunner runner(plan_.catalog, stop_);
    const double share =
        least_share([&](double part) { return samples_ / runner.step(plan_.cases.front(), 0, part).step().value; });
    const double per_gpu = found_.alone / found_.asked.gpus;
    add_fitted(fmt::format("a GPU trains {:.4g} samples/s instead of {:.4g}: input, clocks, a slow rank",
                           share * per_gpu, per_gpu),
               "one GPU alone, with the real and with synthetic input; hbench doctor --find-slow");
  }

  void suspect_host() {
    const double lost = samples_ / found_.measured - samples_ / found_.expected;
    add_fitted(fmt::format("{} of each step are spent outside of what is simulated", format(Seconds(lost))),
               "a trace: hbench import-job, 'update' and where the GPU is idle");
  }

  static constexpr double kLeastShare = 1e-3;

  const TrainingExpectation& found_;
  const Plan& plan_;
  const StopRequested& stop_;
  double samples_;
  std::vector<TrainingSuspicion> suspicions_;
};

/// The band of a step takes the rate of a GPU for certain. What is expected of somebody's own GPUs is expected of all
/// that are as fast as their rate allows.
void find_band(TrainingExpectation& found, const PlannedCase& planned, const SimulatedStep& step,
               SimulatedRunner& runner) {
  const double samples = found.asked.batch_per_gpu * found.asked.gpus, factor = step.rate_factor;
  const Unknown& most = largest(step.unknowns);
  found.low = samples / step.high.value;
  found.high = samples / step.low.value;
  found.widest = in_words(most.kind);
  found.narrowed_by = measurement_of(most.kind);
  if (factor <= 1 && step.narrowed) found.narrowed = step.narrowed->times_in(samples);
  if (factor <= 1) return;
  const SimulatedStep slower = runner.step(planned, 0, 1 / factor), faster = runner.step(planned, 0, factor);
  found.low = std::min(found.low, samples / slower.high.value);
  found.high = std::max(found.high, samples / faster.low.value);
  if (std::log(slower.step() / faster.step()) < 2 * most.size()) return;
  found.widest = found.modelled ? "the rate of one GPU, which nobody measured" : "the rate of one GPU";
  found.narrowed_by = "its samples/s alone, as --single-gpu-rate";
}

/// `TrainingExpectation::peak`.
double peak_of(const Case& asked, const Catalog& catalog) {
  const Profile& cluster = catalog.profiles.at(asked.profile);
  const Trace& trace = catalog.traces.at(asked.workload);
  const auto most = [&](std::string_view precision) { return asked.gpus * most_samples(cluster, trace, precision); };
  if (!asked.training.precision.empty()) return most(asked.training.precision);
  return std::max({most("float32"), most("tf32"), most("bf16"), most("fp16")});
}

}  // namespace

std::string_view to_string(Normality normality) {
  constexpr std::array<std::string_view, 5> kWords{"pass", "slow", "fast", "error", "inconclusive"};
  return kWords.at(static_cast<std::size_t>(normality));
}

Normality ExpectedSize::normality() const {
  return *measured < floor ? Normality::error : place_in(low, high, expected, *measured);
}

std::optional<Normality> Expectation::normality() const {
  std::set<Normality> found;
  std::optional<Normality> of_largest;
  for (const ExpectedSize& size : sizes)
    if (size.measured) found.insert(*(of_largest = size.normality()));
  for (const Normality worst : {Normality::error, Normality::slow})
    if (found.contains(worst)) return worst;
  return of_largest;
}

Expectation expect(std::span<const CaseResult> results, std::string_view gpu, const Profile& profile,
                   std::int64_t memory, const StopRequested& stop) {
  Expectation expectation{.profile = profile.name};
  std::set<std::string> refusals;
  std::vector<Case> asked;
  for (const CaseResult& result : results) {
    if (result.asked.is_collective() && result.status == CaseStatus::failed) {
      expectation.failures.push_back(result.failure);
      continue;
    }
    if (const std::string why = refusal(result, profile, memory); !why.empty()) {
      refusals.insert(why);
      continue;
    }
    asked.push_back(question(result.asked, profile));
    ExpectedSize size = asked_of_model(asked.back(), profile, stop);
    size.measured = soonest(result, asked.back());
    expectation.sizes.push_back(std::move(size));
  }
  if (expectation.sizes.empty() && !expectation.failures.empty())
    throw Error(ExitCode::wrong_data, fmt::format("no result is good: {}", expectation.failures.front()),
                "mend that before anything is timed");
  if (expectation.sizes.empty())
    throw Error(ExitCode::usage, "nothing in it can be compared with a cluster",
                refusals.empty() ? "give what a benchmark of collectives has printed" : *refusals.begin());
  std::ranges::stable_sort(expectation.sizes, {}, [](const ExpectedSize& size) { return size.asked.collective.bytes; });
  const bool other_gpu = !gpu.empty() && !profile.gpu.empty() && !is_gpu_of_catalogue(gpu, profile.gpu);
  if (other_gpu)
    expectation.notes.push_back(
        fmt::format("Warning: it was measured on {}, and {} has {}.", gpu, profile.name, profile.gpu));
  if (std::ranges::any_of(expectation.sizes, [&](const ExpectedSize& size) { return beats_a_ring(size, profile); }))
    expectation.notes.emplace_back(
        "Bus bandwidth counts what a ring sends. A tree between two nodes sends about half of it, so that it can be up "
        "to twice what their NICs carry.");
  for (const std::string& why : expectation.failures) expectation.notes.push_back(fmt::format("Failed: {}.", why));
  for (const std::string& why : refusals) expectation.notes.push_back(fmt::format("Left out: {}.", why));
  std::ranges::copy(curve_notes(asked, {&profile, 1}), std::back_inserter(expectation.notes));
  if (!other_gpu) expectation.suspicions = suspicions(expectation, profile, stop);
  return expectation;
}

Normality TrainingExpectation::normality() const {
  if (peak > 0 && measured > peak) return Normality::error;
  const Normality place = place_in(1 / high, 1 / low, 1 / expected, 1 / measured);
  const bool nothing = place == Normality::pass && measured < expected && high >= kSaysNothing * low;
  return nothing ? Normality::inconclusive : place;
}

TrainingExpectation expect_training(const PredictionRequest& request, double samples_per_second, const Data& data,
                                    const SimulationMeans& means) {
  const Plan plan = plan_predictions(request, data, {.memory = means.memory});
  const PlannedCase& planned = only_case(plan, request);
  TrainingExpectation found{.asked = planned, .measured = samples_per_second};
  SimulatedRunner runner(plan.catalog, means.stop);
  const SimulatedStep step = runner.step(planned);
  found.expected = found.asked.batch_per_gpu * found.asked.gpus / step.step().value;
  found.alone = step.rate * found.asked.gpus;
  found.communication = step.times.communication / step.step();
  found.peak = peak_of(found.asked, plan.catalog);
  const auto& rates = plan.catalog.profiles.at(found.asked.profile).rates;
  const auto rate = rates.find(found.asked.workload);
  found.modelled = found.asked.single_gpu_rate == 0 && rate != rates.end() && rate->second.modelled;
  find_band(found, planned, step, runner);
  if (found.normality() == Normality::slow || (found.measured < kAsExpected * found.expected && !found.is_usual()))
    found.suspicions = Suspects(found, plan, means.stop).all();
  return found;
}

}  // namespace hbench

#include "analysis/learn/learning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "analysis/records/metrics.hpp"
#include "analysis/statistics/statistics.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"
#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

/// A difference that nobody minds.
constexpr double kPoint = 0.01;

bool is_synchronous(const Case& asked) {
  return asked.strategy.communicates() && asked.strategy.method.empty() && !asked.strategy.compresses();
}

/// Whether as many ranks do the same work.
bool same_job(const Case& a, const Case& b) {
  return a.workers() == b.workers() && a.baseline().question() == b.baseline().question();
}

/// Makes a launch of what it knew after each epoch: the last says what ranks have agreed on in the end.
LearnedLaunch launch_of(int launch, const std::map<int, std::map<std::string, double>>& epochs) {
  LearnedLaunch learned{.launch = launch};
  for (const auto& [epoch, of] : epochs) {
    const auto value = [&](const char* name) {
      const auto found = of.find(name);
      return found == of.end() ? 0 : found->second;
    };
    learned.epochs.push_back({value("seconds"), value("steps"), value("accuracy"), value("loss")});
  }
  learned.accuracy = learned.epochs.back().accuracy;
  learned.epochs.pop_back();
  return learned;
}

LearnedCase case_of(const CaseResult& result) {
  LearnedCase learned{.asked = result.asked};
  std::map<int, std::map<int, std::map<std::string, double>>> launches;
  std::vector<double> steps;
  std::map<int, double> sent;  // by launch, in a step
  for (const Sample& sample : result.samples) {
    if (sample.metric.starts_with(metric::kSent)) sent[sample.launch] += sample.value / result.asked.workers();
    if (sample.metric.starts_with(metric::kLearned))
      launches[sample.launch][sample.iteration][sample.metric.substr(metric::kLearned.size())] = sample.value;
    if (sample.metric == metric::kStep && !sample.warmup) steps.push_back(sample.value);
  }
  for (const auto& [launch, epochs] : launches) learned.launches.push_back(launch_of(launch, epochs));
  // A method that begins in another way has counted the bytes of its last steps alone.
  if (const auto method = known_method(result.asked.strategy.method); method && method->plan(true).start() > 0)
    sent.clear();
  for (const auto& [launch, bytes] : sent)
    learned.step_bytes = learned.step_bytes.value_or(0) + bytes / static_cast<double>(sent.size());
  if (!steps.empty())
    learned.samples_per_second = result.asked.batch_per_gpu * result.asked.workers() / median(std::move(steps));
  return learned;
}

void find_target(LearnedCase& learned, double wanted) {
  std::vector<double> accuracies, epochs, steps, seconds, bytes;
  for (const LearnedLaunch& launch : learned.launches) {
    accuracies.push_back(launch.accuracy);
    const LearnedEpoch* there = launch.first_with(wanted);
    if (there == nullptr) continue;
    epochs.push_back(launch.epochs_to(wanted));
    steps.push_back(there->steps);
    seconds.push_back(there->seconds);
    if (learned.step_bytes) bytes.push_back(there->steps * *learned.step_bytes);
  }
  learned.accuracy = mean_over(accuracies, 0, 1);
  learned.reached = static_cast<int>(epochs.size());
  if (epochs.empty() || epochs.size() < learned.launches.size()) return;
  learned.epochs = mean_over(epochs);
  learned.steps = mean_over(steps);
  learned.seconds = mean_over(seconds);
  if (!bytes.empty()) learned.bytes = mean_over(bytes);
}

/// Finds the simulated result of the same strategy.
void find_elsewhere(LearnedCase& learned, const std::vector<CaseResult>& results) {
  const auto is_it = [&](const CaseResult& result) {
    const Case &there = result.asked, &here = learned.asked;
    return there.evidence == Evidence::simulated && there.workload == here.workload && there.gpus == here.gpus &&
           there.strategy.label() == here.strategy.label() && value_of(result, metric::kStep);
  };
  const auto found = std::ranges::find_if(results, is_it);
  if (found == results.end()) return;
  const auto seconds = [&](std::string_view metric) { return value_of(*found, metric).value_or(0); };
  const auto times = [&](double steps) {
    return LaunchMean{steps * seconds(metric::kStep), steps * seconds("step_seconds_low"),
                      steps * seconds("step_seconds_high")};
  };
  learned.elsewhere = {.profile = found->asked.profile, .step = times(1), .seconds = {}};
  if (learned.steps) learned.elsewhere->seconds = times(learned.steps->value);
}

void compare(LearnedCase& learned, const LearnedCase& reference) {
  std::vector<double> differences;
  for (const LearnedLaunch& own : learned.launches)
    for (const LearnedLaunch& other : reference.launches)
      if (own.launch == other.launch) differences.push_back(own.accuracy - other.accuracy);
  if (differences.empty()) return;
  learned.difference = mean_over(differences, -1, 1);
  if (differences.size() < 2) return;
  learned.kept = learned.difference->low >= -kPoint ? AccuracyKept::kept
                 : learned.difference->high < 0     ? AccuracyKept::lost
                                                    : AccuracyKept::not_known;
}

}  // namespace

int LearnedLaunch::epochs_to(double accuracy_wanted) const {
  const auto first = std::ranges::find_if(epochs, [&](const auto& each) { return each.accuracy >= accuracy_wanted; });
  return first == epochs.end() ? 0 : static_cast<int>(first - epochs.begin()) + 1;
}

const LearnedEpoch* LearnedLaunch::first_with(double accuracy_wanted) const {
  const int epoch = accuracy_wanted > 0 ? epochs_to(accuracy_wanted) : 0;
  return epoch == 0 ? nullptr : &epochs[static_cast<std::size_t>(epoch - 1)];
}

LaunchMean mean_over(const std::vector<double>& launches, double least, double most) {
  const Interval all = mean_interval(launches);
  return {(all.low + all.high) / 2, std::max(all.low, least), std::min(all.high, most)};
}

std::string_view to_string(AccuracyKept kept) {
  constexpr std::array<std::string_view, 3> kNames{"kept", "lost", "not known"};
  return kNames.at(static_cast<std::size_t>(kept));
}

std::vector<LearnedEpoch> LearnedCase::curve() const {
  std::size_t all = launches.empty() ? 0 : launches.front().epochs.size();
  for (const LearnedLaunch& launch : launches) all = std::min(all, launch.epochs.size());
  std::vector<LearnedEpoch> means(all);
  const auto count = static_cast<double>(launches.size());
  for (std::size_t i = 0; i < all; ++i)
    for (const LearnedLaunch& launch : launches) {
      const LearnedEpoch& epoch = launch.epochs[i];
      means[i].seconds += epoch.seconds / count;
      means[i].steps += epoch.steps / count;
      means[i].accuracy += epoch.accuracy / count;
      means[i].loss += epoch.loss / count;
    }
  return means;
}

const LearnedCase* Learning::reference(const Case& of) const {
  for (const bool servers : {false, true})
    for (const LearnedCase& each : cases)
      if (is_synchronous(each.asked) && each.asked.strategy.uses_servers() == servers && same_job(each.asked, of))
        return &each;
  return nullptr;
}

Learning learning_of(const std::vector<CaseResult>& results, double wanted) {
  Learning learning{.wanted = wanted};
  for (const CaseResult& result : results) {
    LearnedCase learned = case_of(result);
    if (learned.launches.empty()) continue;
    find_target(learned, wanted);
    find_elsewhere(learned, results);
    learning.cases.push_back(std::move(learned));
  }
  for (LearnedCase& learned : learning.cases)
    if (const LearnedCase* reference = learning.reference(learned.asked); reference != nullptr && reference != &learned)
      compare(learned, *reference);
  std::ranges::stable_sort(learning.cases, [](const LearnedCase& a, const LearnedCase& b) {
    const auto time = [](const LearnedCase& of) {
      return of.seconds ? of.seconds->value : std::numeric_limits<double>::infinity();
    };
    return std::pair(time(a), -a.accuracy.value) < std::pair(time(b), -b.accuracy.value);
  });
  return learning;
}

double parse_wanted_accuracy(std::string_view text) {
  constexpr std::string_view kName = "accuracy=";
  const std::string_view amount = text.starts_with(kName) ? text.substr(kName.size()) : text;
  constexpr Unit kUnits[] = {{"", 1}, {"%", 0.01}};
  const auto share = parse_amount(amount, kUnits);
  if (!share || !(*share > 0) || !(*share < 1))
    throw Error(ExitCode::usage, fmt::format("--until {} is no accuracy between 0 and 1", text),
                "write such as accuracy=0.9");
  return *share;
}

}  // namespace hbench

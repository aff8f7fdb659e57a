// How often the rule of hbench track says "regressed" of equal code, and how often of code that is slower, beside the
// rules of other tools, on launches whose noise is known:
//
//   build/ci/tests/studies/false_alarms [GATES]
//
// A gate is 20 cases. A launch's iterations scatter about a time of the launch, which scatters too; 5 of 100 launches
// may be 8 % slow, as badly placed ones are, or the whole machine may be during some of the runs. A head has 10
// launches; "5 launches" is hbench with the first 5 alone, which call nothing regressed, and end with 10 or 11. The
// other tools' rules are written from their documentation and sources as ../../README.md of bench lists them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "analysis/statistics/rank_test.hpp"
#include "analysis/track/judge.hpp"
#include "tests/studies/noisy_machine.hpp"

namespace hbench {
namespace {

constexpr int kCases = 20;
constexpr int kRuns = 30;
constexpr int kLaunches = 5;
constexpr int kIterations = 50;

/// One case of a gate: earlier runs, and the head's launches; twice as many, to confirm.
struct Measured {
  std::vector<Launches> runs;
  Launches head;
};

/// \param states by which the machine is slower during each run; the last is the head's.
Measured measure(NoisyMachine& machine, const std::vector<double>& states, double head_time) {
  Measured measured;
  for (int run = 0; run < kRuns; ++run)
    measured.runs.push_back(machine.run(states[static_cast<std::size_t>(run)], kLaunches));
  measured.head = machine.run(states.back() * head_time, 2 * kLaunches);
  return measured;
}

double mean(const Launch& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double relative_deviation(const Launch& values) {
  const double middle = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(values.size() - 1)) / middle;
}

using Gate = std::vector<Measured>;
/// For each case whether it is said to be slower.
using Rule = std::function<std::vector<bool>(const Gate&)>;

std::vector<TrackJudgement> judged(const Gate& gate, std::size_t launches) {
  std::vector<TrackedCase> cases;
  for (const Measured& measured : gate) {
    TrackedCase& tracked = cases.emplace_back();
    for (const Launches& run : measured.runs) {
      tracked.baseline.emplace_back();
      for (const Launch& launch : run) tracked.baseline.back().push_back(median(launch));
    }
    for (const Launch& launch : measured.head) tracked.head.push_back(median(launch));
    tracked.head.resize(launches);
  }
  return judge(cases);
}

std::vector<bool> by_hbench(const Gate& gate) {
  std::vector<bool> slower;
  for (const TrackJudgement& each : judged(gate, 2 * kLaunches))
    slower.push_back(each.verdict == TrackVerdict::regressed);
  return slower;
}

/// What does not end with 0.
std::vector<bool> by_five_launches(const Gate& gate) {
  std::vector<bool> slower;
  for (const TrackJudgement& each : judged(gate, kLaunches))
    slower.push_back(each.suspected || each.verdict == TrackVerdict::regressed);
  return slower;
}

template <class Compare>
std::vector<bool> case_by_case(const Gate& gate, Compare compare) {
  std::vector<bool> slower;
  for (const Measured& measured : gate) slower.push_back(compare(measured.runs.back(), measured.head));
  return slower;
}

/// nvbench's compare script, before its robust mode: one process each; different where the means are farther apart than
/// the smaller of the two relative deviations.
std::vector<bool> by_nvbench(const Gate& gate) {
  return case_by_case(gate, [](const Launches& before, const Launches& head) {
    const Launch &reference = before.back(), &compared = head.front();
    const double difference = mean(compared) / mean(reference) - 1;
    return difference > std::min(relative_deviation(reference), relative_deviation(compared));
  });
}

/// asv continuous: two rounds of each side, a rank test on all samples at 0.002, and a factor of 1.1.
std::vector<bool> by_asv(const Gate& gate) {
  return case_by_case(gate, [](const Launches& before, const Launches& head) {
    Launch reference, after;
    for (std::size_t round = 0; round < 2; ++round) {
      const Launch &old = before[before.size() - 1 - round], &fresh = head[round];
      reference.insert(reference.end(), old.begin(), old.end());
      after.insert(after.end(), fresh.begin(), fresh.end());
    }
    return median(after) > 1.1 * median(reference) && rank_test(reference, after) < 0.002;
  });
}

/// 5 % slower than the run before.
std::vector<bool> by_fixed_share(const Gate& gate) {
  return case_by_case(gate, [](const Launches& before, const Launches& head) {
    return median(head.front()) > 1.05 * median(before.back());
  });
}

/// Mann and Whitney's test on the iterations of one launch each, at 5 % for each case (its normal approximation).
std::vector<bool> by_iterations(const Gate& gate) {
  return case_by_case(gate, [](const Launches& before, const Launches& head) {
    double above = 0;
    for (const double after : head.front())
      for (const double other : before.back()) above += after > other ? 1 : 0;
    constexpr double n = kIterations;
    const double deviation = std::sqrt(n * n * (2 * n + 1) / 12);
    return (above - n * n / 2) / deviation > 1.96;
  });
}

struct Errors {
  int alarms = 0;  ///< gates of equal code with a case that is said to be slower
  int found = 0;   ///< slowed cases, one in each gate, that are said to be slower
};

/// The same launches for every rule.
std::vector<Errors> errors_of(const std::vector<Rule>& rules, const Noise& noise, double slower, int gates) {
  std::vector<Errors> errors(rules.size());
  NoisyMachine machine(noise, kIterations, 20261123);
  for (int trial = 0; trial < gates; ++trial) {
    Gate gate;
    std::vector<double> states;
    for (int run = 0; run <= kRuns; ++run) states.push_back(machine.state());
    for (int each = 0; each < kCases; ++each) gate.push_back(measure(machine, states, 1));
    for (std::size_t i = 0; i < rules.size(); ++i)
      errors[i].alarms += std::ranges::count(rules[i](gate), true) > 0 ? 1 : 0;
    gate.front() = measure(machine, states, slower);
    for (std::size_t i = 0; i < rules.size(); ++i) errors[i].found += rules[i](gate).front() ? 1 : 0;
  }
  return errors;
}

struct Cell {
  Noise noise;
  double slower = 1.05;
};

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const double slow : {0.0, 0.05})
    for (const double iteration : {0.003, 0.03})
      for (const double launch : {0.003, 0.01, 0.03}) all.push_back({{iteration, launch, 0, slow}});
  for (const double run : {0.003, 0.01, 0.03}) all.push_back({{0.003, 0.003, run, 0}});
  for (const double share : {0.05, 0.2, 0.4})
    for (const double slower : {1.05, 1.15}) all.push_back({{0.003, 0.003, 0, 0, share}, slower});
  return all;
}

void print_table(int gates) {
  const std::vector<Rule> rules{by_hbench, by_five_launches, by_nvbench, by_asv, by_fixed_share, by_iterations};
  fmt::print("{} gates of {} cases, {} runs of {} launches before, one of {} + {} after, {} iterations each.\n", gates,
             kCases, kRuns, kLaunches, kLaunches, kLaunches, kIterations);
  fmt::print("Alarms: per cent of gates of equal code; found: per cent of cases that are slower by so much.\n\n");
  fmt::print("noise (%) of       8 % slow (% of)          ");
  for (const char* rule : {"hbench", "5 launches", "nvbench", "asv", "5 %", "iterations"}) fmt::print("   {:13}", rule);
  fmt::print("\niter. laun.  run   launches  runs    slower");
  for (std::size_t i = 0; i < rules.size(); ++i) fmt::print("   alarms  found");
  fmt::print("\n");
  for (const auto& [noise, slower] : cells()) {
    fmt::print("{:<4.1f}  {:<4.1f}  {:<4.1f}   {:<8.0f}  {:<4.0f}   {:4.0f} %", 100 * noise.iteration,
               100 * noise.launch, 100 * noise.run, 100 * noise.slow_share, 100 * noise.slow_runs, 100 * (slower - 1));
    for (const Errors& each : errors_of(rules, noise, slower, gates))
      fmt::print("   {:6.2f}  {:5.1f}", 100.0 * each.alarms / gates, 100.0 * each.found / gates);
    fmt::print("\n");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace hbench

int main(int argc, char** argv) {
  using namespace hbench;
  const int gates = argc > 1 ? std::atoi(argv[1]) : 4000;
  if (gates < 1) {
    fmt::print(stderr, "false_alarms: {} is no number of gates\n", argv[1]);
    return 2;
  }
  print_table(gates);
  return 0;
}

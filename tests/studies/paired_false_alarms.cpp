// How often hbench track pair says "regressed" of equal sides, and how often of a side that is 5 % slower, on launches
// whose noise is known and on a machine that drifts meanwhile:
//
//   build/ci/tests/studies/paired_false_alarms [GATES [PAIRS]]
//
// A gate is 20 cases, whose launches take turns A B B A. Beside it: the rank test of hbench track check on the same
// launches without their order, and on launches of which all of one side come first; both corrected for 20
// cases, and for changes of 3 % at least.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "analysis/statistics/rank_test.hpp"
#include "analysis/track/paired.hpp"
#include "tests/studies/noisy_machine.hpp"

namespace hbench {
namespace {

constexpr std::size_t kCases = 20;
constexpr int kIterations = 10;
constexpr double kSlower = 1.05;

/// What happens to the machine from the first launch to the last.
enum class Drift { none, linear, step };
constexpr double kDrift = 0.1;

double slowed_by(Drift drift, double share) {
  if (drift == Drift::step) return share < 0.5 ? 1 : 1 + kDrift;
  return drift == Drift::linear ? 1 + kDrift * share : 1;
}

/// Which launches of the session are the head's: of every four those in the middle, or the second half.
bool is_head(bool takes_turns, int launch, int launches) {
  return takes_turns ? launch % 4 == 1 || launch % 4 == 2 : 2 * launch >= launches;
}

/// One case: half of the launches of a session are of either side.
TrackedCase measure(NoisyMachine& machine, Drift drift, bool takes_turns, int launches, double head_time) {
  TrackedCase tracked;
  Launch& base = tracked.baseline.emplace_back();
  for (int launch = 0; launch < launches; ++launch) {
    const bool head = is_head(takes_turns, launch, launches);
    const double time = slowed_by(drift, static_cast<double>(launch) / launches) * (head ? head_time : 1);
    (head ? tracked.head : base).push_back(median(machine.run(time, 1).front()));
  }
  return tracked;
}

using Gate = std::vector<TrackedCase>;
/// For each case whether it is said to be slower.
using Rule = std::vector<bool> (*)(const Gate& gate, int pairs);

std::vector<bool> by_pairs(const Gate& gate, int pairs) {
  std::vector<bool> slower;
  for (const TrackJudgement& each : judge_pairs(gate, {.pairs = pairs}))
    slower.push_back(each.verdict == TrackVerdict::regressed);
  return slower;
}

std::vector<bool> by_ranks(const Gate& gate, int) {
  std::vector<bool> slower;
  for (const TrackedCase& tracked : gate) {
    const Launch& base = tracked.baseline.front();
    slower.push_back(relative_shift(base, tracked.head) >= PairRule().least_effect &&
                     kCases * rank_test(base, tracked.head) <= PairRule().level);
  }
  return slower;
}

struct Errors {
  int alarms = 0;  ///< gates of equal sides with a case that is said to be slower
  int found = 0;   ///< slowed cases, one in each gate, that are said to be slower
};

/// The same launches for every rule.
std::vector<Errors> errors_of(const std::vector<Rule>& rules, bool takes_turns, const Noise& noise, Drift drift,
                              int gates, int pairs) {
  std::vector<Errors> errors(rules.size());
  NoisyMachine machine(noise, kIterations, 20261123);
  const int launches = 4 * pairs;  // of both sides, half of them to confirm
  for (int trial = 0; trial < gates; ++trial) {
    Gate gate;
    for (std::size_t i = 0; i < kCases; ++i) gate.push_back(measure(machine, drift, takes_turns, launches, 1));
    for (std::size_t i = 0; i < rules.size(); ++i)
      errors[i].alarms += std::ranges::count(rules[i](gate, pairs), true) > 0 ? 1 : 0;
    gate.front() = measure(machine, drift, takes_turns, launches, kSlower);
    for (std::size_t i = 0; i < rules.size(); ++i) errors[i].found += rules[i](gate, pairs).front() ? 1 : 0;
  }
  return errors;
}

struct Cell {
  Noise noise;
  Drift drift;
};

std::vector<Cell> cells() {
  std::vector<Cell> all;
  for (const Drift drift : {Drift::none, Drift::linear})
    for (const double iteration : {0.003, 0.03})
      for (const double launch : {0.003, 0.01, 0.03}) all.push_back({{iteration, launch, 0, 0}, drift});
  for (const double launch : {0.003, 0.01, 0.03}) all.push_back({{0.003, launch, 0, 0.05}, Drift::linear});
  for (const double launch : {0.003, 0.01, 0.03}) all.push_back({{0.003, launch, 0, 0}, Drift::step});
  return all;
}

void print_table(int gates, int pairs) {
  fmt::print("{} gates of {} cases, {} pairs of launches that decide and {} that confirm, {} iterations each.\n", gates,
             kCases, pairs, pairs, kIterations);
  fmt::print("Alarms: per cent of gates of equal sides; found: per cent of heads that are 5 % slower.\n\n");
  fmt::print("noise (%) of   5 %    the machine      hbench         unpaired       one, then the other\n");
  fmt::print("iter. launch   slow   gets slower      alarms  found  alarms  found  alarms  found\n");
  for (const auto& [noise, drift] : cells()) {
    fmt::print("{:<4.1f}  {:<6.1f}   {:4}   {:14}", 100 * noise.iteration, 100 * noise.launch,
               noise.slow_share > 0 ? "yes" : "no",
               drift == Drift::none     ? "no"
               : drift == Drift::linear ? "10 %, slowly"
                                        : "10 %, at once");
    std::vector<Errors> all = errors_of({by_pairs, by_ranks}, true, noise, drift, gates, pairs);
    all.push_back(errors_of({by_ranks}, false, noise, drift, gates, pairs).front());
    for (const Errors& each : all)
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
  const int pairs = argc > 2 ? std::atoi(argv[2]) : default_pairs(kCases, PairRule().level);
  if (gates < 1 || pairs < 2) {
    fmt::print(stderr, "paired_false_alarms: {} gates of {} pairs make no sense\n", gates, pairs);
    return 2;
  }
  print_table(gates, pairs);
  return 0;
}

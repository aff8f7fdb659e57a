#include "analysis/records/emulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace hbench {
namespace {

void take_least(std::optional<double>& least, double value) { least = std::min(least.value_or(value), value); }
void take_most(std::optional<double>& most, double value) { most = std::max(most.value_or(value), value); }

/// Seconds of the clock that each rank of each launch spent in steps, and what its replay took of it.
double largest_replay_share(const CaseResult& result) {
  std::map<std::pair<int, int>, double> steps;
  for (const Sample& sample : result.samples)
    if (sample.metric == metric::kDilatedStep) steps[{sample.launch, sample.rank}] += sample.value;
  double largest = 0;
  for (const Sample& sample : result.samples)
    if (const auto of = steps.find({sample.launch, sample.rank});
        sample.metric == metric::kReplayTime && of != steps.end())
      largest = std::max(largest, sample.value / of->second);
  return largest;
}

}  // namespace

std::optional<EmulationFacts> emulation_facts(const CaseResult& result) {
  std::optional<EmulationFacts> facts;
  for (const Sample& sample : result.samples)
    if (sample.metric == metric::kDilation) facts.emplace().dilation = sample.value;
  if (!facts) return facts;
  for (const Sample& sample : result.samples) {
    if (sample.metric == metric::kLinkLeast) take_least(facts->link_least, sample.value);
    if (sample.metric == metric::kLinkMost) take_most(facts->link_most, sample.value);
    if (sample.metric == metric::kEmulatedIdle) take_least(facts->idle, sample.value);
    if (sample.metric == metric::kEmulatedBusy) take_most(facts->busy, sample.value);
    if (sample.metric != metric::kEmulatedFault) continue;
    std::string fault = fmt::format("{}:{:g}", sample.unit, sample.value);
    if (std::ranges::find(facts->faults, fault) == facts->faults.end()) facts->faults.push_back(std::move(fault));
  }
  facts->replay_share = largest_replay_share(result);
  return facts;
}

std::string EmulationFacts::in_words() const {
  std::string text = fmt::format("dilated {:g} times", dilation);
  if (link_least && link_most)
    text += fmt::format("; links carried {:.1f} to {:.1f} % of their rate", 100 * *link_least, 100 * *link_most);
  if (idle)
    text += fmt::format("; processors were {:.0f} % idle, replays took {:.1f} % of a core each", 100 * *idle,
                        100 * replay_share);
  if (busy) text += fmt::format("; for {:.0f} % of the time no processor had anything left", 100 * *busy);
  return text;
}

}  // namespace hbench

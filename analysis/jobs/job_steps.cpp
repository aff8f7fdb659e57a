#include "analysis/jobs/job_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/jobs/words.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// Of whatever group.
bool carries_gradients(const RecordedCollective& exchange) {
  return exchange.in_backward && is_reduction(exchange.operation);
}

std::string group_of(const std::vector<Recording>& recordings, const std::string& asked) {
  std::map<std::string, int> groups;
  for (const Recording& recording : recordings)
    for (const RecordedStep& step : recording.steps)
      for (const RecordedCollective& each : step.collectives)
        if (carries_gradients(each)) ++groups[each.group];
  std::vector<std::string> names;
  for (const auto& [name, count] : groups) names.push_back(fmt::format("'{}'", name));
  if (!asked.empty() && !groups.contains(asked))
    throw Error(ExitCode::usage, fmt::format("no group '{}' exchanges gradients", asked),
                groups.empty() || groups.contains("") ? "it names no groups: leave --group out"
                                                      : fmt::format("the groups are {}", fmt::join(names, ", ")));
  if (asked.empty() && groups.size() > 1)
    throw Error(ExitCode::usage,
                fmt::format("{}: {} groups of ranks exchange something in the backward pass: {}",
                            recordings.front().file, groups.size(), fmt::join(names, ", ")),
                "name the one that data parallelism has by --group");
  return asked.empty() && !groups.empty() ? groups.begin()->first : asked;
}

/// What has to be alike for steps to be compared: the number of gradients and the sizes of the exchanges.
using Shape = std::vector<std::int64_t>;

Shape shape_of(const ComparedStep& step) {
  Shape shape{static_cast<std::int64_t>(step.recorded->gradients.size())};
  for (const RecordedCollective* each : step.exchanges)
    shape.push_back(each->elements > 0 ? each->elements : each->bytes);
  return shape;
}

void read_durations(ComparedStep& step) {
  std::vector<std::size_t> order(step.exchanges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return step.exchanges[i]->began; });
  step.durations.resize(order.size());
  step.in_exchanges = Seconds(0);
  Seconds until;
  for (const std::size_t i : order) {
    const RecordedCollective& each = *step.exchanges[i];
    std::optional<Seconds>& duration = step.durations[i] = each.duration;
    if (duration && each.began) {
      const Seconds end = *each.began + *duration;
      duration = std::max(Seconds(0), end - std::max(*each.began, until));
      until = std::max(until, end);
    }
    step.in_exchanges = step.in_exchanges && duration ? std::optional(*step.in_exchanges + *duration) : std::nullopt;
  }
}

std::vector<std::vector<ComparedStep>> all_steps(const std::vector<Recording>& recordings, const std::string& group) {
  std::vector<std::vector<ComparedStep>> ranks;
  for (const Recording& recording : recordings) {
    ranks.emplace_back();
    for (const RecordedStep& step : recording.steps) {
      ComparedStep compared{.recorded = &step, .exchanges = {}, .durations = {}, .in_exchanges = {}};
      for (const RecordedCollective& each : step.collectives)
        if (carries_gradients(each, group)) compared.exchanges.push_back(&each);
      // Late ones may be launched in the order of parameters.
      if (reduces_late(compared))
        std::ranges::stable_sort(compared.exchanges, {}, &RecordedCollective::gradients_before);
      read_durations(compared);
      ranks.back().push_back(std::move(compared));
    }
  }
  return ranks;
}

/// The shape that most steps have. Of several that are as frequent one with the most in it, since a step at the edge of
/// a recording is cut off; of these the one of the step of median time: Horovod may fuse other tensors in each step.
Shape usual_shape(const std::vector<std::vector<ComparedStep>>& ranks) {
  std::map<Shape, int> frequency;
  std::vector<std::pair<Seconds, Shape>> steps;
  for (const std::vector<ComparedStep>& rank : ranks)
    for (const ComparedStep& step : rank) {
      steps.emplace_back(step.recorded->time, shape_of(step));
      ++frequency[steps.back().second];
    }
  const auto weight = [&](const std::pair<Seconds, Shape>& step) {
    const Shape& shape = step.second;
    return std::tuple(frequency.at(shape), shape.front(), std::accumulate(shape.begin(), shape.end(), std::int64_t{0}));
  };
  const auto most = weight(*std::ranges::max_element(steps, {}, weight));
  std::erase_if(steps, [&](const auto& step) { return weight(step) < most; });
  std::ranges::sort(steps);
  return steps[(steps.size() - 1) / 2].second;
}

}  // namespace

bool carries_gradients(const RecordedCollective& exchange, const std::string& group) {
  return carries_gradients(exchange) && exchange.group == group;
}

bool reduces_late(const ComparedStep& step) {
  return !step.exchanges.empty() && step.exchanges.front()->after_backward;
}

JobSteps comparable_steps(const std::vector<Recording>& recordings, const std::string& group) {
  JobSteps steps{.group = group_of(recordings, group)};
  steps.ranks = all_steps(recordings, steps.group);
  const Shape usual = usual_shape(steps.ranks);
  for (std::vector<ComparedStep>& rank : steps.ranks)
    steps.others += static_cast<int>(std::erase_if(rank, [&](const auto& step) { return shape_of(step) != usual; }));
  return steps;
}

std::vector<ComparedStep> steps_of_last_ranks(const JobSteps& steps, std::size_t rank) {
  std::vector<ComparedStep> last = steps.ranks[rank];
  for (ComparedStep& step : last) {
    const std::string name = step.recorded->name;
    for (std::size_t other = 0; other < steps.ranks.size(); ++other) {
      const auto same = std::ranges::find_if(steps.ranks[other],
                                             [&](const ComparedStep& each) { return each.recorded->name == name; });
      if (other == rank || same == steps.ranks[other].end()) continue;
      if (same->in_exchanges && step.in_exchanges && *same->in_exchanges < *step.in_exchanges) step = *same;
    }
  }
  std::ranges::stable_sort(last, {}, [](const ComparedStep& step) { return step.recorded->time; });
  return last;
}

std::vector<ComparedStep> middle_half(const std::vector<ComparedStep>& steps) {
  const auto quarter = static_cast<std::ptrdiff_t>((steps.size() + 1) / 4);
  return {steps.begin() + quarter, steps.end() - quarter};
}

}  // namespace hbench

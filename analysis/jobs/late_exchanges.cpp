#include "analysis/jobs/job_parts.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>

namespace hbench {
namespace {

using Exchanges = std::vector<RecordedCollective*>;
using Sizes = std::vector<std::int64_t>;

/// Empty where one is not known.
Sizes sizes_of(const RecordedStep& step) {
  Sizes sizes;
  for (const RecordedGradient& gradient : step.gradients) {
    if (gradient.elements < 1) return {};
    sizes.push_back(gradient.elements);
  }
  return sizes;
}

/// The one run of exchanges that have `elements` elements together; empty where there is none, or several: losses may
/// be reduced before and after the gradients.
Exchanges run_of(const Exchanges& exchanges, std::int64_t elements) {
  Exchanges found;
  for (auto begin = exchanges.begin(); begin != exchanges.end(); ++begin) {
    std::int64_t left = elements;
    auto end = begin;
    while (end != exchanges.end() && left > 0) left -= (*end++)->elements;
    if (left != 0) continue;
    if (!found.empty()) return {};
    found.assign(begin, end);
  }
  return found;
}

/// The exchanges after the backward pass whose elements are as many as the gradients', by group.
std::map<std::string, Exchanges> that_fit(RecordedStep& step, const Sizes& gradients) {
  std::map<std::string, Exchanges> groups;
  for (RecordedCollective& each : step.collectives)
    if (each.after_backward && each.elements > 0) groups[each.group].push_back(&each);
  const std::int64_t all = std::reduce(gradients.begin(), gradients.end());
  for (auto& [group, exchanges] : groups) exchanges = run_of(exchanges, all);
  std::erase_if(groups, [](const auto& group) { return group.second.empty(); });
  return groups;
}

/// How many of the sizes, in their order, each exchange has; absent where they are no runs of them.
template <class Range>
std::optional<std::vector<int>> runs_of(const Exchanges& exchanges, const Range& sizes) {
  std::vector<int> runs;
  auto next = std::ranges::begin(sizes);
  for (const RecordedCollective* each : exchanges) {
    int count = 0;
    std::int64_t left = each->elements;
    for (; left > 0 && next != std::ranges::end(sizes); ++next, ++count) left -= *next;
    if (left != 0) return std::nullopt;
    runs.push_back(count);
  }
  return runs;
}

void carry_gradients(RecordedStep& step, Exchanges& exchanges, const Sizes& gradients) {
  for (RecordedCollective& each : step.collectives) each.in_backward = false;
  Seconds arrived = *step.backward_ended;
  for (RecordedCollective* each : exchanges) {
    each->in_backward = true;
    if (each->duration) arrived = std::max(arrived, *each->began + *each->duration);
  }
  step.exposed = arrived - *step.backward_ended;
  const int all = static_cast<int>(gradients.size());
  if (const auto runs = runs_of(exchanges, gradients)) {
    int before = 0;
    for (std::size_t i = 0; i < runs->size(); ++i) exchanges[i]->gradients_before = before += (*runs)[i];
  } else if (const auto back = runs_of(exchanges, gradients | std::views::reverse)) {
    int after = all;
    for (std::size_t i = 0; i < back->size(); ++i) {
      exchanges[i]->gradients_before = after;
      after -= (*back)[i];
    }
  }
}

}  // namespace

void find_late_exchanges(std::vector<Recording>& recordings, const std::string& group) {
  for (Recording& recording : recordings)
    for (RecordedStep& step : recording.steps) {
      const Sizes gradients = sizes_of(step);
      if (gradients.empty()) continue;
      std::map<std::string, Exchanges> groups = that_fit(step, gradients);
      if (!group.empty()) std::erase_if(groups, [&](const auto& each) { return each.first != group; });
      if (groups.size() != 1) continue;
      carry_gradients(step, groups.begin()->second, gradients);
    }
}

}  // namespace hbench

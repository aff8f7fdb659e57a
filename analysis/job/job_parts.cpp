#include "analysis/job/job_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>
#include <tuple>

#include "analysis/job/text_source.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using List = decltype(JobTensors::list);

/// Whether all sizes are known, there are as many tensors as gradients, and those of each group add up to its size.
bool fits(const List& tensors, std::size_t gradients, const std::vector<TensorGroup>& groups) {
  if (tensors.empty() || tensors.size() != gradients) return false;
  if (std::ranges::any_of(tensors, [](const auto& tensor) { return tensor.second < 1; })) return false;
  auto next = tensors.begin();
  for (const TensorGroup& group : groups) {
    if (group.tensors < 1 || tensors.end() - next < group.tensors) return false;
    std::int64_t sum = 0;
    for (const auto end = next + group.tensors; next != end; ++next) sum += next->second;
    if (group.elements > 0 && sum != group.elements) return false;
  }
  return groups.empty() || next == tensors.end();
}

JobTensors known_tensors(std::size_t gradients, const std::vector<TensorGroup>& groups, const TensorSources& sources) {
  // Without the sizes of buckets nothing but their number would speak for a timeline.
  const bool sure =
      !groups.empty() && std::ranges::all_of(groups, [](const TensorGroup& group) { return group.elements > 0; });
  for (const Trace& trace : sources.known) {
    if (sources.asked.empty() ? !sure : trace.name != sources.asked) continue;
    List list;
    for (const GradientEvent& gradient : trace.timeline.gradients)
      list.emplace_back(gradient.tensor, gradient.elements);
    if (fits(list, gradients, groups)) return {.list = std::move(list), .known_as = trace.name};
    if (sources.asked.empty()) continue;
    throw Error(ExitCode::usage,
                fmt::format("{} has {}, the recording {}", trace.name, counted(std::ssize(list), "tensor"),
                            counted(static_cast<std::int64_t>(gradients), "gradient")),
                list.size() == gradients ? "its buckets would have other sizes: it is another model"
                                         : "it is another model; record with record_shapes=True");
  }
  return {};
}

/// Returns whether an exchange carries gradients, of whatever group.
bool carries_gradients(const RecordedCollective& exchange) {
  return exchange.in_backward && is_reduction(exchange.operation);
}

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

struct LateExchanges {
  Exchanges exchanges;
  bool all = false;  ///< else they carry what those in the backward pass have left, as DeepSpeed's last bucket
};

/// The exchanges after the backward pass, by group, whose elements are as many as the gradients', or as those that have
/// not left in it; where these are not known, those that are like one in it.
std::map<std::string, LateExchanges> that_fit(RecordedStep& step, const Sizes& gradients) {
  std::map<std::string, LateExchanges> groups;
  std::map<std::string, std::int64_t> left;
  const auto kind = [](const RecordedCollective& of) { return std::tie(of.operation, of.group, of.type, of.elements); };
  for (RecordedCollective& each : step.collectives) {
    if (carries_gradients(each)) left[each.group] -= each.elements;
    const auto is_like = [&](const RecordedCollective& one) { return one.in_backward && kind(one) == kind(each); };
    if (each.after_backward && each.elements > 0 &&
        (!gradients.empty() || std::ranges::any_of(step.collectives, is_like)))
      groups[each.group].exchanges.push_back(&each);
  }
  const std::int64_t all = std::reduce(gradients.begin(), gradients.end());
  for (auto& [group, late] : groups) {
    if (gradients.empty()) continue;
    Exchanges fit = run_of(late.exchanges, all);
    late.all = !fit.empty();
    late.exchanges = late.all ? std::move(fit) : run_of(late.exchanges, all + left[group]);
  }
  std::erase_if(groups, [](const auto& group) { return group.second.exchanges.empty(); });
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

void carry_gradients(RecordedStep& step, const LateExchanges& late, const Sizes& gradients) {
  const Exchanges& exchanges = late.exchanges;
  int before = 0;
  for (RecordedCollective& each : step.collectives) {
    if (late.all) each.in_backward = false;
    if (carries_gradients(each)) before = std::max(before, each.gradients_before.value_or(0));
  }
  Seconds arrived = *step.backward_ended + (late.all ? Seconds(0) : step.exposed);
  for (RecordedCollective* each : exchanges) {
    each->in_backward = true;
    if (each->duration) arrived = std::max(arrived, *each->began + *each->duration);
  }
  step.exposed = arrived - *step.backward_ended;
  const int all = static_cast<int>(gradients.size());
  if (const auto runs = runs_of(exchanges, gradients | std::views::drop(before))) {
    for (std::size_t i = 0; i < runs->size(); ++i) exchanges[i]->gradients_before = before += (*runs)[i];
  } else if (const auto back = runs_of(exchanges, gradients | std::views::reverse); back && late.all) {
    int after = all;
    for (std::size_t i = 0; i < back->size(); ++i) {
      exchanges[i]->gradients_before = after;
      after -= (*back)[i];
    }
  }
}

std::string group_of(const std::vector<Recording>& recordings, const std::string& asked) {
  std::map<std::string, std::string> groups;  // with their words
  for (const Recording& recording : recordings)
    for (const RecordedStep& step : recording.steps)
      for (const RecordedCollective& each : step.collectives)
        if (carries_gradients(each)) groups.try_emplace(each.group, each.group_words);
  std::vector<std::string> names;
  for (const auto& [name, words] : groups)
    names.push_back(words.empty() ? fmt::format("'{}'", name) : fmt::format("'{}' ({})", name, words));
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
using StepShape = std::vector<std::int64_t>;

StepShape shape_of(const ComparedStep& step) {
  StepShape shape{static_cast<std::int64_t>(step.recorded->gradients.size())};
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
StepShape usual_shape(const std::vector<std::vector<ComparedStep>>& ranks) {
  std::map<StepShape, int> frequency;
  std::vector<std::pair<Seconds, StepShape>> steps;
  for (const std::vector<ComparedStep>& rank : ranks)
    for (const ComparedStep& step : rank) {
      steps.emplace_back(step.recorded->time, shape_of(step));
      ++frequency[steps.back().second];
    }
  const auto weight = [&](const std::pair<Seconds, StepShape>& step) {
    const StepShape& shape = step.second;
    return std::tuple(frequency.at(shape), shape.front(), std::accumulate(shape.begin(), shape.end(), std::int64_t{0}));
  };
  const auto most = weight(*std::ranges::max_element(steps, {}, weight));
  std::erase_if(steps, [&](const auto& step) { return weight(step) < most; });
  std::ranges::sort(steps);
  return steps[(steps.size() - 1) / 2].second;
}

}  // namespace

JobTensors job_tensors(const RecordedStep& step, const std::vector<TensorGroup>& groups, const TensorSources& sources) {
  const std::size_t gradients = step.gradients.size();
  JobTensors recorded;
  for (const RecordedGradient& gradient : step.gradients)
    recorded.list.emplace_back(gradient.tensor, gradient.elements);
  if (fits(recorded.list, gradients, groups)) {
    if (sources.asked.empty()) return recorded;
    throw Error(ExitCode::usage, "the recording has the sizes of its tensors",
                fmt::format("leave --tensors {} out: what was recorded counts", sources.asked));
  }
  JobTensors known = known_tensors(gradients, groups, sources);
  // The recorder's own names are those that a person knows.
  for (std::size_t i = 0; i < known.list.size(); ++i)
    if (!step.gradients[i].tensor.empty()) known.list[i].first = step.gradients[i].tensor;
  return known;
}

void find_late_exchanges(std::vector<Recording>& recordings, const std::string& group) {
  for (Recording& recording : recordings)
    for (RecordedStep& step : recording.steps) {
      if (!step.backward_ended) continue;
      const Sizes gradients = sizes_of(step);
      std::map<std::string, LateExchanges> groups = that_fit(step, gradients);
      if (!group.empty()) std::erase_if(groups, [&](const auto& each) { return each.first != group; });
      if (groups.size() == 1) carry_gradients(step, groups.begin()->second, gradients);
    }
}

bool carries_gradients(const RecordedCollective& exchange, const std::string& group) {
  return carries_gradients(exchange) && exchange.group == group;
}

bool reduces_late(const ComparedStep& step) {
  return !step.exchanges.empty() && step.exchanges.front()->after_backward;
}

JobSteps comparable_steps(const std::vector<Recording>& recordings, const std::string& group) {
  JobSteps steps{.group = group_of(recordings, group)};
  steps.ranks = all_steps(recordings, steps.group);
  const StepShape usual = usual_shape(steps.ranks);
  for (std::vector<ComparedStep>& rank : steps.ranks)
    steps.others += static_cast<int>(std::erase_if(rank, [&](const auto& step) { return shape_of(step) != usual; }));
  return steps;
}

std::string difference_of(const Recording& one, const Recording& other, const std::string& group) {
  const StepShape first = usual_shape(all_steps({one}, group)), second = usual_shape(all_steps({other}, group));
  const auto exchanges = [](const StepShape& shape) { return static_cast<std::int64_t>(shape.size()) - 1; };
  if (first.front() == second.front() && exchanges(first) == exchanges(second)) {
    const std::size_t at = static_cast<std::size_t>(std::ranges::mismatch(first, second).in1 - first.begin());
    return fmt::format("exchange {} of gradients has size {} in the one and {} in the other", at, first[at],
                       second[at]);
  }
  const auto words = [&](const StepShape& shape) {
    return fmt::format("{} in {}", counted(shape.front(), "gradient"), counted(exchanges(shape), "exchange"));
  };
  return fmt::format("a step of the one has {}, of the other {}", words(first), words(second));
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

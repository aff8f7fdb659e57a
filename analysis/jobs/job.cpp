#include "analysis/jobs/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>

#include "analysis/jobs/words.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// \pre not empty.
Seconds median(std::vector<Seconds> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Of what carries gradients: an all-reduce, or the reduce-scatter of sharded jobs.
bool carries_gradients(const RecordedCollective& collective) {
  return collective.in_backward && (collective.operation == "all-reduce" || collective.operation == "reduce-scatter");
}

/// The exchanges of a step's gradients, in the order in which they were launched.
std::vector<RecordedCollective> exchanges_of(const RecordedStep& step, const std::string& group) {
  std::vector<RecordedCollective> exchanges;
  for (const RecordedCollective& each : step.collectives)
    if (carries_gradients(each) && (group.empty() || each.group == group)) exchanges.push_back(each);
  return exchanges;
}

/// What has to be alike for steps to be compared: the sizes of the exchanges and the number of gradients.
using Shape = std::vector<std::int64_t>;

Shape shape_of(const RecordedStep& step, const std::string& group) {
  Shape shape{static_cast<std::int64_t>(step.gradients.size())};
  for (const RecordedCollective& each : exchanges_of(step, group)) shape.push_back(each.elements);
  return shape;
}

class Builder {
 public:
  Builder(std::vector<Recording> recordings, const JobRequest& request) : request_(request) {
    job_.recordings = std::move(recordings);
    for (const Recording& recording : job_.recordings)
      job_.unknown.insert(job_.unknown.end(), recording.unknown.begin(), recording.unknown.end());
  }

  Job build() {
    check_ranks();
    choose_group();
    choose_steps();
    read_times();
    read_buckets();
    read_others();
    find_straggler();
    replay();
    make_workload();
    note_unknown();
    return std::move(job_);
  }

 private:
  const Recording& first() const { return job_.recordings.front(); }

  void check_ranks() const {
    std::map<int, std::string> files;
    for (const Recording& recording : job_.recordings) {
      if (recording.world != first().world)
        throw Error(
            ExitCode::usage,
            fmt::format("{} is of {} ranks and {} of {}", first().file, first().world, recording.file, recording.world),
            "give the recordings of one job");
      if (job_.recordings.size() > 1 && !recording.rank)
        throw Error(ExitCode::usage, fmt::format("{} does not say which rank it is of", recording.file),
                    "give that file alone");
      if (!recording.rank) continue;
      const auto [known, added] = files.try_emplace(*recording.rank, recording.file);
      if (!added)
        throw Error(ExitCode::usage,
                    fmt::format("{} and {} are both of rank {}", known->second, recording.file, *recording.rank),
                    "give each rank once, all of one job");
    }
  }

  void choose_group() {
    std::map<std::string, int> groups;  // with the number of their exchanges
    for (const Recording& recording : job_.recordings)
      for (const RecordedStep& step : recording.steps)
        for (const RecordedCollective& each : step.collectives)
          if (carries_gradients(each)) ++groups[each.group];
    std::vector<std::string> names;
    for (const auto& [name, count] : groups) names.push_back(fmt::format("'{}'", name));
    if (!request_.group.empty() && !groups.contains(request_.group))
      throw Error(ExitCode::usage, fmt::format("no group '{}' exchanges gradients", request_.group),
                  names.empty() ? "leave --group out" : fmt::format("the groups are {}", fmt::join(names, ", ")));
    if (request_.group.empty() && groups.size() > 1)
      throw Error(ExitCode::usage,
                  fmt::format("{}: {} groups of ranks exchange something in the backward pass: {}", first().file,
                              groups.size(), fmt::join(names, ", ")),
                  "name the one that data parallelism has by --group");
    if (groups.size() == 1) group_ = groups.begin()->first;
    if (!request_.group.empty()) group_ = request_.group;
  }

  /// The steps of the shape that most steps have, of ranks that have one: DDP's first steps have other buckets.
  void choose_steps() {
    std::map<Shape, int> shapes;
    for (const Recording& recording : job_.recordings)
      for (const RecordedStep& step : recording.steps) ++shapes[shape_of(step, group_)];
    // Of two that are as frequent, the one with more in it: a step at the edge of a recording is cut off.
    const auto most = std::ranges::max_element(shapes, [](const auto& a, const auto& b) {
      return std::pair(a.second, a.first) < std::pair(b.second, b.first);
    });
    for (const Recording& recording : job_.recordings) {
      ranks_.emplace_back();
      for (const RecordedStep& step : recording.steps) {
        if (shape_of(step, group_) != most->first) {
          ++job_.other_steps;
          continue;
        }
        ranks_.back().push_back(&step);
        steps_.push_back(&step);
      }
    }
    job_.steps = static_cast<int>(steps_.size());
  }

  /// The median over all steps of what a function gives; absent where it is absent in one of them.
  template <class Value>
  std::optional<Seconds> median_of(Value value) const {
    std::vector<Seconds> values;
    for (const RecordedStep* step : steps_) {
      const std::optional<Seconds> each = value(*step);
      if (!each) return std::nullopt;
      values.push_back(*each);
    }
    return median(std::move(values));
  }

  void read_times() {
    const auto times = [](const RecordedStep& step) { return std::optional(step.time); };
    job_.step = *median_of(times);
    const auto [least, most] = std::ranges::minmax(steps_, {}, [](const RecordedStep* step) { return step->time; });
    job_.fastest_step = least->time;
    job_.slowest_step = most->time;
    job_.forward = median_of([](const RecordedStep& step) { return step.backward_began; });
    job_.backward = median_of([](const RecordedStep& step) -> std::optional<Seconds> {
      if (!step.backward_began || !step.backward_ended) return std::nullopt;
      return *step.backward_ended - *step.backward_began;
    });
    job_.compute = median_of([](const RecordedStep& step) { return step.compute; });
    job_.exposed = *median_of([](const RecordedStep& step) { return std::optional(step.exposed); });
    if (job_.forward && job_.backward)
      job_.update = std::max(Seconds(0), job_.step - *job_.forward - *job_.backward - job_.exposed);
  }

  /// One exchange of all steps of a rank: by its place in the step.
  std::optional<Seconds> duration_of(const std::vector<const RecordedStep*>& steps, std::size_t place) const {
    std::vector<Seconds> values;
    for (const RecordedStep* step : steps)
      if (const auto duration = exchanges_of(*step, group_)[place].duration) values.push_back(*duration);
    return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
  }

  void read_buckets() {
    const std::vector<RecordedCollective> model = exchanges_of(*steps_.front(), group_);
    int before = 0;
    for (std::size_t place = 0; place < model.size(); ++place) {
      const RecordedCollective& each = model[place];
      JobBucket bucket{.elements = each.elements};
      bucket.launched = *median_of(
          [&](const RecordedStep& step) { return std::optional(exchanges_of(step, group_)[place].launched); });
      for (const auto& rank : ranks_)
        if (const auto duration = rank.empty() ? std::nullopt : duration_of(rank, place))
          bucket.duration = bucket.duration ? std::min(*bucket.duration, *duration) : *duration;
      if (each.gradients_before) {
        bucket.tensors = *each.gradients_before - before;
        before = *each.gradients_before;
      }
      if (bucket.duration) job_.communication += *bucket.duration;
      if (job_.type.empty()) job_.type = each.type;
      if (job_.ranks == 0) job_.ranks = each.ranks;
      job_.buckets.push_back(bucket);
    }
    if (job_.ranks == 0) job_.ranks = first().world > 0 ? first().world : request_.ranks;
  }

  void read_others() {
    std::map<std::string, JobTraffic> kinds;
    for (const RecordedCollective& each : steps_.front()->collectives) {
      if (carries_gradients(each) && (group_.empty() || each.group == group_)) continue;
      JobTraffic& kind = kinds[each.operation];
      kind.operation = each.operation;
      ++kind.per_step;
      kind.elements += each.elements;
    }
    for (auto& [name, kind] : kinds) job_.others.push_back(std::move(kind));
  }

  /// In a blocking collective the rank that all wait for is the one that waits least itself.
  void find_straggler() {
    std::vector<std::pair<Seconds, int>> in_collectives;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (!job_.recordings[i].rank || ranks_[i].empty()) continue;
      Seconds sum;
      for (std::size_t place = 0; place < job_.buckets.size(); ++place)
        sum += duration_of(ranks_[i], place).value_or(Seconds(0));
      in_collectives.emplace_back(sum, *job_.recordings[i].rank);
    }
    if (in_collectives.size() < 2 || job_.communication.value <= 0) return;
    std::ranges::sort(in_collectives);
    std::vector<Seconds> others;
    for (std::size_t i = 1; i < in_collectives.size(); ++i) others.push_back(in_collectives[i].first);
    const Seconds usual = median(others);
    constexpr double kClear = 0.8;
    if (in_collectives.front().first.value < kClear * usual.value)
      job_.straggler = {in_collectives.front().second, in_collectives.front().first, usual};
  }

  /// One exchange after the other, each as long as it took.
  void replay() {
    if (!job_.forward || !job_.backward) return;
    const Seconds computed = *job_.forward + *job_.backward;
    Seconds end;
    for (const JobBucket& bucket : job_.buckets) {
      if (!bucket.duration) return;
      end = std::max(end, bucket.launched) + *bucket.duration;
    }
    job_.replayed = std::max(computed, end) + job_.update;
  }

  /// Whether the gradients' own sizes are known, and add up to those of the buckets where there are buckets.
  bool sizes_agree() const {
    const std::vector<RecordedGradient>& gradients = steps_.front()->gradients;
    if (gradients.empty() || std::ranges::any_of(gradients, [](const auto& each) { return each.elements < 1; }))
      return false;
    auto next = gradients.begin();
    for (const JobBucket& bucket : job_.buckets) {
      if (bucket.tensors < 1 || gradients.end() - next < bucket.tensors) return false;
      const auto end = next + bucket.tensors;
      if (std::accumulate(next, end, std::int64_t{0}, [](auto sum, const auto& each) { return sum + each.elements; }) !=
          bucket.elements)
        return false;
      next = end;
    }
    return job_.buckets.empty() || next == gradients.end();
  }

  Seconds ready_of(std::size_t gradient) const {
    return *median_of([&](const RecordedStep& step) -> std::optional<Seconds> {
      return step.gradients[gradient].ready - *step.backward_began;
    });
  }

  void make_workload() {
    if (!job_.forward || !job_.backward) return;
    StepTimeline timeline;
    timeline.forward = *job_.forward;
    timeline.backward = *job_.backward + job_.update;
    const std::vector<RecordedGradient>& gradients = steps_.front()->gradients;
    if (sizes_agree()) {
      for (std::size_t i = 0; i < gradients.size(); ++i)
        timeline.gradients.push_back(
            {gradients[i].tensor.empty() ? fmt::format("gradient{}", i + 1) : gradients[i].tensor,
             gradients[i].elements, ready_of(i)});
    } else {
      std::size_t last = 0;
      for (std::size_t i = 0; i < job_.buckets.size(); ++i) {
        const JobBucket& bucket = job_.buckets[i];
        if (bucket.elements < 1) return;
        last += static_cast<std::size_t>(bucket.tensors);
        const Seconds ready = bucket.tensors > 0 && last <= gradients.size()
                                  ? ready_of(last - 1)
                                  : std::max(Seconds(0), bucket.launched - *job_.forward);
        timeline.gradients.push_back({fmt::format("bucket{}", i + 1), bucket.elements, ready});
      }
      of_buckets_ = !timeline.gradients.empty();
    }
    if (timeline.gradients.empty()) return;
    finish(timeline);
  }

  /// Medians of single gradients may leave their order.
  void finish(StepTimeline& timeline) {
    Seconds last;
    for (GradientEvent& gradient : timeline.gradients) last = gradient.ready = std::max(last, gradient.ready);
    timeline.backward = std::max(timeline.backward, last);
    timeline.batch = std::max(1, request_.batch > 0 ? request_.batch : first().batch);
    Trace workload;
    workload.title = request_.title.empty() ? std::filesystem::path(first().file).filename().string() : request_.title;
    workload.source = source();
    workload.timeline = std::move(timeline);
    job_.workload = std::move(workload);
  }

  std::string source() const {
    std::string text = fmt::format("recorded: {}, {} of {}", first().format, counted(job_.steps, "step"),
                                   counted(static_cast<std::int64_t>(job_.recordings.size()), "rank"));
    if (first().world > 0) text += fmt::format(" (of {})", first().world);
    if (!first().gpu.empty()) text += fmt::format(" on {}", first().gpu);
    if (of_buckets_) text += "; its gradients are the buckets that travelled, since single tensors are not known";
    return text;
  }

  void note_unknown() {
    const auto note = [&](std::string text) { job_.unknown.push_back(std::move(text)); };
    if (first().world == 0 && !job_.buckets.empty() && job_.ranks == 0)
      note("The number of ranks is not in the file: give it by --ranks.");
    if (request_.batch == 0 && first().batch == 0)
      note("The batch is not in the file: a sample is a step until --batch says how many samples a rank takes.");
    if (!job_.backward) note("No backward pass was recorded: record the whole step, with the CPU's activities.");
    if (job_.backward && !job_.workload)
      note("The sizes of the gradients are not in the file: record with record_shapes=True.");
    if (of_buckets_)
      note(
          "Single tensors are not known, only buckets: other fusion policies cannot be tried; record with "
          "record_shapes=True.");
    if (first().sharded || std::ranges::any_of(steps_.front()->collectives, [](const RecordedCollective& each) {
          return each.in_backward && each.operation == "reduce-scatter";
        }))
      note(
          "This job shards its parameters: its all-gathers are left out, and what is predicted is the all-reduce of "
          "the same gradients.");
  }

  JobRequest request_;
  Job job_;
  std::string group_;
  std::vector<std::vector<const RecordedStep*>> ranks_;  ///< by recording: the steps that count
  std::vector<const RecordedStep*> steps_;               ///< of all ranks
  bool of_buckets_ = false;
};

}  // namespace

Job make_job(std::vector<Recording> recordings, const JobRequest& request) {
  return Builder(std::move(recordings), request).build();
}

}  // namespace hbench

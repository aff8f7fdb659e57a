#include "analysis/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "analysis/job/job_parts.hpp"
#include "analysis/job/text_source.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

void check_ranks(const std::vector<Recording>& recordings) {
  const Recording& first = recordings.front();
  std::map<int, std::string> files;
  for (const Recording& recording : recordings) {
    if (recording.world != first.world && recording.world > 0 && first.world > 0)
      throw Error(
          ExitCode::usage,
          fmt::format("{} is of {} ranks and {} of {}", first.file, first.world, recording.file, recording.world),
          "give the recordings of one job");
    if (recordings.size() > 1 && !recording.rank)
      throw Error(ExitCode::usage, fmt::format("{} does not say which rank it is of", recording.file),
                  "give that file alone");
    if (!recording.rank) continue;
    if (recording.world > 0 && *recording.rank >= recording.world)
      throw Error(ExitCode::usage,
                  fmt::format("{} says that it is of rank {} of {}", recording.file, *recording.rank,
                              counted(recording.world, "rank")),
                  "ranks count from 0: give another rank's file");
    const auto [known, added] = files.try_emplace(*recording.rank, recording.file);
    if (!added)
      throw Error(ExitCode::usage,
                  fmt::format("{} and {} are both of rank {}", known->second, recording.file, *recording.rank),
                  "give each rank once, all of one job");
  }
}

/// A rank without a step like those of the others does something else: a stage of a pipeline, or another job.
void require_alike(const std::vector<Recording>& recordings, const JobSteps& steps) {
  const auto none = std::ranges::find_if(steps.ranks, [](const auto& rank) { return rank.empty(); });
  const auto some = std::ranges::find_if(steps.ranks, [](const auto& rank) { return !rank.empty(); });
  if (none == steps.ranks.end()) return;
  const Recording& one = recordings[static_cast<std::size_t>(some - steps.ranks.begin())];
  const Recording& other = recordings[static_cast<std::size_t>(none - steps.ranks.begin())];
  throw Error(ExitCode::usage,
              fmt::format("{} and {} are not of ranks that do the same: {}", one.file, other.file,
                          difference_of(one, other, steps.group)),
              "give recordings of ranks that exchange the same, of a pipeline those of one stage; or each file alone");
}

/// Damaged times give figures of hundreds of digits.
void check_times(const std::vector<Recording>& recordings) {
  constexpr double kYear = 366 * 86'400.0;
  for (const Recording& recording : recordings)
    for (const RecordedStep& step : recording.steps)
      if (!(std::abs(step.time.value) <= kYear))  // nor a number
        throw Error(ExitCode::usage, fmt::format("{}: a step of it takes longer than a year", recording.file),
                    "its times are damaged: is it as the program wrote it?");
}

/// Where no file says its rank, they are as they were given.
void number_ranks(TrainingJob& job) {
  if (job.recordings.size() < 2) return;
  if (std::ranges::any_of(job.recordings, [](const Recording& each) { return each.rank.has_value(); })) return;
  for (std::size_t i = 0; i < job.recordings.size(); ++i) job.recordings[i].rank = static_cast<int>(i);
  job.unknown.push_back("The files do not say their ranks: they are numbered in the order in which they were given.");
}

/// The median over steps of what a function gives; absent where it is absent in one of them.
template <class Value>
std::optional<Seconds> median_of(const std::vector<ComparedStep>& steps, Value value) {
  std::vector<std::optional<Seconds>> times;
  for (const ComparedStep& step : steps) times.push_back(value(step));
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *std::ranges::min_element(times) ? *middle : std::nullopt;
}

/// The time for which exchanges of gradients held the backward pass up that had ended by then.
Seconds held_by(const ComparedStep& step, Seconds then = Seconds(INFINITY)) {
  Seconds held;
  for (const RecordedCollective* each : step.exchanges)
    if (each->held.value > 0 && *each->began + *each->duration <= then) held += each->held;
  return held;
}

/// Returns what a step would be shorter if a rank came when a usual one does: what this waits more than it, with
/// nothing beside. Where the passes are not known it is what it waits more in one exchange: who is late once is so in
/// all that follow.
Seconds costs_of(const JobSteps& steps, std::size_t rank, std::size_t usual) {
  const auto more = [&](auto value) {
    const std::optional<Seconds> own = median_of(steps.ranks[rank], value), its = median_of(steps.ranks[usual], value);
    return own && its ? std::optional(std::max(Seconds(0), *its - *own)) : std::nullopt;
  };
  const auto alone = [&](const ComparedStep& step) -> std::optional<Seconds> {
    if (!step.recorded->backward_ended) return std::nullopt;
    Seconds waits = step.recorded->exposed + held_by(step);
    for (const RecordedCollective& each : step.recorded->collectives)
      if (!carries_gradients(each, steps.group)) waits += each.alone;
    return waits;
  };
  if (const auto waits = more(alone)) return *waits;
  Seconds most;
  for (std::size_t place = 0; place < steps.ranks[rank].front().exchanges.size(); ++place)
    if (const auto late = more([&](const ComparedStep& step) { return step.durations[place]; }))
      most = std::max(most, *late);
  return most;
}

/// The rank for which all others wait is shown: in a blocking collective it is the one that waits least itself.
void choose_rank(TrainingJob& job, const JobSteps& steps) {
  std::vector<std::pair<Seconds, std::size_t>> waiting;  // by rank
  for (std::size_t i = 0; i < steps.ranks.size(); ++i)
    if (const auto time = median_of(steps.ranks[i], [](const ComparedStep& step) { return step.in_exchanges; }))
      waiting.emplace_back(*time, i);
  if (waiting.empty()) return;  // one rank is as good as another
  std::ranges::sort(waiting);
  const auto [own, last] = waiting.front();
  job.shown = last;
  if (waiting.size() < 2) return;
  const auto [usual, other] = waiting[waiting.size() / 2];
  constexpr double kClear = 0.8;
  if (own.value < kClear * usual.value)
    job.straggler = {*job.recordings[last].rank, own, usual, costs_of(steps, last, other)};
}

/// Ranks wait for each other in each step: all take about as long.
void note_other_paces(TrainingJob& job, const JobSteps& steps) {
  std::vector<std::pair<Seconds, std::size_t>> paces;
  for (std::size_t i = 0; i < steps.ranks.size(); ++i)
    paces.emplace_back(
        *median_of(steps.ranks[i], [](const ComparedStep& step) { return std::optional(step.recorded->time); }), i);
  const auto [least, most] = std::ranges::minmax(paces);
  if (most.first > 1.25 * least.first)
    job.unknown.push_back(fmt::format(
        "A step takes {:.4g} ms in {} and {:.4g} ms in {}, although ranks wait for each other: are these of "
        "one job, and of the same steps?",
        least.first.value * 1e3, job.recordings[least.second].file, most.first.value * 1e3,
        job.recordings[most.second].file));
}

/// What one rank puts in; 0: not known.
std::int64_t bytes_of(const RecordedCollective& exchange) {
  return exchange.bytes > 0 ? exchange.bytes : exchange.elements * type_bytes(exchange.type);
}

void read_buckets(TrainingJob& job, const std::vector<ComparedStep>& shown) {
  job.overlaps = !reduces_late(shown.front());
  int before = 0;
  bool timed = true;
  for (std::size_t place = 0; place < shown.front().exchanges.size(); ++place) {
    const RecordedCollective& each = *shown.front().exchanges[place];
    JobBucket bucket{.elements = each.elements, .bytes = bytes_of(each)};
    bucket.launched =
        *mean_of(shown, [&](const ComparedStep& step) { return std::optional(step.exchanges[place]->launched); });
    bucket.duration = mean_of(shown, [&](const ComparedStep& step) { return step.durations[place]; });
    if (each.gradients_before) {
      bucket.tensors = *each.gradients_before - before;
      before = *each.gradients_before;
    }
    timed = timed && bucket.duration;
    job.communication += bucket.duration.value_or(Seconds(0));
    if (job.type.empty()) job.type = each.type;
    if (job.ranks == 0) job.ranks = each.ranks;
    job.buckets.push_back(bucket);
  }
  if (!timed) job.communication = Seconds(0);
}

/// A smaller share of a step is no model's computation: kernels are missing.
constexpr double kHardly = 0.001;

/// Passes of several micro-batches at once, as in DualPipe, leave none to the last one that the host calls.
void doubt_passes(TrainingJob& job) {
  if (!job.compute || !job.backward || *job.backward >= kHardly * job.step) return;
  job.recordings[job.shown].no_backward =
      "The last backward pass has hardly any kernels of its own: forward and backward passes run beside each other, "
      "and what each takes is not known.";
  job.forward.reset();
  job.backward.reset();
}

void read_times(TrainingJob& job, const std::vector<ComparedStep>& steps) {
  job.step = *mean_of(steps, [](const ComparedStep& step) { return std::optional(step.recorded->time); });
  job.forward = mean_of(steps, [](const ComparedStep& step) { return step.recorded->backward_began; });
  job.backward = mean_of(steps, [](const ComparedStep& step) -> std::optional<Seconds> {
    const auto &began = step.recorded->backward_began, &ended = step.recorded->backward_ended;
    return began && ended ? std::optional(*ended - *began - held_by(step)) : std::nullopt;
  });
  job.compute = mean_of(steps, [](const ComparedStep& step) { return step.recorded->compute; });
  job.input = mean_of(steps, [](const ComparedStep& step) { return step.recorded->input; });
  job.optimizer_began = mean_of(steps, [](const ComparedStep& step) { return step.recorded->optimizer_began; });
  job.optimizer = mean_of(steps, [](const ComparedStep& step) { return step.recorded->optimizer; });
  job.exposed =
      *mean_of(steps, [](const ComparedStep& step) { return std::optional(step.recorded->exposed + held_by(step)); });
  doubt_passes(job);
  if (job.forward && job.backward)
    job.update = std::max(Seconds(0), job.step - *job.forward - *job.backward - job.exposed);
}

void read_others(TrainingJob& job, const RecordedStep& step, const std::string& group) {
  std::map<std::string, JobTraffic> kinds;
  for (const RecordedCollective& each : step.collectives) {
    if (carries_gradients(each, group)) continue;
    JobTraffic& kind = kinds[each.operation];
    kind.operation = each.operation;
    ++kind.per_step;
    kind.elements += each.elements;
    kind.bytes += bytes_of(each);
    kind.alone += each.alone;
  }
  for (auto& [name, kind] : kinds) job.others.push_back(std::move(kind));
}

/// Returns whether plain data parallelism has such exchanges too: of buffers, losses and norms.
bool is_usual(const std::string& operation) { return operation == "broadcast" || operation == "all-reduce"; }

/// Finds gradients that are scattered, and parameters that are gathered: FSDP, or the third stage of ZeRO.
void find_gathering(TrainingJob& job, const RecordedStep& step, const std::string& group) {
  const auto is_gather = [](const std::string& operation) { return operation == "all-gather"; };
  const auto is_part = [&](const std::string& operation) { return is_gather(operation) || is_usual(operation); };
  const auto scatters = [&](const RecordedCollective& each) {
    return carries_gradients(each, group) && each.operation == "reduce-scatter";
  };
  if (!job.forward || !job.backward || !std::ranges::any_of(step.collectives, scatters) ||
      !std::ranges::any_of(job.others, is_gather, &JobTraffic::operation) ||
      !std::ranges::all_of(job.others, is_part, &JobTraffic::operation))
    return;
  job.gathering.emplace();
  for (const RecordedCollective& each : step.collectives)
    if (is_gather(each.operation))
      (each.began.value_or(each.launched) < *job.forward ? job.gathering->forward : job.gathering->backward) +=
          each.alone;
}

/// What begins only after the gradients have arrived. A device waits for them before the optimizer's first kernel,
/// while the host goes on; a processor waits in the backward pass's call. Not known: none.
Seconds waits_for_gradients(const TrainingJob& job) {
  if (!job.optimizer) return {};
  return job.compute ? std::clamp(job.step - *job.optimizer_began, Seconds(0), job.update) : job.update;
}

/// One exchange after the other, each as long as it took.
void replay(TrainingJob& job) {
  if (!job.forward || !job.backward) return;
  std::vector<JobBucket> buckets = job.buckets;
  std::ranges::stable_sort(buckets, {}, &JobBucket::launched);
  Seconds end;
  for (const JobBucket& bucket : buckets) {
    if (!bucket.duration) return;
    end = std::max(end, bucket.launched) + *bucket.duration;
  }
  const Seconds last = job.optimizer ? waits_for_gradients(job) : job.update;
  job.replayed = std::max(*job.forward + *job.backward + job.update - last, end) + last;
}

std::string source(const TrainingJob& job, const JobTensors& tensors) {
  const Recording& shown = job.recordings[job.shown];
  std::string text = fmt::format("recorded: {}, {}", shown.format, counted(job.steps, "step"));
  if (shown.rank) text += fmt::format(" of rank {}", *shown.rank);
  if (job.ranks > 0) text += fmt::format(" of {}", job.ranks);
  if (!shown.gpu.empty()) text += fmt::format(" on {}", shown.gpu);
  if (!tensors.known_as.empty()) text += fmt::format("; sizes of tensors: {}'s, which fit", tensors.known_as);
  if (!job.overlaps) text += "; all gradients are exchanged after the backward pass";
  if (tensors.list.empty()) text += "; its gradients are the buckets that travelled, since tensors are not known";
  return text;
}

/// Since the backward pass began.
Seconds ready_at(const std::vector<ComparedStep>& steps, std::size_t gradient) {
  return *mean_of(steps, [&](const ComparedStep& step) -> std::optional<Seconds> {
    const Seconds ready = step.recorded->gradients[gradient].ready;
    return ready - held_by(step, ready) - *step.recorded->backward_began;
  });
}

/// Empty where not even the sizes of buckets are known.
std::vector<GradientEvent> gradient_events(const TrainingJob& job, const std::vector<ComparedStep>& steps,
                                           const JobTensors& tensors) {
  std::vector<GradientEvent> events;
  for (std::size_t i = 0; i < tensors.list.size(); ++i) {
    const auto& [name, elements] = tensors.list[i];
    events.push_back({name.empty() ? fmt::format("gradient{}", i + 1) : name, elements, ready_at(steps, i)});
  }
  if (!events.empty()) return events;
  std::size_t last = 0;
  for (std::size_t i = 0; i < job.buckets.size(); ++i) {
    const JobBucket& bucket = job.buckets[i];
    if (bucket.elements < 1) return {};
    last += static_cast<std::size_t>(std::max(0, bucket.tensors));
    const Seconds ready =
        bucket.tensors > 0 && last <= steps.front().recorded->gradients.size()
            ? ready_at(steps, last - 1)
            : std::clamp(bucket.launched - *job.forward, Seconds(0), job.overlaps ? bucket.launched : *job.backward);
    events.push_back({fmt::format("bucket{}", i + 1), bucket.elements, ready});
  }
  return events;
}

/// Samples of one rank and step; 0: not known.
int batch_of(const TrainingJob& job, const JobRequest& request) {
  const Recording& shown = job.recordings[job.shown];
  if (request.batch > 0 || shown.batch > 0) return request.batch > 0 ? request.batch : shown.batch;
  return request.ranks > 0 && shown.global_batch % request.ranks == 0 ? shown.global_batch / request.ranks : 0;
}

void make_workload(TrainingJob& job, const std::vector<ComparedStep>& steps, const JobTensors& tensors,
                   const JobRequest& request) {
  StepTimeline timeline;
  timeline.gradients = gradient_events(job, steps, tensors);
  if (timeline.gradients.empty()) return;
  const Recording& shown = job.recordings[job.shown];
  timeline.batch = std::max(1, batch_of(job, request));
  timeline.forward = *job.forward;
  timeline.update = waits_for_gradients(job);
  timeline.backward = *job.backward + job.update - timeline.update;
  timeline.backward = std::max(timeline.backward, timeline.gradients.back().ready);
  if (job.gathering) {
    timeline.forward = timeline.forward - job.gathering->forward;
    const double share = 1 - job.gathering->backward / timeline.backward;
    timeline.backward = timeline.backward * share;
    for (GradientEvent& gradient : timeline.gradients) gradient.ready = gradient.ready * share;
  }
  job.workload =
      Trace{.name = {},
            .title = request.title.empty() ? std::filesystem::path(shown.file).filename().string() : request.title,
            .source = source(job, tensors),
            .timeline = std::move(timeline),
            .recorded = RecordedJob{.gpu = shown.gpu,
                                    .ranks = job.ranks,
                                    .step = job.step,
                                    .replayed = job.replayed.value_or(Seconds(0)),
                                    .overlap = job.overlaps}};
  for (const JobBucket& bucket : job.buckets)
    job.workload->buckets.push_back(tensors.list.empty() ? 1 : bucket.tensors);
}

/// Where the device waits for its host, the profiler, which holds the host up, makes the step longer: on an H100 by 20
/// to 50 % (ResNet-50 in bf16 took 26 ms instead of 22, GPT-2 small 53 instead of 36).
void note_idle(TrainingJob& job) {
  if (!job.compute) return;
  if (*job.compute < kHardly * job.step) {
    job.unknown.push_back(
        fmt::format("The file has hardly any kernels of a step ({:.3g} ms of {:.4g} ms), so whether the GPU waits for "
                    "its host is not known: is it of a whole step of training, with the GPU recorded?",
                    job.compute->value * 1e3, job.step.value * 1e3));
    return;
  }
  if (!job.backward) return;
  Seconds at_work = *job.compute + job.exposed;
  for (const JobTraffic& kind : job.others) at_work += kind.alone;
  job.idle = std::max(Seconds(0), job.step - at_work);
  const double idle = *job.idle / job.step;
  if (idle > 0.2)
    job.unknown.push_back(
        fmt::format("The GPU is idle for {:.0f} % of a step: it waits for the host, which the profiler slows. What an "
                    "unwatched step takes is not in the file; --single-gpu-rate gives it to a sweep.",
                    100 * idle));
}

/// `what: cure.`
std::string with_cure(std::string_view what, std::string_view cure) {
  return cure.empty() ? fmt::format("{}.", what) : fmt::format("{}: {}.", what, cure);
}

void note_unknown(TrainingJob& job, const JobTensors& tensors, const JobRequest& request) {
  const auto note = [&](std::string text) { job.unknown.push_back(std::move(text)); };
  const Recording& shown = job.recordings[job.shown];
  const bool exchanges = !job.buckets.empty() || !job.others.empty();
  if (job.recordings.size() > 1 && static_cast<int>(job.recordings.size()) < shown.world)
    note(fmt::format("{} of {} ranks are here: another one may be the one that all wait for.", job.recordings.size(),
                     shown.world));
  if (job.recordings.size() == 1 && shown.world > 1 && job.communication.value > 0 && !shown.of_all)
    note(fmt::format("One of {} ranks is here: what it waited for the others counts as time of the network.",
                     shown.world));
  if (shown.world > 1 && job.backward && job.buckets.empty() && job.exposed.value <= 0)
    note(
        fmt::format("The job has {} ranks, and no exchange of gradients is in the file: what it waits for them is not "
                    "known.",
                    shown.world));
  if (exchanges && job.ranks == 0) note("The number of ranks is not in the file: give it by --ranks.");
  if (job.backward && batch_of(job, request) == 0)
    note(shown.global_batch > 0
             ? fmt::format("The file has the batch of all ranks ({}): --ranks says how many share it.",
                           shown.global_batch)
             : "The batch is not in the file: a sample is a step until --batch says how many samples a rank takes.");
  // Such as of timers of which each is the slowest rank's.
  if (const Seconds parts = job.backward ? *job.forward + *job.backward + job.exposed : Seconds(0);
      parts > 1.02 * job.step)
    note(
        fmt::format("Forward, backward and exposed time add up to {:.4g} ms, more than the step's {:.4g} ms: they are "
                    "not of one clock or rank, so doubt each of them.",
                    parts.value * 1e3, job.step.value * 1e3));
  if (job.workload && tensors.list.empty())
    note(
        with_cure("Tensors are not known, only buckets, so other fusion policies cannot be tried", shown.advice.sizes));
  if (job.workload && !job.optimizer && job.update.value > 0)
    note(
        "When the optimizer begins is not in the file: its time counts as the end of the backward pass, beside which "
        "gradients travel. torch.profiler shows it of the optimizers of torch.optim.");
  if (job.gathering)
    note(
        fmt::format("Parameters are sharded (FSDP, ZeRO-3): --method fsdp predicts it, and gathers them anew; the "
                    "{:.3g} ms that the GPU waits for them here are left out of the workload's passes.",
                    (job.gathering->forward + job.gathering->backward).value * 1e3));
  else if (shown.sharded || !std::ranges::all_of(job.others, is_usual, &JobTraffic::operation))
    note("This job is not data parallelism alone: the exchanges in the last table are left out of what is predicted.");
  // The last one says why there is no workload.
  if (!job.backward)
    note(shown.no_backward.empty() ? with_cure("No backward pass was recorded", shown.advice.passes)
                                   : shown.no_backward);
  if (job.backward && !job.workload)
    note(with_cure("The sizes of the gradients are not in the file", shown.advice.sizes));
}

/// Fills in what the steps say. \throws Error (usage) as `make_job`.
void read_steps(TrainingJob& job, const JobRequest& request) {
  for (const Recording& recording : job.recordings)
    if (recording.no_steps) throw *recording.no_steps;
  check_times(job.recordings);
  find_late_exchanges(job.recordings, request.group);
  const JobSteps steps = comparable_steps(job.recordings, request.group);
  require_alike(job.recordings, steps);
  job.other_steps = steps.others;
  choose_rank(job, steps);
  note_other_paces(job, steps);
  const std::vector<ComparedStep> all = steps_of_last_ranks(steps, job.shown);
  job.steps = static_cast<int>(all.size());
  job.fastest_step = all.front().recorded->time;
  job.slowest_step = all.back().recorded->time;
  const std::vector<ComparedStep> shown = middle_half(all);
  read_buckets(job, shown);
  for (JobBucket& bucket : job.buckets)
    if (bucket.bytes == 0) bucket.bytes = bucket.elements * type_bytes(job.type);
  for (const int known : {job.recordings[job.shown].sharing, job.recordings[job.shown].world, request.ranks})
    if (job.ranks == 0) job.ranks = known;
  read_times(job, shown);
  if (job.backward && job.step.value <= 0)
    throw Error(ExitCode::usage, fmt::format("{}: its steps end before they begin", job.recordings[job.shown].file),
                "its times are damaged: is it as the program wrote it?");
  read_others(job, *shown.front().recorded, steps.group);
  find_gathering(job, *shown.front().recorded, steps.group);
  replay(job);
  std::vector<TensorGroup> groups;
  for (const JobBucket& bucket : job.buckets) groups.push_back({bucket.tensors, bucket.elements});
  const JobTensors tensors =
      job_tensors(*shown.front().recorded, groups, {.known = request.known, .asked = request.tensors});
  job.tensors_of = tensors.known_as;
  if (job.forward && job.backward) make_workload(job, shown, tensors, request);
  note_idle(job);
  note_unknown(job, tensors, request);
}

}  // namespace

TrainingJob make_job(std::vector<Recording> recordings, const JobRequest& request) {
  TrainingJob job;
  for (Recording& recording : recordings) {
    for (const std::string& each : recording.unknown)
      if (std::ranges::find(job.unknown, each) == job.unknown.end()) job.unknown.push_back(each);
    job.recordings.push_back(std::move(recording));
  }
  number_ranks(job);
  check_ranks(job.recordings);
  UnfinishedWork unfinished = unfinished_work(job.recordings);
  job.hang = std::move(unfinished.hang);
  if (!unfinished.note.empty()) job.unknown.push_back(std::move(unfinished.note));
  if (job.hang.empty()) {
    read_steps(job, request);
    return job;
  }
  TrainingJob with_steps = job;
  try {
    read_steps(with_steps, request);
    return with_steps;
  } catch (const Error& error) {  // ranks of a job that hangs need not be alike
    job.unknown.push_back(fmt::format("The steps before are not shown: {} ({}).", error.what(), error.hint()));
    return job;
  }
}

}  // namespace hbench

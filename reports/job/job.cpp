#include "reports/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <ranges>
#include <vector>

#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

std::string ms(Seconds time) { return fmt::format("{:.1f} ms", time.value * 1e3); }

std::string ms_of(double seconds) { return ms(Seconds(seconds)); }

/// Of a time that cannot be 0.
std::string ms_or_unknown(Seconds time) { return time.value > 0 ? ms(time) : "not known"; }

std::string ms_or_unknown(const std::optional<Seconds>& time) { return time ? ms(*time) : "not known"; }

std::int64_t gradient_elements(const TrainingJob& job) {
  std::int64_t elements = 0;
  for (const JobBucket& bucket : job.buckets) elements += bucket.elements;
  if (elements == 0 && job.workload)
    for (const GradientEvent& gradient : job.workload->timeline.gradients) elements += gradient.elements;
  return elements;
}

/// Whether nothing speaks for other ranks: neither a number of them nor an exchange, nor a step that waits.
bool is_alone(const TrainingJob& job) {
  const Recording& shown = job.recordings[job.shown];
  const int ranks = std::max(job.ranks, shown.world);
  return ranks == 1 || (ranks == 0 && !shown.of_all && job.others.empty() && job.backward && job.exposed.value <= 0);
}

std::string place(const TrainingJob& job) {
  const Recording& recording = job.recordings[job.shown];
  std::string text = job.ranks > 0 ? counted(job.ranks, "rank") : "a number of ranks that is not known";
  if (job.ranks == 0 && job.buckets.empty() && is_alone(job)) text = "one rank";
  if (!recording.gpu.empty()) text += fmt::format(", {}", recording.gpu);
  if (!recording.backend.empty()) text += fmt::format(", {}", recording.backend);
  if (recording.global_batch > 0) text += fmt::format(", {} samples a step", recording.global_batch);
  return text;
}

std::string facts(const TrainingJob& job) {
  std::string text = fmt::format("How long a step takes on {} is not known", place(job));
  if (job.step.value > 0)
    text = fmt::format("A step takes {} ({} to {}) on {}", ms(job.step), ms(job.fastest_step), ms(job.slowest_step),
                       place(job));
  if (job.buckets.empty() && job.exposed.value > 0)
    return text + "; of its exchanges the file has what the step waits for.";
  if (job.buckets.empty())
    return text + (is_alone(job) ? "; it exchanges no gradients." : "; no exchange of gradients is in the file.");
  return text + (job.communication.value > 0 ? "." : "; how long its gradients travel is not known.");
}

Table times_table(const TrainingJob& job) {
  Table table{.caption = fmt::format("A step, means over the middle half of {}", counted(job.steps, "step")),
              .columns = {"part", numbers("time"), "what it is"}};
  const auto row = [&](std::string part, std::string time, std::string what) {
    table.rows.push_back({std::move(part), std::move(time), std::move(what)});
  };
  const auto known = [&](Seconds time) { return job.backward ? ms(time) : "not known"; };
  const bool timed = job.buckets.empty() || job.communication.value > 0;
  row("step", ms_or_unknown(job.step),
      job.step.value > 0 ? fmt::format("{} to {}", ms(job.fastest_step), ms(job.slowest_step)) : "");
  row("forward", ms_or_unknown(job.forward), "until the backward pass begins, loss included");
  row("backward", ms_or_unknown(job.backward), "until the last gradient is computed");
  row("exposed", timed ? known(job.exposed) : "not known", "waiting for gradients of other ranks");
  row("update", known(job.update),
      job.optimizer ? fmt::format("the rest: optimizer ({}), input, host", ms(*job.optimizer))
                    : "the rest: optimizer, input, host");
  if (job.compute) row("busy", ms(*job.compute), "of it, with a kernel of the model on the GPU");
  if (!job.buckets.empty()) {
    row("communication", ms_or_unknown(job.communication), "exchanges of gradients, as if one after the other");
    row("overlapped", timed ? known(std::max(Seconds(0), job.communication - job.exposed)) : "not known",
        "of it, hidden by computation");
  }
  if (job.replayed)
    row("replayed", ms(*job.replayed),
        fmt::format("these parts put together again: {:+.1f} %", 100 * (*job.replayed / job.step - 1)));
  return table;
}

std::string straggler_text(const JobStraggler& straggler) {
  return fmt::format(
      "Rank {} is the one that the others wait for: it is in collectives for {} of a step, the others for {}, and who "
      "comes last waits least. A step would be {} shorter if it came when they do.",
      straggler.rank, ms(straggler.own), ms(straggler.others), ms(straggler.costs));
}

std::string above_or_below(double error) {
  return fmt::format("{:.1f} % {} what was measured", 100 * std::abs(error), error < 0 ? "below" : "above");
}

void add_prediction(Document& document, const TrainingJob& job, const PredictedJob& predicted) {
  document.blocks.emplace_back(Paragraph{fmt::format("On {} a step is predicted to take {} ({} to {}), {}.",
                                                     predicted.profile, ms(predicted.step), ms(predicted.low),
                                                     ms(predicted.high), above_or_below(predicted.error))});
  Table table{
      .caption = fmt::format("Predicted where it was measured: {}, {} on {}, {}, recorded buckets", predicted.profile,
                             counted(predicted.ranks, "rank"), counted(predicted.nodes, "node"), predicted.strategy),
      .columns = {"part", numbers("measured"), numbers("predicted"), numbers("difference"), numbers("of the step")}};
  const auto row = [&](std::string part, Seconds value, Seconds difference) {
    table.rows.push_back({std::move(part), ms(value - difference), ms(value),
                          fmt::format("{:+.1f} ms", difference.value * 1e3),
                          fmt::format("{:+.1f} %", 100 * (difference / job.step))});
  };
  row("step", predicted.step, predicted.step_difference);
  row("compute", predicted.compute, predicted.compute_difference);
  row("exposed", predicted.exposed, predicted.exposed_difference);
  document.blocks.emplace_back(std::move(table));
  if (!predicted.other_gpu.empty())
    document.blocks.emplace_back(Paragraph{
        fmt::format("The GPUs of the profile ({}) are not known to be those of the recording: computation is as it was "
                    "recorded, and only the exchange is the profile's.",
                    predicted.other_gpu)});
}

std::optional<double> seconds(const std::optional<Seconds>& time) {
  return time ? std::optional(time->value) : std::nullopt;
}

std::optional<double> seconds_if(bool known, Seconds time) { return if_known(known, time.value); }

void file_fields(Row& row, const Recording& recording) {
  row.field("file", recording.file);
  row.field("rank", recording.rank);
  std::vector<double> steps;
  for (const RecordedStep& step : recording.steps)
    if (step.time.value > 0) steps.push_back(step.time.value);
  row.field("step_seconds", steps, "empty where they are not known");
}

std::string size(std::int64_t bytes) { return format(Bytes(static_cast<double>(bytes))); }

/// `12.3 GB/s`: of a bucket's bytes over its duration.
std::string rate(const JobBucket& bucket) {
  if (!bucket.duration || bucket.duration->value <= 0 || bucket.bytes == 0) return "-";
  return fmt::format("{:.3g} GB/s", static_cast<double>(bucket.bytes) / bucket.duration->value / 1e9);
}

void bucket_fields(Row& row, const JobBucket& bucket, bool timed) {
  row.number("tensors", cell_text(if_positive(bucket.tensors)));
  row.field("elements", if_positive(bucket.elements)).in("elements", cell_text<std::int64_t>, 0, "not known");
  row.field("bytes", if_positive(bucket.bytes)).in("size", size);
  row.field("tensors", if_positive(bucket.tensors));
  row.field("launched_seconds", seconds_if(timed, bucket.launched), "since the step began").in("launched", ms_of);
  row.field("seconds", seconds(bucket.duration), "on the rank that came last").in("took", ms_of);
  row.number("rate", rate(bucket));
}

Table bucket_table(const TrainingJob& job) {
  const auto columns = [&, number = 0](Row& row, const JobBucket& bucket) mutable {
    row.number("bucket", std::to_string(++number));
    bucket_fields(row, bucket, job.step.value > 0);
  };
  return table_of(job.buckets, columns,
                  {.caption = fmt::format("Buckets of gradients{}{}", job.type.empty() ? "" : " (" + job.type + ")",
                                          job.overlaps ? "" : ", all after the backward pass: nothing overlaps"),
                   .first_rows = 20});
}

void traffic_fields(Row& row, const JobTraffic& kind) {
  row.field("operation", kind.operation).in("operation");
  row.field("per_step", kind.per_step).in("per step");
  row.field("elements", if_positive(kind.elements), "of one step")
      .in("elements", cell_text<std::int64_t>, 0, "not known");
  row.field("bytes", if_positive(kind.bytes), "of one step").in("size", size);
}

void prediction_fields(Row& row, const PredictedJob& predicted) {
  row.field("profile", predicted.profile);
  row.field("ranks", predicted.ranks);
  row.field("nodes", predicted.nodes, "the profile's, full");
  row.field("strategy", predicted.strategy);
  row.field("other_gpu", if_stated(predicted.other_gpu), "the profile's, where it is not known to be the recorded one");
  row.field("step_seconds", predicted.step.value);
  row.field("step_seconds_low", predicted.low.value, "of the 90 % band");
  row.field("step_seconds_high", predicted.high.value);
  row.field("error", predicted.error, "of the predicted step, as a share of the measured one");
  row.field("compute_seconds", predicted.compute.value);
  row.field("exposed_seconds", predicted.exposed.value);
  row.field("compute_difference_seconds", predicted.compute_difference.value, "predicted less measured");
  row.field("exposed_difference_seconds", predicted.exposed_difference.value, "predicted less measured");
}

/// A job without recordings stands for any job in the schema.
void job_fields(Row& row, const TrainingJob& job, const std::string& workload_file,
                const std::optional<PredictedJob>& predicted) {
  const Recording shown = job.recordings.empty() ? Recording{} : job.recordings[job.shown];
  const bool timed = job.step.value > 0;
  row.field("schema", std::string("hbench-job-1"));
  row.field("answer", job_answer(job, predicted), "what limits the step and what to do, in a sentence");
  row.field("format", shown.format, "of the recordings");
  row.rows("files", job.recordings, file_fields);
  row.field("ranks", if_positive(job.ranks), "that exchange gradients");
  row.field("gpu", if_stated(shown.gpu));
  row.field("backend", if_stated(shown.backend));
  row.field("gradient_type", if_stated(job.type));
  row.field("gradient_elements", if_positive(gradient_elements(job)));
  row.field("tensors_of", if_stated(job.tensors_of), "the workload whose tensors fit");
  row.field("steps", job.steps, "of the rank that is shown");
  row.field("other_steps", job.other_steps, "of another shape");
  row.field("step_seconds", seconds_if(timed, job.step), "mean of the middle half of them");
  row.field("fastest_step_seconds", seconds_if(timed, job.fastest_step));
  row.field("slowest_step_seconds", seconds_if(timed, job.slowest_step));
  row.field("forward_seconds", seconds(job.forward));
  row.field("backward_seconds", seconds(job.backward));
  row.field("update_seconds", seconds_if(job.backward.has_value(), job.update));
  row.field("optimizer_seconds", seconds(job.optimizer), "of the update; null where the recording does not show it");
  row.field("busy_seconds", seconds(job.compute), "with a kernel of the model at work");
  row.field("communication_seconds",
            seconds_if(job.communication.value > 0 || (job.buckets.empty() && job.hang.empty()), job.communication));
  row.field("exposed_seconds", seconds_if(job.backward.has_value(), job.exposed), "waiting for gradients");
  row.field("replayed_seconds", seconds(job.replayed), "the parts put together again");
  row.field("overlap", job.overlaps, "gradients leave during the backward pass; false: all of them after it");
  row.rows("buckets", job.buckets, [&](Row& of, const JobBucket& bucket) { bucket_fields(of, bucket, timed); });
  row.rows("other_exchanges", job.others, traffic_fields);
  row.field("slowest_rank", job.straggler ? std::optional(job.straggler->rank) : std::nullopt);
  row.object("predicted", predicted, prediction_fields, "where it was measured, by --profile");
  row.field("unknown", job.unknown, "in sentences");
  row.field("workload", if_stated(workload_file), "the file that was written");
}

/// Boxes in one row that is to scale, each behind the one before.
class RowToScale {
 public:
  static constexpr int kColumns = 66;

  RowToScale(std::string name, Seconds whole) : row_{.name = std::move(name)}, whole_(whole) {}

  /// One too short for a column of its own is left out where the one before reaches so far.
  void add(Seconds begin, Seconds end, const std::string& text) {
    const int taken = row_.boxes.empty() ? 0 : row_.boxes.back().end, first = std::max(column(begin), taken);
    const int last = std::min(std::max(column(end), column(begin) + 1), kColumns);
    if (begin < end && first < last)
      row_.boxes.push_back({first, last, text.substr(0, static_cast<std::size_t>(last - first))});
  }
  Lanes::Row take() { return std::move(row_); }

 private:
  int column(Seconds at) const { return static_cast<int>(std::lround(kColumns * (at / whole_))); }

  Lanes::Row row_;
  Seconds whole_;
};

/// A step with known passes: what a rank computes, and the buckets one after the other, as `TrainingJob::replayed`.
Lanes drawn(const TrainingJob& job) {
  const Seconds turn = *job.forward, computed = turn + *job.backward, arrived = computed + job.exposed;
  RowToScale compute("compute", job.step), network("network", job.step);
  compute.add(Seconds(0), turn, "forward");
  compute.add(turn, computed, "backward");
  compute.add(computed, arrived, "wait");
  compute.add(arrived, job.step, "update");
  std::vector<std::size_t> order(job.buckets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return job.buckets[i].launched; });
  Seconds end;
  for (const std::size_t i : order) {
    const Seconds begin = std::max(end, job.buckets[i].launched);
    end = begin + job.buckets[i].duration.value_or(Seconds(0));
    network.add(begin, end, std::to_string(i + 1));
  }
  Lanes lanes{.title = fmt::format("The step of {:.1f} ms, to scale", job.step.value * 1e3), .rows = {compute.take()}};
  if (end.value > 0) lanes.rows.push_back(network.take());
  return lanes;
}

/// The share of a step that is worth a change.
constexpr double kMuch = 0.1;

/// Appends what has room in a sentence of 30 words.
void add(std::string& sentence, const std::string& more) {
  if (words_of(sentence + more).size() <= 30) sentence += more;
}

/// Something that a step waits for.
struct Cause {
  Seconds time;
  std::string name, detail, cure;
};

Cause exposed(const TrainingJob& job, const std::optional<PredictedJob>& predicted) {
  const Recording& shown = job.recordings[job.shown];
  // Of those that were launched at one time the last one in their order.
  const auto back = job.buckets | std::views::reverse;
  const auto last = std::ranges::max_element(back, {}, &JobBucket::launched);
  const bool known = last != back.end();
  const bool late = known && (!job.overlaps || job.exposed > 0.95 * job.communication ||
                              last->launched - *job.forward - *job.backward > 0.5 * job.exposed);
  std::string_view cure = "send fewer bytes or use a faster network";
  if (late && !shown.advice.launches.empty())
    cure = shown.advice.launches;
  else if (job.recordings.size() == 1 && shown.world > 1 && !shown.of_all)
    cure = "record all ranks, one may be late";
  else if (late)
    cure = "send gradients during the backward pass";
  else if (known && job.communication <= *job.backward)
    cure = "try smaller buckets";
  std::string detail;
  if (predicted && predicted->exposed < job.exposed)
    detail = fmt::format(", where {} predicts {}", predicted->profile, ms(predicted->exposed));
  else if (known && last->bytes > 0)
    detail = fmt::format(", the last in bucket {} ({} in {})", back.end() - last,
                         format(Bytes(static_cast<double>(last->bytes))), ms(last->duration.value_or(Seconds(0))));
  return {job.exposed, "exposed communication", std::move(detail), std::string(cure)};
}

/// The causes that are worth a change, the largest first.
std::vector<Cause> causes_of(const TrainingJob& job, const std::optional<PredictedJob>& predicted) {
  const Seconds idle = job.idle.value_or(Seconds(0)), loads = job.input.value_or(Seconds(0));
  const Seconds input = job.idle ? std::min(loads, idle) : loads;
  std::vector<Cause> causes{{input, "input", "", "give the data loader more workers (num_workers)"},
                            {idle - std::min(idle, input), "the host", ", its GPU idle",
                             "try a larger batch or fewer small kernels (torch.compile, CUDA graphs)"}};
  if (job.backward && (job.buckets.empty() || job.communication.value > 0)) causes.push_back(exposed(job, predicted));
  for (const JobTraffic& kind : job.others) {
    const bool stages = kind.operation == "send-receive";
    causes.push_back({kind.alone, kind.operation, stages ? ", waiting for other stages" : ", with nothing beside it",
                      stages ? "use more micro-batches or interleaved stages" : "overlap it or keep it inside nodes"});
  }
  if (job.straggler)
    causes.push_back({job.straggler->costs, fmt::format("rank {}", job.straggler->rank), ", for which the others wait",
                      "compare its input, host and GPU clock with theirs"});
  std::erase_if(causes, [&](const Cause& each) { return each.time.value <= 0 || each.time < kMuch * job.step; });
  std::ranges::stable_sort(causes, std::ranges::greater(), &Cause::time);
  return causes;
}

std::string sentence(const std::vector<Cause>& causes, Seconds step) {
  const Cause& first = causes.front();
  std::string text = fmt::format("{} limits the step: {}", capitalized(first.name), ms(first.time));
  if (step.value > 0) text += fmt::format(" of {} ({:.0f} %)", ms(step), 100 * (first.time / step));
  text += fmt::format("{}; {}", first.detail, first.cure);
  if (causes.size() > 1) add(text, fmt::format("; then {}, {}", causes[1].name, ms(causes[1].time)));
  return text;
}

/// The sentence where nothing but computation takes much.
std::string computation(const TrainingJob& job) {
  std::string text = job.compute ? fmt::format("Computation limits the step: the GPU is busy {:.0f} % of {}",
                                               100 * (*job.compute / job.step), ms(job.step))
                                 : fmt::format(
                                       "Computation limits the step, input and host included: forward {}, "
                                       "backward {} of {}",
                                       ms(*job.forward), ms(*job.backward), ms(job.step));
  if (job.communication.value > 0)
    text += fmt::format(", {} of {} of communication are exposed", ms(job.exposed), ms(job.communication));
  else if (job.exposed.value > 0)
    text += fmt::format(", it waits {} for gradients", ms(job.exposed));
  const bool together = !job.compute && job.recordings[job.shown].of_all;
  add(text, together ? "; torch.profiler tells them apart" : "; faster kernels or lower precision help");
  return text;
}

/// NCCL runs on GPUs alone: a file that names one and has no kernels has the times of its host.
bool lacks_kernels(const TrainingJob& job) {
  const Recording& shown = job.recordings[job.shown];
  return job.compute ? !job.idle : shown.backend == "nccl" && !shown.gpu.empty();
}

/// The sentence about a job whose GPU computes about nothing in the file.
std::string without_kernels(const TrainingJob& job) {
  return fmt::format("What limits the step of {} is not known: the file has hardly any kernels of it", ms(job.step));
}

/// The sentence about a job whose passes are not known.
std::string without_passes(const TrainingJob& job) {
  const RecordingAdvice& advice = job.recordings[job.shown].advice;
  std::string text = "Where the time of a step goes is not in the file";
  if (job.step.value > 0 && job.communication >= job.step)
    text = fmt::format("Exchanges add up to {} in a step of {}: they run beside each other", ms(job.communication),
                       ms(job.step));
  else if (job.step.value > 0 && job.communication.value > 0)
    text = fmt::format("Exchanges take {} of {}, hidden or not: a faster network saves at most {:.0f} %",
                       ms(job.communication), ms(job.step), 100 * (job.communication / job.step));
  else if (job.step.value > 0)
    text = fmt::format("A step takes {}, and where its time goes is not in the file", ms(job.step));
  else if (job.communication.value > 0)
    text = fmt::format("Exchanges take {} of a step, whose own time is not in the file", ms(job.communication));
  const std::string_view cure = job.step.value > 0 || advice.steps.empty() ? advice.passes : advice.steps;
  return cure.empty() ? text : fmt::format("{}; {}", text, cure);
}

}  // namespace

Document job_document(const TrainingJob& job, const std::string& workload_file,
                      const std::optional<PredictedJob>& predicted) {
  Document document{.title = "A recorded training job"};
  document.blocks.emplace_back(Verdict{job_answer(job, predicted)});
  if (job.steps > 0 || job.hang.empty()) document.blocks.emplace_back(Paragraph{facts(job)});
  if (!job.unknown.empty()) document.blocks.emplace_back(Warnings{job.unknown});
  if (job.steps == 0 && !job.hang.empty()) return document;
  if (job.forward && job.backward && job.step.value > 0) document.blocks.emplace_back(drawn(job));
  document.blocks.emplace_back(times_table(job));
  document.add_table(bucket_table(job));
  document.add_table(table_of(job.others, traffic_fields,
                              {.caption = job.gathering ? "Exchanges that carry no gradients"
                                                        : "Exchanges that carry no gradients: hbench does not predict "
                                                          "them"}));
  if (!job.tensors_of.empty())
    document.blocks.emplace_back(Paragraph{
        fmt::format("The sizes of its tensors are those of {}: they fit its gradients and buckets.", job.tensors_of)});
  if (job.straggler) document.blocks.emplace_back(Paragraph{straggler_text(*job.straggler)});
  if (job.other_steps > 0)
    document.blocks.emplace_back(Paragraph{
        fmt::format("{} of another shape {} left out, such as the first ones, in which DDP has other buckets.",
                    counted(job.other_steps, "step"), job.other_steps == 1 ? "is" : "are")});
  if (predicted) add_prediction(document, job, *predicted);
  if (!workload_file.empty())
    document.blocks.emplace_back(
        Paragraph{fmt::format("The workload is {}: hbench sweep --workload {} --gpus 8..64{}", workload_file,
                              shell_word(workload_file), job.gathering ? " --method fsdp" : "")});
  return document;
}

std::string job_json(const TrainingJob& job, const std::string& workload_file,
                     const std::optional<PredictedJob>& predicted, Form form) {
  return object_text(form, "hbench import-job --json", job,
                     [&](Row& row, const TrainingJob& each) { job_fields(row, each, workload_file, predicted); });
}

std::string job_answer(const TrainingJob& job, const std::optional<PredictedJob>& predicted) {
  if (job.recordings.empty() || !job.hang.empty()) return job.hang;
  const std::vector<Cause> causes = causes_of(job, predicted);
  if (!causes.empty()) return sentence(causes, job.step) + ".";
  if (!job.backward) return without_passes(job) + ".";
  return (lacks_kernels(job) ? without_kernels(job) : computation(job)) + ".";
}

}  // namespace hbench

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <vector>

#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"
#include "reports/job/job.hpp"

namespace hbench {
namespace {

/// The share of a step that is worth a change.
constexpr double kMuch = 0.1;

std::string in_ms(Seconds time) { return fmt::format("{:.1f} ms", time.value * 1e3); }

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
  const auto last = std::ranges::max_element(
      job.buckets, {}, [](const JobBucket& each) { return each.launched + each.duration.value_or(Seconds(0)); });
  const bool known = last != job.buckets.end();
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
    detail = fmt::format(", where {} predicts {}", predicted->profile, in_ms(predicted->exposed));
  else if (known && last->bytes > 0)
    detail = fmt::format(", the last in bucket {} ({} in {})", last - job.buckets.begin() + 1,
                         format(Bytes(static_cast<double>(last->bytes))), in_ms(last->duration.value_or(Seconds(0))));
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
  for (const JobTraffic& kind : job.others)
    causes.push_back({kind.alone, kind.operation, ", with nothing beside it", "overlap it or keep it inside nodes"});
  if (job.straggler)
    causes.push_back({job.straggler->others - job.straggler->own, fmt::format("rank {}", job.straggler->rank),
                      ", for which the others wait", "compare its input, host and GPU clock with theirs"});
  std::erase_if(causes, [&](const Cause& each) { return each.time.value <= 0 || each.time < kMuch * job.step; });
  std::ranges::stable_sort(causes, std::ranges::greater(), &Cause::time);
  return causes;
}

std::string sentence(const std::vector<Cause>& causes, Seconds step) {
  const Cause& first = causes.front();
  std::string text = fmt::format("{} limits the step: {}", capitalized(first.name), in_ms(first.time));
  if (step.value > 0) text += fmt::format(" of {} ({:.0f} %)", in_ms(step), 100 * (first.time / step));
  text += fmt::format("{}; {}", first.detail, first.cure);
  if (causes.size() > 1) add(text, fmt::format("; then {}, {}", causes[1].name, in_ms(causes[1].time)));
  return text;
}

/// The sentence where nothing but computation takes much.
std::string computation(const TrainingJob& job) {
  std::string text = job.compute ? fmt::format("Computation limits the step: the GPU is busy {:.0f} % of {}",
                                               100 * (*job.compute / job.step), in_ms(job.step))
                                 : fmt::format(
                                       "Computation limits the step, input and host included: forward {}, "
                                       "backward {} of {}",
                                       in_ms(*job.forward), in_ms(*job.backward), in_ms(job.step));
  if (job.communication.value > 0)
    text += fmt::format(", {} of {} of communication are exposed", in_ms(job.exposed), in_ms(job.communication));
  const bool together = !job.compute && job.recordings[job.shown].of_all;
  add(text, together ? "; torch.profiler tells them apart" : "; faster kernels or lower precision help");
  return text;
}

/// The sentence about a job whose GPU computes about nothing in the file.
std::string without_kernels(const TrainingJob& job) {
  return fmt::format("What limits the step of {} is not known: the file has hardly any kernels of it", in_ms(job.step));
}

/// The sentence about a job whose passes are not known.
std::string without_passes(const TrainingJob& job) {
  const RecordingAdvice& advice = job.recordings[job.shown].advice;
  std::string text = "Where the time of a step goes is not in the file";
  if (job.step.value > 0 && job.communication >= job.step)
    text = fmt::format("Exchanges add up to {} in a step of {}: they run beside each other", in_ms(job.communication),
                       in_ms(job.step));
  else if (job.step.value > 0 && job.communication.value > 0)
    text = fmt::format("Exchanges take {} of {}, hidden or not: a faster network saves at most {:.0f} %",
                       in_ms(job.communication), in_ms(job.step), 100 * (job.communication / job.step));
  else if (job.step.value > 0)
    text = fmt::format("A step takes {}, and where its time goes is not in the file", in_ms(job.step));
  else if (job.communication.value > 0)
    text = fmt::format("Exchanges take {} of a step, whose own time is not in the file", in_ms(job.communication));
  const std::string_view cure = job.step.value > 0 || advice.steps.empty() ? advice.passes : advice.steps;
  return cure.empty() ? text : fmt::format("{}; {}", text, cure);
}

}  // namespace

std::string job_answer(const TrainingJob& job, const std::optional<PredictedJob>& predicted) {
  if (job.recordings.empty() || !job.hang.empty()) return job.hang;
  const std::vector<Cause> causes = causes_of(job, predicted);
  if (!causes.empty()) return sentence(causes, job.step) + ".";
  if (!job.backward) return without_passes(job) + ".";
  return (job.compute && !job.idle ? without_kernels(job) : computation(job)) + ".";
}

}  // namespace hbench

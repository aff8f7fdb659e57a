#include "reports/prediction/job.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

std::string ms(Seconds time) { return fmt::format("{:.1f} ms", time.value * 1e3); }

/// Of a time that cannot be 0.
std::string ms_or_unknown(Seconds time) { return time.value > 0 ? ms(time) : "not known"; }

std::string ms_or_unknown(const std::optional<Seconds>& time) { return time ? ms(*time) : "not known"; }

std::int64_t gradient_elements(const Job& job) {
  std::int64_t elements = 0;
  for (const JobBucket& bucket : job.buckets) elements += bucket.elements;
  if (elements == 0 && job.workload)
    for (const GradientEvent& gradient : job.workload->timeline.gradients) elements += gradient.elements;
  return elements;
}

std::string place(const Job& job) {
  const Recording& recording = job.recordings[job.shown];
  std::string text = job.ranks > 0 ? counted(job.ranks, "rank") : "a number of ranks that is not known";
  if (job.ranks == 0 && job.buckets.empty()) text = "one rank";
  if (!recording.gpu.empty()) text += fmt::format(", {}", recording.gpu);
  if (!recording.backend.empty()) text += fmt::format(", {}", recording.backend);
  return text;
}

std::string verdict(const Job& job) {
  std::string text = fmt::format("How long a step takes on {} is not known", place(job));
  if (job.step.value > 0)
    text = fmt::format("A step takes {} ({} to {}) on {}", ms(job.step), ms(job.fastest_step), ms(job.slowest_step),
                       place(job));
  if (job.buckets.empty()) return text + "; it exchanges no gradients.";
  if (!job.backward && job.communication.value > 0)
    return text + fmt::format("; its gradients are exchanged in {}, hidden or not.", ms(job.communication));
  if (!job.backward) return text + "; how long its gradients travel is not known.";
  return text + fmt::format("; of {} of exchange it waits for {}.", ms(job.communication), ms(job.exposed));
}

Table times_table(const Job& job) {
  Table table{.caption = fmt::format("A step, medians of {}", counted(job.steps, "step")),
              .columns = {"part", "time", "what it is"},
              .numeric = {false, true, false}};
  const auto row = [&](std::string part, std::string time, std::string what) {
    table.rows.push_back({std::move(part), std::move(time), std::move(what)});
  };
  const auto known = [&](Seconds time) { return job.backward ? ms(time) : "not known"; };
  row("step", ms_or_unknown(job.step),
      job.step.value > 0 ? fmt::format("{} to {}", ms(job.fastest_step), ms(job.slowest_step)) : "");
  row("forward", ms_or_unknown(job.forward), "until the backward pass begins, loss included");
  row("backward", ms_or_unknown(job.backward), "until the last gradient is computed");
  row("exposed", known(job.exposed), "waiting for gradients of other ranks");
  row("update", known(job.update), "the rest: optimizer, input, host");
  if (job.compute) row("busy", ms(*job.compute), "of it, with a kernel of the model on the GPU");
  if (!job.buckets.empty()) {
    row("communication", ms_or_unknown(job.communication), "exchanges of gradients, one after the other");
    row("overlapped", known(std::max(Seconds(0), job.communication - job.exposed)), "of it, hidden by computation");
  }
  if (job.replayed)
    row("replayed", ms(*job.replayed),
        fmt::format("these parts put together again: {:+.1f} %", 100 * (*job.replayed / job.step - 1)));
  return table;
}

std::string size(std::int64_t bytes) { return bytes > 0 ? format(Bytes(static_cast<double>(bytes))) : "-"; }

/// `12.3 GB/s`: of a bucket's bytes over its duration.
std::string rate(const JobBucket& bucket) {
  if (!bucket.duration || bucket.duration->value <= 0 || bucket.bytes == 0) return "-";
  return fmt::format("{:.3g} GB/s", static_cast<double>(bucket.bytes) / bucket.duration->value / 1e9);
}

Table bucket_table(const Job& job) {
  Table table{.caption = fmt::format("Buckets of gradients{}", job.type.empty() ? "" : " (" + job.type + ")"),
              .columns = {"bucket", "tensors", "elements", "size", "launched", "took", "rate"},
              .numeric = {true, true, true, true, true, true, true},
              .first_rows = 20};
  for (std::size_t i = 0; i < job.buckets.size(); ++i) {
    const JobBucket& bucket = job.buckets[i];
    table.rows.push_back({fmt::format("{}", i + 1), bucket.tensors > 0 ? fmt::format("{}", bucket.tensors) : "-",
                          bucket.elements > 0 ? fmt::format("{}", bucket.elements) : "not known", size(bucket.bytes),
                          job.step.value > 0 ? ms(bucket.launched) : "-", bucket.duration ? ms(*bucket.duration) : "-",
                          rate(bucket)});
  }
  return table;
}

Table traffic_table(const Job& job) {
  Table table{.caption = "Exchanges that carry no gradients: hbench does not predict them",
              .columns = {"operation", "per step", "elements", "size"},
              .numeric = {false, true, true, true}};
  for (const JobTraffic& kind : job.others)
    table.rows.push_back({kind.operation, fmt::format("{}", kind.per_step),
                          kind.elements > 0 ? fmt::format("{}", kind.elements) : "not known", size(kind.bytes)});
  return table;
}

std::string straggler_text(const JobStraggler& straggler) {
  return fmt::format(
      "Rank {} is the one that the others wait for: it is in collectives for {} of a step, the others for {}, and who "
      "comes last waits least.",
      straggler.rank, ms(straggler.own), ms(straggler.others));
}

Json seconds(const std::optional<Seconds>& time) { return time ? Json(time->value) : Json(nullptr); }

/// Null where it is not known.
Json seconds_if(bool known, Seconds time) { return known ? Json(time.value) : Json(nullptr); }

template <class Number>
Json or_null(Number number) {
  return number > 0 ? Json(number) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

}  // namespace

Document job_document(const Job& job, const std::string& workload_file) {
  Document document{.title = "A recorded training job"};
  document.blocks.emplace_back(Verdict{verdict(job)});
  if (!job.unknown.empty()) document.blocks.emplace_back(Warnings{job.unknown});
  document.blocks.emplace_back(times_table(job));
  if (!job.buckets.empty()) document.blocks.emplace_back(bucket_table(job));
  if (!job.others.empty()) document.blocks.emplace_back(traffic_table(job));
  if (!job.tensors_of.empty())
    document.blocks.emplace_back(Paragraph{
        fmt::format("The sizes of its tensors are those of {}: they fit its gradients and buckets.", job.tensors_of)});
  if (job.straggler) document.blocks.emplace_back(Paragraph{straggler_text(*job.straggler)});
  if (job.other_steps > 0)
    document.blocks.emplace_back(Paragraph{
        fmt::format("{} of another shape {} left out, such as the first ones, in which DDP has other buckets.",
                    counted(job.other_steps, "step"), job.other_steps == 1 ? "is" : "are")});
  if (!workload_file.empty())
    document.blocks.emplace_back(
        Paragraph{fmt::format("The workload is {0}: hbench sweep --workload {0} --gpus 8..64", workload_file)});
  return document;
}

std::string job_json(const Job& job, const std::string& workload_file) {
  const Recording& first = job.recordings[job.shown];
  const bool timed = job.step.value > 0;
  Json out{{"schema", "hbench-job-1"},
           {"format", first.format},
           {"files", Json::array()},
           {"ranks", or_null(job.ranks)},
           {"gpu", text_or_null(first.gpu)},
           {"backend", text_or_null(first.backend)},
           {"gradient_type", text_or_null(job.type)},
           {"gradient_elements", or_null(gradient_elements(job))},
           {"tensors_of", text_or_null(job.tensors_of)},
           {"steps", job.steps},
           {"other_steps", job.other_steps},
           {"step_seconds", seconds_if(timed, job.step)},
           {"fastest_step_seconds", seconds_if(timed, job.fastest_step)},
           {"slowest_step_seconds", seconds_if(timed, job.slowest_step)},
           {"forward_seconds", seconds(job.forward)},
           {"backward_seconds", seconds(job.backward)},
           {"update_seconds", seconds_if(job.backward.has_value(), job.update)},
           {"busy_seconds", seconds(job.compute)},
           {"communication_seconds", seconds_if(job.communication.value > 0 || job.buckets.empty(), job.communication)},
           {"exposed_seconds", seconds_if(job.backward.has_value(), job.exposed)},
           {"replayed_seconds", seconds(job.replayed)},
           {"buckets", Json::array()},
           {"other_exchanges", Json::array()},
           {"slowest_rank", job.straggler ? Json(job.straggler->rank) : Json(nullptr)},
           {"unknown", job.unknown},
           {"workload", text_or_null(workload_file)}};
  for (const Recording& recording : job.recordings) {
    Json steps = Json::array();
    for (const RecordedStep& step : recording.steps) steps.push_back(seconds_if(timed, step.time));
    out["files"].push_back({{"file", recording.file},
                            {"rank", recording.rank ? Json(*recording.rank) : Json(nullptr)},
                            {"step_seconds", std::move(steps)}});
  }
  for (const JobBucket& bucket : job.buckets)
    out["buckets"].push_back({{"elements", or_null(bucket.elements)},
                              {"bytes", or_null(bucket.bytes)},
                              {"tensors", or_null(bucket.tensors)},
                              {"launched_seconds", seconds_if(timed, bucket.launched)},
                              {"seconds", seconds(bucket.duration)}});
  for (const JobTraffic& kind : job.others)
    out["other_exchanges"].push_back({{"operation", kind.operation},
                                      {"per_step", kind.per_step},
                                      {"elements", or_null(kind.elements)},
                                      {"bytes", or_null(kind.bytes)}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hbench

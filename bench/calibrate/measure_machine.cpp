#include "bench/calibrate/measure_machine.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "analysis/points/points.hpp"
#include "analysis/points/timed_steps.hpp"
#include "bench/calibrate/record_step.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/output/document_output.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/read_json.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr const char* kDoing = "measuring what joins the ranks";
constexpr int kAttempts = 3;

TimedSize timed_size(const nlohmann::json& row) {
  if (row.at("status") == "failed")
    throw Error(ExitCode::lost_rank, fmt::format("{}: {}", kDoing, row.at("failure").get<std::string>()),
                "hbench collective --algorithm ring repeats it; hbench doctor says what is wrong with this machine");
  return {row.at("size").get<std::int64_t>(), row.at("in_place_seconds").get<double>()};
}

std::vector<TimedSize> time_ring(const LinkRequest& request) {
  const VerbOutcome outcome = run_own_verb(request.program, link_arguments(request));
  // Cases that failed are in the output, which says more than the exit code.
  if (outcome.exit.code != 0 && outcome.out.empty()) throw_as_said(outcome.exit, kDoing);
  return timed_sizes(outcome.out);
}

}  // namespace

std::vector<std::string> link_arguments(const LinkRequest& request) {
  // On CPU cores 16 MiB are beyond every cache that is a core's own, and larger ones only take longer.
  const std::string line =
      fmt::format("collective --json --quiet --algorithm ring --executor {} --ranks {} -b 1K -e {} -f 2",
                  request.executor, request.ranks, request.on_gpu ? "256M" : "16M");
  const std::vector<std::string_view> words = words_of(line);
  return {words.begin(), words.end()};
}

std::vector<TimedSize> timed_sizes(std::string_view json) {
  try {
    std::vector<TimedSize> sizes;
    const auto document = read_json(json);
    for (const auto& row : document.at("results")) sizes.push_back(timed_size(row));
    return sizes;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::internal, fmt::format("{}: hbench collective printed what cannot be read", kDoing));
  }
}

MeasuredLink measure_link(const LinkRequest& request) {
  for (int attempt = 1;; ++attempt) {
    std::vector<TimedSize> timed = time_ring(request);
    try {
      const LinkFit fit = fit_link(timed, request.ranks);
      return {fit, std::move(timed)};
    } catch (const Error& error) {
      if (error.code() != ExitCode::wrong_data || attempt == kAttempts) throw;
    }
  }
}

ExecutorChoice link_executor(const MeasuredPlace& place, int ranks) {
  TrainingStrategy ring = place.alone;
  ring.algorithm = parse_algorithm_rule("ring");
  return place.executor_for(ring, 1, ranks > place.gpus);
}

MachineFigures measure_machine(const MeasuredPlace& place, int ranks, const std::string& program) {
  const auto facts = environment_facts(place.on_gpu);
  MachineFigures machine;
  machine.ranks = ranks;
  machine.gpu = place.on_gpu ? facts.at("gpu") : fmt::format("CPU core ({})", facts.at("cpu"));
  machine.what = place.on_gpu ? (ranks == 1 ? "GPU" : "GPUs") : (ranks == 1 ? "CPU core" : "CPU cores");
  machine.how =
      fmt::format("measured by hbench calibrate {} on {}, on {} x {}", HBENCH_VERSION, now_utc(), ranks, machine.gpu);
  if (ranks < 2) return machine;

  const ExecutorChoice choice = link_executor(place, ranks);
  if (!choice.refusal.empty()) {
    const bool lacks = place.executor.empty() || place.absent.contains(place.executor);
    throw Error(lacks ? ExitCode::environment : ExitCode::usage,
                fmt::format("nothing can time a ring of {} ranks here: {}", ranks, choice.refusal),
                "hbench list executors says what works on this machine");
  }
  const auto [fit, timed] = measure_link({program, std::string(choice.executor->name), ranks, place.on_gpu});
  machine.link = fit;
  machine.how_linked =
      fmt::format("{}: ring all-reduces of {} to {} by {} ranks ({})", machine.how,
                  exact_text(Bytes(static_cast<double>(timed.front().bytes))),
                  exact_text(Bytes(static_cast<double>(timed.back().bytes))), ranks, choice.executor->name);
  return machine;
}

std::string link_in_words(const MachineFigures& machine) {
  if (!machine.link) return "1 rank: nothing joins it here";
  return fmt::format(
      "{} ranks: {} and {} for a message; on {} sizes it has not seen this is off by {:.0f} % on average, {:.0f} % at "
      "most",
      machine.ranks, format(machine.link->latency), format(machine.link->rate), machine.link->unseen,
      100 * machine.link->mean_error, 100 * machine.link->largest_error);
}

namespace {

/// By what factor the speed of another run of this machine may differ. One launch alone tells no more of it than
/// others' machines do.
double repeat_factor(const CaseResult& baseline) {
  constexpr double kLeast = 1.02, kMost = 100;  // a profile may state
  std::vector<double> medians;
  for (const Launch& launch : timed_steps(baseline).launches) medians.push_back(median(launch));
  if (medians.size() < 2) return kUsualRateFactor;
  const Interval interval = repeat_interval(medians);
  return std::clamp(std::sqrt(interval.high / interval.low), kLeast, kMost);
}

}  // namespace

GpuRate rate_of(const CaseResult& baseline, const std::string& how) {
  if (baseline.status == CaseStatus::failed)
    throw Error(static_cast<ExitCode>(baseline.exit_code), "measuring one process alone: " + baseline.failure);
  const Point point = make_points({baseline}).front();
  return {point.throughput, baseline.asked.batch_per_gpu,
          fmt::format("{}: {} alone, median of {} steps of {} launches", how, baseline.asked.source, point.iterations,
                      point.launches),
          repeat_factor(baseline)};
}

Trace recorded_trace(const RecordingRequest& request, const std::string& name) {
  Trace trace;
  trace.name = name;
  trace.title = request.own ? request.model : fmt::format("{0} at {1} x {1}", request.model, request.image_size);
  trace.source = fmt::format(
      "recorded by hbench calibrate: median of {} steps, batch {}, {}, {}", request.steps, request.batch,
      entry_of(request.precision).name,
      request.on_gpu ? "the first GPU"
                     : fmt::format("{} of {}", counted(request.threads, "thread"), environment_facts(false).at("cpu")));
  if (request.optimizer) {
    trace.source += fmt::format(", {}", request.optimizer->text());
    trace.state_bytes =
        8 + 4 * request.optimizer->state();  // a float32 each of the parameter, its gradient and its state
  }
  trace.timeline = record_timeline(request);
  return trace;
}

std::string trace_in_words(const Trace& trace) {
  return fmt::format("{}: {} tensors, {} of gradients, forward {}, backward {}, update {}, {:.1f} samples/s",
                     trace.title, trace.timeline.gradients.size(), format(Bytes(4.0 * trace.elements())),
                     format(trace.timeline.forward), format(trace.timeline.backward), format(trace.timeline.update),
                     trace.timeline.samples_per_second());
}

}  // namespace hbench

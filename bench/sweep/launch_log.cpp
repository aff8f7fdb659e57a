#include "bench/sweep/launch_log.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "analysis/trace/ledger.hpp"
#include "bench/worker/protocol.hpp"

namespace hbench {
namespace {

void add(LaunchLog& log, const HelloLine& hello) { log.reports.last_step.try_emplace(hello.rank, -1); }

void add(LaunchLog& log, const StepLine& step) {
  log.reports.last_step[step.rank] = step.iteration;
  Sample sample;
  sample.launch = log.launch;
  sample.rank = step.rank;
  sample.iteration = step.iteration;
  sample.warmup = step.warmup;
  sample.unit = "s";
  sample.metric = "step_seconds";
  sample.value = step.seconds;
  log.samples.push_back(sample);
  if (!step.exposed) return;
  sample.metric = metric::kWait;
  sample.value = *step.exposed;
  log.samples.push_back(sample);
}

void add(LaunchLog& log, const SpansLine& line) {
  std::vector<Span>& spans = log.spans[line.iteration];
  spans.insert(spans.end(), line.spans.begin(), line.spans.end());
}

/// What a rank reports beside its steps, such as the state of its GPU.
void add(LaunchLog& log, const SamplesLine& line) {
  std::ranges::move(samples_of(line, log.launch), std::back_inserter(log.samples));
}

void add(LaunchLog& log, const DoneLine& line) { log.digests.push_back(line.digest); }
/// What `start_ranks` records, and what only collectives report.
template <class Line>
void add(LaunchLog&, const Line&) {}

}  // namespace

void LaunchLog::note(const WorkerLine& line) {
  std::visit([&](const auto& each) { add(*this, each); }, line);
  reports.complete = std::ssize(digests) == all;
}

std::vector<TracedStep> LaunchLog::traced_steps() const {
  std::vector<TracedStep> steps;
  Seconds first(std::numeric_limits<double>::infinity());
  for (const auto& [iteration, of_step] : spans) {
    steps.push_back({.launch = launch, .iteration = iteration, .spans = of_step});
    for (const Span& span : of_step) first = std::min(first, span.begin);
  }
  for (TracedStep& step : steps)
    for (Span& span : step.spans) span.begin = span.begin - first, span.end = span.end - first;
  return steps;
}

}  // namespace hbench

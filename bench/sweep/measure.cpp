#include "bench/sweep/measure.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/records/machine_facts.hpp"
#include "analysis/trace/ledger.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/nccl_log.hpp"
#include "bench/launch/process.hpp"
#include "bench/launch/start_ranks.hpp"
#include "bench/sweep/launch_log.hpp"
#include "bench/sweep/nodes.hpp"
#include "bench/sweep/own_models.hpp"
#include "bench/sweep/request.hpp"
#include "bench/worker/agreement.hpp"
#include "bench/worker/protocol.hpp"
#include "bench/worker/rank_resources.hpp"
#include "collectives/base/own_host.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// The numbers after the first word of a line.
std::vector<double> numbers(std::string_view line) {
  std::vector<double> values;
  for (const std::string_view word : words_of(line.substr(std::min(line.find(' '), line.size()))))
    if (const auto value = parse_number<std::int64_t>(word)) values.push_back(static_cast<double>(*value));
  return values;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string text_of(const char* file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

constexpr const char* kVisibleGpus = "CUDA_VISIBLE_DEVICES";

/// None: hbench trains it.
std::optional<FrameworkChoice> framework_of(const Case& asked) {
  return asked.strategy.of_framework() ? std::optional(parse_framework(asked.strategy.framework)) : std::nullopt;
}

}  // namespace

std::optional<CpuTimes> parse_cpu_times(std::string_view proc_stat, const std::vector<int>& cores) {
  // "cpu3 user nice system idle iowait irq softirq steal guest guest_nice"; user time holds that of guests.
  constexpr std::size_t kUser = 0, kNice = 1, kSystem = 2, kIrq = 5, kSoftIrq = 6, kSteal = 7;
  CpuTimes times;
  std::size_t seen = 0;
  while (!proc_stat.empty()) {
    const std::string_view line = proc_stat.substr(0, proc_stat.find('\n'));
    proc_stat.remove_prefix(std::min(line.size() + 1, proc_stat.size()));
    const auto core = line.starts_with("cpu") ? parse_leading_number<int>(line.substr(3)) : std::nullopt;
    if (!core || std::ranges::find(cores, core->first) == cores.end()) continue;
    const std::vector<double> ticks = numbers(line);
    if (ticks.size() <= kSteal) return std::nullopt;
    for (const std::size_t part : {kUser, kNice, kSystem, kIrq, kSoftIrq}) times.busy += ticks[part];
    times.stolen += ticks[kSteal];
    ++seen;
  }
  return seen == cores.size() && seen > 0 ? std::optional(times) : std::nullopt;
}

LoadWatch::Look LoadWatch::look() const {
  Look now{.at = std::chrono::steady_clock::now(), .cpu = parse_cpu_times(text_of("/proc/stat"), cores_)};
  now.ours = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN);
  double average = 0;
  if (getloadavg(&average, 1) == 1) now.load_average = average;
  return now;
}

LoadWatch::LoadWatch() : cores_(allowed_cores()), began_(wall_clock().value), before_(look()) {}

std::vector<Sample> LoadWatch::samples(int launch) const {
  const Look after = look();
  std::vector<Sample> samples;
  const auto add = [&](std::string_view metric, double value, const char* unit, int iteration = 0) {
    samples.push_back(
        {.launch = launch, .iteration = iteration, .metric = std::string(metric), .value = value, .unit = unit});
  };
  add(metric::kLaunchBegan, began_, "s");
  if (before_.load_average >= 0) add(metric::kLoadAverage, before_.load_average, "processes", 0);
  if (after.load_average >= 0) add(metric::kLoadAverage, after.load_average, "processes", 1);
  const double wall = std::chrono::duration<double>(after.at - before_.at).count();
  if (!before_.cpu || !after.cpu || wall <= 0) return samples;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const double own = (after.ours - before_.ours) / wall;
  const double busy = (after.cpu->busy - before_.cpu->busy) / ticks / wall;
  add(metric::kCores, static_cast<double>(cores_.size()), "cores");
  add(metric::kOwnCores, own, "cores");
  add(metric::kOtherCores, std::max(busy - own, 0.0), "cores");
  add(metric::kStolenCores, (after.cpu->stolen - before_.cpu->stolen) / ticks / wall, "cores");
  return samples;
}

std::string first_gpus(const char* visible, int count) {
  std::string all = visible != nullptr ? visible : "";
  if (all.empty())
    for (int gpu = 0; gpu < count; ++gpu) all += fmt::format("{}{}", gpu == 0 ? "" : ",", gpu);
  std::size_t end = 0;
  for (int gpu = 0; gpu < count && end != all.npos; ++gpu) end = all.find(',', gpu == 0 ? 0 : end + 1);
  return all.substr(0, end);
}

LaunchOutcome lost_launch(ExitCode code, int launch, const std::string& reason, bool overloaded) {
  return {.samples = {{.launch = launch,
                       .metric = std::string(metric::kLaunchLost),
                       .value = static_cast<double>(code),
                       .unit = "exit code"}},
          .code = code,
          .reason = fmt::format("launch {}: {}", launch + 1, reason),
          .overloaded = overloaded};
}

LaunchPlan plan_launch(const Case& asked, const MeasureOptions& options, int launch) {
  const PlannedCase job = planned(asked);
  const std::optional<FrameworkChoice> framework = framework_of(asked);
  LaunchPlan plan{.order = {asked, options.warmup_steps, options.steps, options.budget, options.timeout,
                            options.traced_steps, test_delay()},
                  .start = {},
                  .ranks = framework ? framework_processes(*framework->framework, asked)
                                     : job.world(workers_per_node(asked)).ranks(),
                  .refusal = {},
                  .host_of_rank = {}};
  const bool has_job = ranks_are_processes(asked, job.strategy);
  const int processes = has_job ? plan.ranks : 1;
  RankPlaces places = places_of(options.allocation, asked, plan.ranks);
  plan.refusal = places.refusal;
  plan.host_of_rank = places.host_of_rank;
  // Threads of one process are where its first rank is.
  if (!places.host_of_rank.empty()) places.host_of_rank.resize(static_cast<std::size_t>(processes));
  if (const OwnModel* own = find_own_model(options.own_models, asked.workload); own != nullptr) plan.order.own = *own;
  // Another launch of what is learned begins with other parameters, in another order.
  if (asked.training.epochs > 0) plan.order.seed = static_cast<unsigned>(launch) + 1;
  // One thread per rank: a rank stands for one GPU and must not grow when it is alone.
  std::map<std::string, std::string> environment{
      {"OMP_NUM_THREADS", "1"}, {"OPENBLAS_NUM_THREADS", "1"}, {"MKL_NUM_THREADS", "1"}};
  if (asked.processes_per_gpu > 1)
    environment[kVisibleGpus] =
        first_gpus(std::getenv(kVisibleGpus), workers_per_node(asked) / asked.processes_per_gpu);
  plan.start = {.launcher = has_job || !places.host_of_rank.empty() ? options.allocation.launcher : "local",
                .processes = processes,
                .worker = {},
                .environment = std::move(environment),
                // When rank 0 hangs, the others wait for twice the time-out before they say so.
                .timeout = options.timeout * (job.strategy.communicates() ? 2 : 1) + kGrace,
                .host_of_rank = std::move(places.host_of_rank),
                .network = options.network};
  return plan;
}

std::vector<std::string> worker_command(const MeasureOptions& options, const WorkOrder& order) {
  return {options.program, "worker", to_json(order)};
}

LaunchOutcome measure_launch(const Case& asked, const MeasureOptions& options, int launch) {
  LaunchPlan plan = plan_launch(asked, options, launch);
  if (!plan.refusal.empty()) return lost_launch(ExitCode::lost_rank, launch, plan.refusal);
  const std::optional<FrameworkChoice> framework = framework_of(asked);
  const NcclLog nccl(uses_nccl(asked), std::getenv("NCCL_DEBUG"));
  RankStart& start = plan.start;
  start.environment.merge(nccl.environment());
  if (framework) {
    start.worker = framework_rank(options.frameworks.find(framework->text())->second, to_json(plan.order));
    start.environment.merge(framework_variables(*framework, start.host_of_rank, options.network));
  } else {
    start.worker = worker_command(options, plan.order);
  }
  const int ranks = plan.ranks;
  LaunchLog log(launch, ranks);
  const LoadWatch load;
  const JobOutcome end = start_ranks(start, options.host, log.reports, [&](const WorkerLine& line) { log.note(line); });
  if (interrupted()) return {};
  if (end.code != ExitCode::good) return lost_launch(end.code, launch, end.reason);
  if (framework)
    if (const std::string wrong = wrong_training(asked, log.samples, log.digests); !wrong.empty())
      return lost_launch(ExitCode::wrong_data, launch, wrong);
  std::ranges::move(load.samples(launch), std::back_inserter(log.samples));
  std::ranges::move(transport_samples(nccl.transports(), launch), std::back_inserter(log.samples));
  if (plan.order.delay.is_among(ranks)) log.samples.push_back(delay_sample(plan.order.delay, launch));
  std::ranges::move(rank_host_samples(options.run_hosts, plan.host_of_rank, launch), std::back_inserter(log.samples));
  LaunchOutcome outcome{.samples = std::move(log.samples), .traced = log.traced_steps()};
  for (const TracedStep& step : outcome.traced)
    std::ranges::move(ledger_samples(step), std::back_inserter(outcome.samples));
  return outcome;
}

CaseResult launch_all(const Case& asked, int launches, const std::function<LaunchOutcome(int)>& launch) {
  CaseResult result{.asked = asked};
  for (int number = 0; number < launches && !interrupted(); ++number) {
    LaunchOutcome outcome = launch(number);
    std::ranges::move(outcome.samples, std::back_inserter(result.samples));
    std::ranges::move(outcome.traced, std::back_inserter(result.traced));
    if (outcome.code == ExitCode::good) continue;
    result.status = CaseStatus::failed;
    result.failure = outcome.reason;
    result.exit_code = static_cast<int>(outcome.code);
    break;
  }
  return result;
}

CaseResult measure(const Case& asked, const MeasureOptions& options, const std::function<void(int)>& on_launch) {
  return launch_all(asked, options.launches, [&](int launch) {
    on_launch(launch);
    return measure_launch(asked, options, launch);
  });
}

}  // namespace hbench

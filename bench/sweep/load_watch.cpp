#include "bench/sweep/load_watch.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "analysis/records/machine_load.hpp"
#include "collectives/base/parse_number.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/wall_clock.hpp"

namespace hbench {
namespace {

std::vector<int> allowed_cores() {
  cpu_set_t allowed;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  return cores;
}

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

}  // namespace hbench

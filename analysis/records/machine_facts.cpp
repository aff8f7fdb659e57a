#include "analysis/records/machine_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Of all cores: less is what a machine always does.
constexpr double kNoticeable = 0.05;
/// All cores are busy when so much of them is: nothing measures CPU time to the last tick.
constexpr double kFull = 0.9;

using namespace clock_reason;

/// What was set so, or is so because nothing runs. A group's slowest GPU has a reason of its own.
constexpr std::uint64_t kHarmless = kIdle | kApplicationClocks | kSyncBoost | kDisplayClocks;

struct Words {
  std::uint64_t bit;
  const char* words;
};
constexpr Words kWords[] = {
    {kHardwareSlowdown, "hardware slowdown"},
    {kHardwareThermal, "too hot (hardware)"},
    {kThermal, "too hot"},
    {kPowerBrake, "power brake"},
    {kPowerCap, "power cap"},
};

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  if (list.empty()) return names;
  for (const std::string_view name : split(list, ',')) names.emplace_back(trimmed(name));
  return names;
}

}  // namespace

bool MachineLoad::disturbed() const {
  if (cores <= 0) return false;
  const double noticeable = kNoticeable * cores;
  return stolen > noticeable || (others > noticeable && own + others + stolen > kFull * cores);
}

std::vector<MachineLoad> machine_loads(const CaseResult& result) {
  std::map<int, MachineLoad> by_launch;
  const auto fact = [&](const Sample& sample, std::string_view name, double MachineLoad::*member) {
    if (sample.metric == name) by_launch[sample.launch].*member = sample.value;
  };
  for (const Sample& sample : result.samples) {
    fact(sample, metric::kCores, &MachineLoad::cores);
    fact(sample, metric::kOwnCores, &MachineLoad::own);
    fact(sample, metric::kOtherCores, &MachineLoad::others);
    fact(sample, metric::kStolenCores, &MachineLoad::stolen);
  }
  std::vector<MachineLoad> loads;
  for (auto& [launch, load] : by_launch) {
    load.launch = launch;
    loads.push_back(load);
  }
  return loads;
}

Throttling throttling_of(std::uint64_t reasons) {
  const std::uint64_t harmful = reasons & ~kHarmless;
  if (harmful == 0) return Throttling::none;
  return harmful == kPowerCap ? Throttling::power_cap : Throttling::throttled;
}

std::string throttling_text(std::uint64_t reasons) {
  std::uint64_t left = reasons & ~kHarmless;
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  for (const Words& each : kWords) {
    if ((left & each.bit) != 0) add(each.words);
    left &= ~each.bit;
  }
  if (left != 0) add(fmt::format("unknown reason {:#x}", left));
  return text;
}

std::string clock_reasons_metric(std::string_view time) {
  constexpr std::string_view kSeconds = "_seconds";
  if (time.ends_with(kSeconds)) time.remove_suffix(kSeconds.size());
  return std::string(time) + "_clock_reasons";
}

Throttling ThrottledShare::worst() const {
  return throttled > 0 ? Throttling::throttled : power_capped > 0 ? Throttling::power_cap : Throttling::none;
}

ThrottledShare throttled_share(const CaseResult& result, std::string_view time) {
  const std::string metric = clock_reasons_metric(time);
  ThrottledShare share;
  std::map<std::pair<int, int>, Throttling> worst;
  for (const Sample& sample : result.samples) {
    if (sample.warmup || sample.metric != metric) continue;
    const auto reasons = static_cast<std::uint64_t>(sample.value);
    Throttling& iteration = worst[{sample.launch, sample.iteration}];
    iteration = std::max(iteration, throttling_of(reasons));
    share.reasons |= reasons;
  }
  share.iterations = worst.size();
  for (const auto& [iteration, throttling] : worst) {
    share.throttled += throttling == Throttling::throttled;
    share.power_capped += throttling == Throttling::power_cap;
  }
  return share;
}

std::vector<Sample> rank_host_samples(const std::vector<std::string>& hosts,
                                      const std::vector<std::string>& host_of_rank, int launch) {
  std::vector<Sample> samples;
  for (std::size_t rank = 0; rank < host_of_rank.size(); ++rank) {
    const auto host = std::ranges::find(hosts, host_of_rank[rank]);
    if (host == hosts.end()) continue;
    samples.push_back({.launch = launch,
                       .rank = static_cast<int>(rank),
                       .metric = std::string(metric::kRankHost),
                       .value = static_cast<double>(host - hosts.begin()),
                       .unit = "host"});
  }
  return samples;
}

std::vector<std::string> hosts_of_ranks(const std::vector<Sample>& samples, std::string_view hosts_fact) {
  const std::vector<std::string> hosts = names_in(hosts_fact);
  int last = -1;
  std::vector<std::string> by_rank;
  for (const Sample& sample : samples) {
    if (sample.metric != metric::kRankHost || sample.launch < last || sample.rank < 0) continue;
    const double number = sample.value;
    if (!(number >= 0 && number < static_cast<double>(hosts.size()))) continue;
    if (sample.launch > last) by_rank.clear();
    last = sample.launch;
    const auto rank = static_cast<std::size_t>(sample.rank);
    if (by_rank.size() <= rank) by_rank.resize(rank + 1);
    by_rank[rank] = hosts[static_cast<std::size_t>(number)];
  }
  return by_rank;
}

std::string with_hosts(const std::string& reason, const std::vector<std::string>& host_of_rank) {
  if (host_of_rank.empty()) return reason;
  // `rank 2`, and of a list such as `rank 2, 3` each.
  static const std::regex kRanks(R"(\brank \d{1,6}(, \d{1,6})*\b)"), kNumber(R"(\d+)");
  std::string text;
  auto rest = reason.begin();
  for (std::sregex_iterator ranks(reason.begin(), reason.end(), kRanks), none; ranks != none; ++ranks)
    for (std::sregex_iterator number((*ranks)[0].first, (*ranks)[0].second, kNumber); number != none; ++number) {
      const auto end = (*number)[0].second;
      text.append(rest, end);
      rest = end;
      const auto rank = static_cast<std::size_t>(std::stoi((*number)[0].str()));
      if (rank < host_of_rank.size()) text += " on " + host_of_rank[rank];
    }
  return text.append(rest, reason.end());
}

}  // namespace hbench

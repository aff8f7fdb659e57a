#include "analysis/rank_hosts.hpp"

#include <algorithm>

#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  if (list.empty()) return names;
  for (const std::string_view name : split(list, ',')) names.emplace_back(trimmed(name));
  return names;
}

}  // namespace

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

}  // namespace hbench

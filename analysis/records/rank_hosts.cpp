#include "analysis/records/rank_hosts.hpp"

#include <algorithm>
#include <regex>

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

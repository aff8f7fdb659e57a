#include "bench/hosts/slow_hosts.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "analysis/statistics/binomial.hpp"
#include "analysis/statistics/statistics.hpp"

namespace hbench {
namespace {

/// By what is compared, and pass.
using Series = std::vector<std::vector<double>>;

/// Hosts twice, for what they compute and send, and links.
double comparisons(std::size_t hosts, std::size_t links) { return static_cast<double>(2 * hosts + links); }

/// Of all but one, in a pass.
double median_of_others(const Series& series, std::size_t own, std::size_t pass) {
  std::vector<double> others;
  for (std::size_t each = 0; each < series.size(); ++each)
    if (each != own) others.push_back(series[each][pass]);
  return median(others);
}

/// One held to the others; nothing where it is not slow. \pre there are two or more, with passes
std::optional<SlowPart> slow_part(const Series& series, std::size_t own, double margin, double comparisons) {
  SlowPart part;
  std::vector<double> less;
  for (std::size_t pass = 0; pass < series[own].size(); ++pass) {
    less.push_back(1 - series[own][pass] / median_of_others(series, own, pass));
    if (less.back() > margin) ++part.slower;
  }
  const double p = binomial_tail(static_cast<std::size_t>(part.slower), less.size(), 0.5) * comparisons;
  if (p > kSlowLevel) return std::nullopt;
  part.less = median(less);
  part.passes = static_cast<int>(less.size());
  part.confidence = 1 - p;
  return part;
}

}  // namespace

std::vector<double> network_of_host(const HostSpeeds& speeds, int host) {
  Series own;
  for (const LinkSpeeds& link : speeds.links)
    if (link.a == host || link.b == host) own.push_back(link.rates);
  std::vector<double> middle;
  for (std::size_t pass = 0; !own.empty() && pass < own.front().size(); ++pass) {
    std::vector<double> rates;
    for (const std::vector<double>& link : own) rates.push_back(link[pass]);
    std::ranges::sort(rates);
    middle.push_back(rates[rates.size() / 2]);
  }
  return middle;
}

bool can_judge_links(const HostSpeeds& speeds) { return speeds.hosts.size() > 2 && speeds.links.size() > 2; }

std::vector<SlowPart> slow_parts(const HostSpeeds& speeds) {
  std::vector<SlowPart> found;
  const double all = comparisons(speeds.hosts.size(), speeds.links.size());
  const auto add = [&](SlowPart::Kind kind, const Series& series, double margin, auto name) {
    for (std::size_t i = 0; series.size() > 1 && i < series.size(); ++i)
      if (std::optional<SlowPart> part = slow_part(series, i, margin, all)) {
        part->kind = kind;
        name(*part, i);
        found.push_back(*part);
      }
  };
  const auto name_host = [](SlowPart& part, std::size_t i) { part.host = static_cast<int>(i); };
  add(SlowPart::Kind::compute, speeds.computed, kSlowCompute, name_host);
  if (!can_judge_links(speeds)) return found;
  Series networks;
  for (std::size_t host = 0; host < speeds.hosts.size(); ++host)
    networks.push_back(network_of_host(speeds, static_cast<int>(host)));
  add(SlowPart::Kind::network, networks, kSlowLink, name_host);
  std::set<int> slow;
  for (const SlowPart& part : found)
    if (part.kind == SlowPart::Kind::network) slow.insert(part.host);
  std::vector<const LinkSpeeds*> between;
  Series rates;
  for (const LinkSpeeds& link : speeds.links)
    if (!slow.contains(link.a) && !slow.contains(link.b)) between.push_back(&link), rates.push_back(link.rates);
  add(SlowPart::Kind::link, rates, kSlowLink,
      [&](SlowPart& part, std::size_t i) { part.host = between[i]->a, part.other = between[i]->b; });
  return found;
}

int passes_needed(int hosts, int links) {
  const double all = comparisons(static_cast<std::size_t>(hosts), static_cast<std::size_t>(links));
  std::size_t passes = 2;
  while (binomial_tail(passes - 1, passes, 0.5) * all > kSlowLevel) ++passes;
  return static_cast<int>(passes);
}

}  // namespace hbench

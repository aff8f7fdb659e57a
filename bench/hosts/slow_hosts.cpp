#include "bench/hosts/slow_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "analysis/statistics/statistics.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// By what is compared, and pass.
using HostSeries = std::vector<std::vector<double>>;

/// Hosts twice, for what they compute and send, and links.
double comparisons(std::size_t hosts, std::size_t links) { return static_cast<double>(2 * hosts + links); }

/// Of all but one, in a pass.
double median_of_others(const HostSeries& series, std::size_t own, std::size_t pass) {
  std::vector<double> others;
  for (std::size_t each = 0; each < series.size(); ++each)
    if (each != own) others.push_back(series[each][pass]);
  return median(others);
}

/// One held to the others; nothing where it is not slow. \pre there are two or more, with passes
std::optional<SlowPart> slow_part(const HostSeries& series, std::size_t own, double margin, double comparisons) {
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

/// Links of many hosts that a terminal shows.
constexpr std::size_t kFirstLinks = 10;

std::string gflops(double operations) { return fmt::format("{:.3g} GFLOP/s", operations / 1e9); }
std::string rate_text(double bytes) { return format(BytesPerSecond(bytes)); }

/// `99.9 %`, rounded down: no confidence is 100 %.
std::string percent_down(double share) { return fmt::format("{:.1f} %", std::floor(share * 1000) / 10); }

std::string evidence(const SlowPart& part) {
  return fmt::format("in {} of {} passes (confidence {})", part.slower, part.passes, percent_down(part.confidence));
}

/// Whom a host is held to.
std::string others_of(const HostSpeeds& speeds, int host) {
  return speeds.hosts.size() == 2 ? speeds.hosts[static_cast<std::size_t>(1 - host)] : "the others";
}

const LinkSpeeds& link_of(const HostSpeeds& speeds, const SlowPart& part) {
  return *std::ranges::find_if(speeds.links,
                               [&](const LinkSpeeds& link) { return link.a == part.host && link.b == part.other; });
}

std::string link_name(const HostSpeeds& speeds, int a, int b) {
  return fmt::format("{} - {}", speeds.hosts[static_cast<std::size_t>(a)], speeds.hosts[static_cast<std::size_t>(b)]);
}

Finding finding_of(const HostSpeeds& speeds, const SlowPart& part) {
  const auto host = static_cast<std::size_t>(part.host);
  const double less = 100 * part.less;
  switch (part.kind) {
    case SlowPart::Kind::compute:
      return {speeds.hosts[host],
              fmt::format("it computes {:.0f} % slower than {}: {} a core, {}", less, others_of(speeds, part.host),
                          gflops(median(speeds.computed[host])), evidence(part)),
              "see what else runs there (top), and its clocks and temperature (cpupower, sensors), or leave it out"};
    case SlowPart::Kind::network:
      return {speeds.hosts[host],
              fmt::format("its links carry {:.0f} % less than those of the others: {}, {}", less,
                          rate_text(median(network_of_host(speeds, part.host))), evidence(part)),
              "look at its cable, port and settings (ethtool, tc qdisc), and at who else uses its network"};
    case SlowPart::Kind::link:
      break;
  }
  return {link_name(speeds, part.host, part.other),
          fmt::format("this link carries {:.0f} % less than the others: {}, {}", less,
                      rate_text(median(link_of(speeds, part).rates)), evidence(part)),
          "look at the switches and routes between the two (ip route get, traceroute)"};
}

/// Returns findings of what is not slow, and of what cannot be judged.
std::vector<Finding> calm_findings(const HostSpeeds& speeds, const std::vector<SlowPart>& slow) {
  const bool computes =
      std::ranges::none_of(slow, [](const SlowPart& part) { return part.kind == SlowPart::Kind::compute; });
  const bool sends =
      std::ranges::all_of(slow, [](const SlowPart& part) { return part.kind == SlowPart::Kind::compute; });
  std::vector<Finding> findings;
  if (computes)
    findings.push_back(
        {"compute speed", fmt::format("no host is more than {:.0f} % slower than the others", 100 * kSlowCompute), ""});
  if (!can_judge_links(speeds))
    findings.push_back({"link speed",
                        fmt::format("{}: two hosts have one link, and no other to compare it with",
                                    rate_text(median(speeds.links.front().rates))),
                        ""});
  else if (sends)
    findings.push_back({"link speed",
                        fmt::format("none of {} is more than {:.0f} % slower than the others",
                                    counted(std::ssize(speeds.links), "link"), 100 * kSlowLink),
                        ""});
  return findings;
}

/// `-12 %` of the middle one.
std::string beside(double value, double middle) {
  return fmt::format("{:+} %", std::lround(100 * (value / middle - 1)));  // a whole number is not -0
}

Table hosts_table(const HostSpeeds& speeds) {
  std::vector<double> computed, sent;
  for (std::size_t host = 0; host < speeds.hosts.size(); ++host) {
    computed.push_back(median(speeds.computed[host]));
    sent.push_back(median(network_of_host(speeds, static_cast<int>(host))));
  }
  Table table{.caption = "Speed of hosts",
              .columns = {"host", numbers("one core"), numbers("beside the middle"), numbers("middle link"),
                          numbers("beside the middle one")}};
  for (std::size_t host = 0; host < speeds.hosts.size(); ++host)
    table.rows.push_back({speeds.hosts[host], gflops(computed[host]), beside(computed[host], median(computed)),
                          rate_text(sent[host]), beside(sent[host], median(sent))});
  return table;
}

Table links_table(const HostSpeeds& speeds) {
  std::vector<std::pair<double, const LinkSpeeds*>> links;
  std::vector<double> rates;
  for (const LinkSpeeds& link : speeds.links) {
    rates.push_back(median(link.rates));
    links.emplace_back(rates.back(), &link);
  }
  std::ranges::stable_sort(links, {}, [](const auto& link) { return link.first; });
  Table table{.caption = "Speed of links",
              .columns = {"link", numbers("each way"), numbers("beside the middle")},
              .first_rows = kFirstLinks};
  for (const auto& [rate, link] : links)
    table.rows.push_back({link_name(speeds, link->a, link->b), rate_text(rate), beside(rate, median(rates))});
  return table;
}

}  // namespace

std::vector<double> network_of_host(const HostSpeeds& speeds, int host) {
  HostSeries own;
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
  const auto add = [&](SlowPart::Kind kind, const HostSeries& series, double margin, auto name) {
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
  HostSeries networks;
  for (std::size_t host = 0; host < speeds.hosts.size(); ++host)
    networks.push_back(network_of_host(speeds, static_cast<int>(host)));
  add(SlowPart::Kind::network, networks, kSlowLink, name_host);
  std::set<int> slow;
  for (const SlowPart& part : found)
    if (part.kind == SlowPart::Kind::network) slow.insert(part.host);
  std::vector<const LinkSpeeds*> between;
  HostSeries rates;
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

std::vector<Finding> slow_findings(const HostSpeeds& speeds) {
  const std::vector<SlowPart> slow = slow_parts(speeds);
  std::vector<Finding> findings;
  for (const SlowPart& part : slow) findings.push_back(finding_of(speeds, part));
  std::ranges::move(calm_findings(speeds, slow), std::back_inserter(findings));
  return findings;
}

std::vector<Table> speed_tables(const HostSpeeds& speeds) { return {hosts_table(speeds), links_table(speeds)}; }

}  // namespace hbench

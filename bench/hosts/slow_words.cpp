#include "bench/hosts/slow_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/statistics/statistics.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

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

std::vector<Finding> slow_findings(const HostSpeeds& speeds) {
  const std::vector<SlowPart> slow = slow_parts(speeds);
  std::vector<Finding> findings;
  for (const SlowPart& part : slow) findings.push_back(finding_of(speeds, part));
  std::ranges::move(calm_findings(speeds, slow), std::back_inserter(findings));
  return findings;
}

std::vector<Table> speed_tables(const HostSpeeds& speeds) { return {hosts_table(speeds), links_table(speeds)}; }

}  // namespace hbench

#include "reports/scaling/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "collectives/base/text.hpp"
#include "reports/formats/plain_text.hpp"

namespace hbench {
namespace {

bool is_local(const std::string& profile) { return profile == kLocalProfile; }

/// `name (details)`, where there are any.
std::string with_details(const std::string& name, const std::string& details) {
  return details.empty() || details == name ? name : fmt::format("{} ({})", name, details);
}

std::string title_in(const std::map<std::string, std::string>& titles, const std::string& name) {
  const auto found = titles.find(name);
  return found == titles.end() || found->second.empty() ? name : found->second;
}

constexpr std::string_view kSeparator = ", ";

/// `8 x V100`, `4 GPUs per node`: says nothing of the network.
bool counts_gpus(std::string_view part) {
  const std::size_t digits = part.find_first_not_of("0123456789");
  if (digits == 0 || digits == part.npos) return false;
  part.remove_prefix(digits);
  if (part.starts_with(" GPU")) return true;
  return part.starts_with(" x ") && part.size() > 3 && std::isalpha(static_cast<unsigned char>(part[3])) != 0;
}

/// Without the parts that count GPUs, if anything else is left.
std::string short_title(const std::string& title) {
  std::string text;
  std::string_view rest = title;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(kSeparator));
    if (!counts_gpus(part)) text += fmt::format("{}{}", text.empty() ? "" : kSeparator, part);
    rest.remove_prefix(std::min(rest.size(), part.size() + kSeparator.size()));
  }
  return text.empty() ? title : text;
}

/// Whether the title names the GPU's model: the first word of `gpu` is enough.
bool names_gpu(const std::string& title, const std::string& gpu) {
  return gpu.empty() || title.find(gpu.substr(0, gpu.find(' '))) != title.npos;
}

/// `10 GbE`, `8 x 200 Gbit/s InfiniBand`: the part of a title that says what the network is; empty where none does.
std::string rate_in(const std::string& title) {
  std::string_view rest = title;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(kSeparator));
    for (const std::string_view network : {"bit/s", "GbE", "InfiniBand"})
      if (part.find(network) != part.npos) return std::string(part);
    rest.remove_prefix(std::min(rest.size(), part.size() + kSeparator.size()));
  }
  return "";
}

/// Published points count servers in their own way.
bool servers_matter(const std::vector<Point>& points) {
  std::map<std::tuple<Evidence, std::string, int, std::string, int, std::string>, std::set<int>> servers;
  for (const Point& point : points) {
    const Case& asked = point.asked;
    if (asked.is_of_others()) continue;
    auto& seen =
        servers[{asked.evidence, asked.workload, asked.image_size, asked.profile, asked.gpus, asked.strategy.label()}];
    seen.insert(asked.strategy.servers);
    if (seen.size() > 1) return true;
  }
  return false;
}

}  // namespace

ScalingWords::ScalingWords(const ReportInput& input) : input_(input), label_servers_(servers_matter(input.points)) {}

std::string ScalingWords::workload(const Case& asked) const {
  const std::string title = title_in(input_.workload_titles, asked.workload);
  // A recorded timeline has its images in its title.
  const bool says_size = title.ends_with(fmt::format("at {0} x {0}", asked.image_size));
  return asked.image_size > 0 && !says_size ? fmt::format("{0} at {1}x{1}", title, asked.image_size) : title;
}

std::string ScalingWords::title(const Case& asked) const {
  const auto found = input_.profile_titles.find(asked.profile);
  if (is_local(asked.profile) || found == input_.profile_titles.end()) return "";
  const auto gpu = input_.profile_gpus.find(asked.profile);
  const std::string title = short_title(found->second);
  if (gpu == input_.profile_gpus.end()) return has_recorded_rate(asked) ? "" : title;
  const bool named = names_gpu(title, gpu->second);
  // A step that was recorded elsewhere is not that of the cluster's GPU.
  if (has_recorded_rate(asked)) return named ? "" : title;
  return named ? title : title + std::string(kSeparator) + gpu->second;
}

std::string ScalingWords::network_id(const Case& asked) const {
  return is_local(asked.profile) ? "this machine" : asked.profile;
}

std::string ScalingWords::network(const Case& asked) const { return with_details(network_id(asked), title(asked)); }

std::string ScalingWords::network_with_rate(const Case& asked) const {
  return with_details(network_id(asked), rate_in(title(asked)));
}

std::string ScalingWords::place(const Case& asked) const {
  return on_this_machine(asked) && asked.training.on_gpu() ? "this machine's GPUs" : network_id(asked);
}

std::string ScalingWords::strategy(const Case& asked) const {
  if (!asked.strategy.communicates()) return "no communication";
  if (asked.is_of_others()) {
    Strategy named = asked.strategy;
    named.fusion = std::string(policy_of(named.fusion));
    return named.label();
  }
  const std::string label = asked.strategy_label();
  if (!label_servers_ || asked.strategy.servers == 0) return label;
  return fmt::format("{}, {}", label, counted(asked.strategy.servers, "server"));
}

std::string ScalingWords::way(const Strategy& strategy) {
  const bool servers = strategy.uses_servers() && strategy.preset.empty();
  return servers ? "the best parameter servers" : in_verdict(strategy);
}

std::string ScalingWords::in_verdict(const Strategy& strategy) {
  if (strategy.of_framework()) return strategy.framework;
  std::string name = !strategy.preset.empty()        ? strategy.preset
                     : strategy.uses_servers()       ? "parameter servers"
                     : strategy.algorithm == kVendor ? "the library's all-reduce"
                                                     : strategy.algorithm;
  if (!strategy.method.empty()) name = fmt::format("{} ({})", strategy.method, name);
  return strategy.compresses() ? fmt::format("{} + {}", name, strategy.compressor) : name;
}

std::string ScalingWords::who_is_ahead(const Lead& lead, const std::string& first, const std::string& second) {
  if (!lead.is_judged())
    return fmt::format("{} against {}: {:.2f} times as fast in one launch, no verdict", first, second, lead.ratio);
  const LeadVerdict verdict = lead.verdict();
  if (verdict == LeadVerdict::level)
    return fmt::format("{} and {} are level: {} times as fast", first, second, lead.in_words());
  if (lead.ratio < 1) return who_is_ahead(lead.inverse(), second, first);
  return fmt::format("{} {} {}ahead of {}: {} times as fast", first, is_plural(first) ? "are" : "is",
                     verdict == LeadVerdict::likely ? "likely " : "", second, lead.in_words());
}

std::string ScalingWords::in_brief(const Strategy& strategy) {
  const std::string label = strategy.label();
  if (!strategy.uses_servers() || !strategy.preset.empty()) return label;
  const std::string rest = label.substr(std::min(label.size(), strategy.algorithm.size()));
  if (strategy.servers == 0) return "servers" + rest;
  return counted(strategy.servers, "server") + rest;
}

std::string ScalingWords::family(const std::string& algorithm) {
  if (algorithm == kVendor) return "the library's own all-reduce";
  if (algorithm == kParameterServers) return "parameter servers";
  return algorithm + " all-reduce";
}

std::string ScalingWords::gpus(const Case& asked) {
  return counted(asked.gpus, on_this_machine(asked) ? "rank" : "GPU");
}

std::string times_as_fast(double least, double most) {
  const auto text = [](double ratio) {
    return fmt::format("{:.{}f}", ratio, ratio < 1.095 ? 2 : ratio < 9.95 ? 1 : 0);
  };
  return fmt::format("{}{} times as fast", text(least), text(least) == text(most) ? "" : " to " + text(most));
}

bool on_this_machine(const Case& asked) { return asked.is_local(); }

std::string percent_cell(std::optional<double> fraction) { return fraction ? format_figure(*fraction, true) : "-"; }

bool tells_nothing(const Point& point) { return point.efficiency_high > 10.0; }

std::string interval_cell(const Point& point) {
  if (!point.efficiency_low || !point.efficiency_high) return "-";
  if (tells_nothing(point)) return fmt::format("{:.1f} to more than 1000 %", *point.efficiency_low * 100);
  return fmt::format("{:.1f} to {}", *point.efficiency_low * 100, format_figure(*point.efficiency_high, true));
}

std::string memory_cell(const Point& point) {
  const std::optional<double> bytes = point.whole_memory();
  return bytes ? fmt::format("{:.3g} GB", *bytes / 1e9) : "-";
}

std::string sent_cell(const Point& point) {
  if (point.sent.empty()) return "-";
  const auto sent = [&](const char* where) {
    const auto bytes = point.sent.find(where);
    return bytes == point.sent.end() ? 0 : bytes->second;
  };
  const double within = sent("within"), between = sent("between");
  const auto megabytes = [](double bytes) { return fmt::format("{:.3g} MB", bytes / 1e6); };
  return within == 0 ? megabytes(between)
                     : fmt::format("{} ({} between nodes)", megabytes(within + between), megabytes(between));
}

std::string staleness_cell(const Point& point) {
  const auto mean = point.staleness.find("mean");
  const auto largest = point.staleness.find("largest");
  if (mean == point.staleness.end() || largest == point.staleness.end()) return "-";
  return fmt::format("{:.3g} (up to {:g})", mean->second, largest->second);
}

std::string rate_cell(double samples_per_second) {
  return samples_per_second > 0 ? format_figure(samples_per_second, false) : "-";
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string signed_points(double fraction) { return fmt::format("{:+.1f}", fraction * 100); }
std::string unsigned_points(double fraction) { return fmt::format("{:.1f}", fraction * 100); }

}  // namespace hbench

#include "reports/scaling_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "reports/text.hpp"

namespace hbench {
namespace {

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

/// Of the profiles that occur.
std::map<std::string, std::string> short_titles(const ReportInput& input) {
  std::map<std::string, std::string> titles;
  for (const Point& point : input.points)
    titles[point.asked.profile] = title_in(input.profile_titles, point.asked.profile);
  std::map<std::string, int> uses;
  for (const auto& [profile, title] : titles) ++uses[short_title(title)];
  for (auto& [profile, title] : titles)
    if (uses[short_title(title)] == 1) title = short_title(title);
  return titles;
}

/// Published points count servers in their own way.
bool servers_matter(const std::vector<Point>& points) {
  std::map<std::tuple<Evidence, std::string, int, std::string, int, std::string>, std::set<int>> servers;
  for (const Point& point : points) {
    const Case& asked = point.asked;
    if (asked.evidence == Evidence::published) continue;
    auto& seen =
        servers[{asked.evidence, asked.workload, asked.image_size, asked.profile, asked.gpus, asked.strategy.label()}];
    seen.insert(asked.strategy.servers);
    if (seen.size() > 1) return true;
  }
  return false;
}

std::string servers_in_a_sentence(const Strategy& strategy) {
  const std::string mode = strategy.server_mode == "colocated" ? "co-located" : strategy.server_mode;
  const char* held = strategy.placement == "sliced" ? "slices of tensors" : "whole tensors";
  return fmt::format("{}{}parameter servers that hold {}", mode, mode.empty() ? "" : " ", held);
}

}  // namespace

ScalingWords::ScalingWords(const ReportInput& input)
    : input_(input), networks_(short_titles(input)), tell_servers_(servers_matter(input.points)) {}

std::string ScalingWords::workload(const Case& asked) const {
  const std::string title = title_in(input_.workload_titles, asked.workload);
  return asked.image_size > 0 ? fmt::format("{0} at {1}x{1}", title, asked.image_size) : title;
}

std::string ScalingWords::network(const std::string& profile) const {
  return profile == "local" ? "this machine" : title_in(networks_, profile);
}

std::string ScalingWords::network_in_brief(const std::string& profile) const {
  const auto first_part = [](const std::string& text) { return text.substr(0, text.find(kSeparator)); };
  const std::string full = network(profile), brief = first_part(full);
  const auto same = [&](const auto& entry) { return first_part(entry.second) == brief; };
  return std::ranges::count_if(networks_, same) > 1 ? full : brief;
}

std::string ScalingWords::place(const Case& asked) const {
  if (asked.profile == "local" && asked.training.device == "gpu") return "this machine's GPUs";
  return network_in_brief(asked.profile);
}

std::string ScalingWords::network_in_a_sentence(const std::string& profile) const {
  std::string text = network(profile);
  const std::size_t first = text.find(kSeparator);
  if (first == text.npos) return text;
  return text.replace(first, kSeparator.size(), " (") + ")";
}

std::string ScalingWords::strategy(const Case& asked) const {
  if (asked.strategy.algorithm == "none") return "no communication";
  if (asked.evidence == Evidence::published) {
    Strategy named = asked.strategy;
    named.fusion = named.fusion.substr(0, named.fusion.find(':'));
    return named.label();
  }
  const std::string label = asked.strategy_label();
  if (!tell_servers_ || asked.strategy.servers == 0) return label;
  return fmt::format("{}, {}", label, counted(static_cast<std::size_t>(asked.strategy.servers), "server"));
}

std::string ScalingWords::in_a_sentence(const Strategy& strategy) {
  std::string text = strategy.algorithm == "ps" ? servers_in_a_sentence(strategy) : family(strategy.algorithm);
  if (!strategy.compressor.empty() && strategy.compressor != "none")
    text += fmt::format(" and {} gradients", strategy.compressor);
  return text;
}

std::string ScalingWords::family(const std::string& algorithm) {
  if (algorithm == "ring") return "ring all-reduce";
  if (algorithm == "vendor") return "the library's own all-reduce";
  if (algorithm == "ps") return "parameter servers";
  return algorithm;
}

std::string whole_percent(double fraction) {
  const double percent = fraction * 100;
  return fmt::format("{:.{}f}\u00a0%", percent, percent < 0.95 ? 1 : 0);
}

std::string percent_cell(std::optional<double> fraction) { return fraction ? format_figure(*fraction, true) : "-"; }

std::string interval_cell(const Point& point) {
  if (!point.efficiency_low || !point.efficiency_high) return "-";
  return fmt::format("{:.1f} to {}", *point.efficiency_low * 100, format_figure(*point.efficiency_high, true));
}

std::string rate_cell(double samples_per_second) {
  return samples_per_second > 0 ? format_figure(samples_per_second, false) : "-";
}

std::string signed_points(double fraction) { return fmt::format("{:+.1f}", fraction * 100); }
std::string unsigned_points(double fraction) { return fmt::format("{:.1f}", fraction * 100); }

std::string counted(std::size_t count, const std::string& noun) {
  const char* ending = count == 1 ? "" : noun.ends_with("ch") ? "es" : "s";
  return fmt::format("{} {}{}", count, noun, ending);
}

}  // namespace hbench

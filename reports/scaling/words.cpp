#include "reports/scaling/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "collectives/base/text.hpp"
#include "reports/formats/plain_text.hpp"
#include "reports/scaling/sides.hpp"

namespace hbench {
namespace {

bool is_local(const std::string& profile) { return profile == kLocalProfile; }

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

std::string first_part(const std::string& title) { return title.substr(0, title.find(kSeparator)); }

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

/// `greedy` goes without saying for whole tensors.
std::string placement_in_words(const Strategy& strategy) {
  if (strategy.holds_slices()) return "slices of tensors";
  const bool usual = strategy.placement.empty() || strategy.placement == "greedy";
  return usual ? "whole tensors" : fmt::format("whole tensors ({})", strategy.placement);
}

std::string servers_in_a_sentence(const Strategy& strategy) {
  std::string text = strategy.colocated() ? "co-located" : strategy.server_mode;
  if (!text.empty()) text += ' ';
  text += strategy.servers == 1 ? "parameter server that holds " : "parameter servers that hold ";
  if (strategy.servers > 0) text = fmt::format("{} {}", strategy.servers, text);
  return text + placement_in_words(strategy);
}

/// `ring all-reduce`; with the fusion policy or the lack of overlap where the label has them.
std::string all_reduce_in_a_sentence(const Strategy& strategy) {
  const std::string label = strategy.label();
  const std::size_t rest = label.find(kSeparator);
  const std::string family = ScalingWords::family(strategy.algorithm);
  return rest == label.npos ? family : fmt::format("{} ({})", family, label.substr(rest + kSeparator.size()));
}

}  // namespace

ScalingWords::ScalingWords(const ReportInput& input)
    : input_(input), networks_(networks_of(input)), label_servers_(servers_matter(input.points)) {}

std::string ScalingWords::Network::full() const { return gpu.empty() ? title : title + std::string(kSeparator) + gpu; }

std::string ScalingWords::Network::brief() const {
  return gpu.empty() ? first_part(title) : fmt::format("{} ({})", first_part(title), gpu);
}

std::map<std::string, ScalingWords::Network> ScalingWords::networks_of(const ReportInput& input) {
  std::map<std::string, Network> networks;
  std::map<std::string, int> uses;
  const auto named = [&](const std::string& profile, const std::string& title) {
    const auto gpu = input.profile_gpus.find(profile);
    if (gpu == input.profile_gpus.end() || names_gpu(title, gpu->second)) return Network{title, ""};
    return Network{title, gpu->second};
  };
  for (const Point& point : input.points) {
    const std::string& profile = point.asked.profile;
    if (networks.contains(profile)) continue;
    networks[profile] = named(profile, short_title(title_in(input.profile_titles, profile)));
    ++uses[networks[profile].full()];
  }
  for (auto& [profile, network] : networks)
    if (uses[network.full()] > 1) network = named(profile, title_in(input.profile_titles, profile));
  return networks;
}

const ScalingWords::Network* ScalingWords::find(const std::string& profile) const {
  const auto found = networks_.find(profile);
  return found == networks_.end() ? nullptr : &found->second;
}

std::string ScalingWords::workload(const Case& asked) const {
  const std::string title = title_in(input_.workload_titles, asked.workload);
  return asked.image_size > 0 ? fmt::format("{0} at {1}x{1}", title, asked.image_size) : title;
}

std::string ScalingWords::network(const std::string& profile) const {
  if (is_local(profile)) return "this machine";
  const Network* network = find(profile);
  return network ? network->full() : profile;
}

std::string ScalingWords::network_in_brief(const std::string& profile) const {
  const Network* network = find(profile);
  if (is_local(profile) || network == nullptr) return this->network(profile);
  const std::string brief = network->brief();
  const auto same = [&](const auto& entry) { return entry.second.brief() == brief; };
  return std::ranges::count_if(networks_, same) > 1 ? network->full() : brief;
}

std::string ScalingWords::place(const Case& asked) const {
  if (on_this_machine(asked) && asked.training.on_gpu()) return "this machine's GPUs";
  return network_in_brief(asked.profile);
}

std::string ScalingWords::network_in_a_sentence(const std::string& profile) const {
  const std::string text = network(profile);
  const std::size_t first = text.find(kSeparator);
  if (first == text.npos) return text;
  return fmt::format("{} ({})", text.substr(0, first), text.substr(first + kSeparator.size()));
}

std::string ScalingWords::strategy(const Case& asked) const {
  if (!asked.strategy.communicates()) return "no communication";
  if (asked.evidence == Evidence::published) {
    Strategy named = asked.strategy;
    named.fusion = std::string(policy_of(named.fusion));
    return named.label();
  }
  const std::string label = asked.strategy_label();
  if (!label_servers_ || asked.strategy.servers == 0) return label;
  return fmt::format("{}, {}", label, counted(asked.strategy.servers, "server"));
}

std::string ScalingWords::in_a_sentence(const Strategy& strategy) {
  std::string text = strategy.uses_servers() ? servers_in_a_sentence(strategy) : all_reduce_in_a_sentence(strategy);
  if (strategy.compresses()) text += fmt::format(" and {} gradients", strategy.compressor);
  if (!strategy.preset.empty()) text += fmt::format(" as in {}", strategy.preset);
  return text;
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

bool on_this_machine(const Case& asked) { return asked.is_local(); }

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

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string signed_points(double fraction) { return fmt::format("{:+.1f}", fraction * 100); }
std::string unsigned_points(double fraction) { return fmt::format("{:.1f}", fraction * 100); }

}  // namespace hbench

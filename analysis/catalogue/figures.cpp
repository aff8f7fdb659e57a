#include "analysis/catalogue/figures.hpp"

#include <fmt/format.h>

#include <set>

namespace hbench {

std::optional<Money> price_per_gpu_hour(const Profile& profile) {
  if (!profile.price) return std::nullopt;
  Money share = profile.price->per_node_hour;
  share.amount /= profile.gpus_per_node;
  return share;
}

std::optional<std::chrono::days> age_of(const Price& price, std::chrono::sys_days today) {
  const auto day = first_day(price.retrieved);
  return day ? std::optional(today - *day) : std::nullopt;
}

std::optional<BytesPerSecond> network_per_gpu(const Profile& profile) {
  if (profile.most_nodes == 1) return std::nullopt;
  return profile.node_rate() / profile.gpus_per_node;
}

std::string assumed_sections(const Profile& profile) {
  std::set<std::string> sections;
  for (const Figure& figure : profile.assumed()) {
    const std::size_t dot = figure.key.find('.');
    sections.insert(dot == std::string::npos ? "node" : figure.key.substr(0, dot));
  }
  return fmt::format("{}", fmt::join(sections, ", "));
}

}  // namespace hbench

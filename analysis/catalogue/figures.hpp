#pragma once

/// What a buyer compares clusters by, derived from the figures of their profiles. Pure.

#include <chrono>
#include <optional>
#include <string>

#include "collectives/network/profile.hpp"

namespace hbench {

/// A GPU's share of its node's price; empty where no price is known.
std::optional<Money> price_per_gpu_hour(const Profile& profile);

/// Prices that were stated longer ago are doubtful: those of one GPU moved by a third within five months of 2026.
inline constexpr std::chrono::days kOldPrice(90);
/// The most days that have passed since a price was stated, by the first day that its date may mean; empty where it has
/// no date.
std::optional<std::chrono::days> age_of(const Price& price, std::chrono::sys_days today);

/// A GPU's share of what its node's NICs carry, which streams (TCP) may not fill; empty where nothing joins nodes.
std::optional<BytesPerSecond> network_per_gpu(const Profile& profile);

/// Where figures are assumed: `local, network`; empty where every figure is stated.
std::string assumed_sections(const Profile& profile);

}  // namespace hbench

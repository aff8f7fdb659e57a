#pragma once

/// What a buyer compares clusters by, derived from the figures of their profiles. Pure.
///
/// Which profiles of a catalogue meet a buyer's conditions.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

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

/// The conditions in the words of their flags; empty where nothing is asked.
struct CatalogueTexts {
  std::string gpu;            ///< `h100,a100`: also `h100-sxm`
  std::string provider;       ///< `aws,google`
  std::string max_price;      ///< of a GPU for an hour: `5usd`
  std::string min_bandwidth;  ///< of a GPU between nodes: `100Gbit/s`
  bool none() const { return gpu.empty() && provider.empty() && max_price.empty() && min_bandwidth.empty(); }
};

/// The same, understood.
struct CatalogueFilter {
  std::vector<std::string> gpus, providers;  ///< in lower case; empty: any
  std::optional<Money> max_price;            ///< profiles without a price, or in another currency, do not meet it
  BytesPerSecond min_bandwidth;              ///< 0: any
};

/// \throws Error (usage) that names the flag.
CatalogueFilter parse_catalogue_filter(const CatalogueTexts& texts);

/// All profiles of a folder, by name. \throws Error (usage) for the first that cannot be read.
std::vector<Profile> all_profiles(const ProfileLibrary& library);

/// Those of `profiles` that meet every condition, in their order. \throws Error (usage) with a suggestion for a GPU or
/// provider that none has; where no profile meets them all, with what remains without each.
std::vector<Profile> matching_profiles(const std::vector<Profile>& profiles, const CatalogueFilter& filter);

}  // namespace hbench

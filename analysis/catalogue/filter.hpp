#pragma once

/// Which profiles of a catalogue meet a buyer's conditions.

#include <optional>
#include <string>
#include <vector>

#include "collectives/network/profile.hpp"

namespace hbench {

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

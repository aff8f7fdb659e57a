#pragma once

/// Prices from lists that others keep: SkyPilot's catalogue files (`catalogs/v8/<cloud>/vms.csv`), a row for each kind
/// of machine in each place. Profiles name their kind (`Profile::instance_type`).

#include <istream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "collectives/network/profile.hpp"

namespace hbench {

/// One file, and which of its prices count.
class PriceList {
 public:
  /// What is taken of a file.
  struct Wanted {
    PurchaseModel model = PurchaseModel::on_demand;  ///< or spot
    std::string region{};                            ///< empty: for each kind of machine the cheapest one
  };

  /// The columns `InstanceType`, `AcceleratorCount`, `Region` and `Price` (`SpotPrice` where spot prices are wanted)
  /// are found by their names; machines without GPUs are left out. `date` says when the prices were stated. \throws
  /// Error (usage) that names the file, and the line where there is one: for a column that is missing, a number that is
  /// none, and a region that no row has.
  PriceList(std::istream& in, std::string file_name, std::string date, Wanted wanted);

  const std::string& file_name() const { return file_name_; }
  /// Why the file has no price of a cluster, which may be because it names no kind of machine; empty where it has one.
  std::string refuses(const Profile& profile) const;
  /// \pre `refuses` nothing. The source names the file and how many regions there are.
  Price price_of(const Profile& profile) const;
  /// The kinds of machines with GPUs that have a price.
  std::vector<std::string> kinds() const;

 private:
  struct Offer {
    int gpus = 0;
    double per_hour = 0;
    std::string region;
    int regions = 0;  ///< that have a price
  };
  std::string file_name_, date_;
  Wanted wanted_;
  std::map<std::string, Offer, std::less<>> offers_;  ///< by kind of machine: the cheapest
};

/// What lists say about some clusters.
struct ListedPrices {
  std::vector<std::string> files;
  std::vector<std::string> taken;  ///< clusters whose price is a list's, by name
  /// Clusters that keep their own price although they name a kind of machine, with the reason of the last list.
  std::map<std::string, std::string> kept;
  int kinds = 0;      ///< of machines with GPUs in all lists
  int unmatched = 0;  ///< those that are no cluster's
};

/// Gives clusters the prices of the first list that has one.
ListedPrices take_prices(std::span<Profile* const> clusters, std::span<const PriceList> lists);

}  // namespace hbench

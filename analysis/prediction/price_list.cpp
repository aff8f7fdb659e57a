#include "analysis/prediction/price_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/published/csv.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/parse_number.hpp"

namespace hbench {
namespace {

std::size_t column_of(const CsvRow& header, std::string_view name, std::string_view file_name) {
  const auto found = std::ranges::find(header.fields, name);
  if (found != header.fields.end()) return static_cast<std::size_t>(found - header.fields.begin());
  throw Error(ExitCode::usage, fmt::format("{}: there is no column {}", file_name, name),
              "a list of prices has the columns of SkyPilot's vms.csv: InstanceType,AcceleratorCount,Price,SpotPrice,"
              "Region");
}

/// A number of at least 0; an empty field is 0.
double amount_of(const std::string& field, std::string_view column, std::string_view file_name, std::size_t line) {
  if (field.empty()) return 0;
  const auto number = parse_number<double>(field);
  if (number && std::isfinite(*number) && *number >= 0) return *number;
  throw Error(ExitCode::usage, fmt::format("{}:{}: {} is '{}'", file_name, line, column, field),
              "write a number, or leave it empty");
}

}  // namespace

PriceList::PriceList(std::istream& in, std::string file_name, std::string date, Wanted wanted)
    : file_name_(std::move(file_name)), date_(std::move(date)), wanted_(std::move(wanted)) {
  const std::vector<CsvRow> rows = read_csv(in, file_name_);
  if (rows.empty()) throw Error(ExitCode::usage, fmt::format("{} is empty", file_name_), "give a vms.csv of SkyPilot");
  const std::string_view paid = wanted_.model == PurchaseModel::spot ? "SpotPrice" : "Price";
  const auto column = [&](std::string_view name) { return column_of(rows.front(), name, file_name_); };
  const std::size_t kind = column("InstanceType"), count = column("AcceleratorCount"), place = column("Region"),
                    price = column(paid);
  std::map<std::string, std::set<std::string>> regions;
  bool has_region = wanted_.region.empty();
  for (const CsvRow& row : std::span(rows).subspan(1)) {
    const double gpus = amount_of(row.fields[count], "AcceleratorCount", file_name_, row.line);
    const double per_hour = amount_of(row.fields[price], paid, file_name_, row.line);
    const std::string& region = row.fields[place];
    has_region |= region == wanted_.region;
    if (gpus < 1 || per_hour == 0 || (!wanted_.region.empty() && region != wanted_.region)) continue;
    regions[row.fields[kind]].insert(region);
    Offer& offer = offers_[row.fields[kind]];
    if (offer.gpus > 0 && per_hour >= offer.per_hour) continue;
    offer = {.gpus = static_cast<int>(gpus), .per_hour = per_hour, .region = region};
  }
  if (!has_region)
    throw Error(ExitCode::usage, fmt::format("{}: no row is of the region '{}'", file_name_, wanted_.region),
                "leave --price-region out for the cheapest region of each machine");
  for (auto& [name, offer] : offers_) offer.regions = static_cast<int>(regions[name].size());
}

std::string PriceList::refuses(const Profile& profile) const {
  if (profile.instance_type.empty()) return "its profile names no instance_type";
  const auto offer = offers_.find(profile.instance_type);
  if (offer == offers_.end())
    return fmt::format("{} has no {} price of {}", file_name_, to_string(wanted_.model), profile.instance_type);
  if (offer->second.gpus != profile.gpus_per_node)
    return fmt::format("{} has {} GPUs in {} and {} in the profile", profile.instance_type, offer->second.gpus,
                       file_name_, profile.gpus_per_node);
  return {};
}

Price PriceList::price_of(const Profile& profile) const {
  const Offer& offer = offers_.at(profile.instance_type);
  const std::string others = offer.regions > 1 ? fmt::format(", the cheapest of {} regions", offer.regions) : "";
  return {
      .per_node_hour = {offer.per_hour, "USD"},
      .region = offer.region.empty() ? std::string(kNotStated) : offer.region,
      .retrieved = date_,
      .model = wanted_.model,
      .source = fmt::format("{}: {}{}; dated by the file's last change", file_name_, profile.instance_type, others)};
}

std::vector<std::string> PriceList::kinds() const {
  std::vector<std::string> kinds;
  for (const auto& [kind, offer] : offers_) kinds.push_back(kind);
  return kinds;
}

ListedPrices take_prices(std::span<Profile* const> clusters, std::span<const PriceList> lists) {
  ListedPrices listed;
  std::set<std::string> kinds, matched;
  for (const PriceList& list : lists) {
    listed.files.push_back(list.file_name());
    for (std::string& kind : list.kinds()) kinds.insert(std::move(kind));
  }
  for (Profile* cluster : clusters) {
    std::string why;
    const PriceList* found = nullptr;
    for (const PriceList& list : lists)
      if (found == nullptr && (why = list.refuses(*cluster)).empty()) found = &list;
    if (found != nullptr) {
      cluster->price = found->price_of(*cluster);
      listed.taken.push_back(cluster->name);
      matched.insert(cluster->instance_type);
    } else if (!cluster->instance_type.empty() && !lists.empty()) {
      listed.kept.emplace(cluster->name, why);
    }
  }
  listed.kinds = static_cast<int>(kinds.size());
  listed.unmatched = static_cast<int>(kinds.size() - matched.size());
  return listed;
}

}  // namespace hbench

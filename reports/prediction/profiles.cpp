#include "reports/prediction/profiles.hpp"

#include <fmt/format.h>

#include "analysis/catalogue/figures.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

/// `6.44 USD (spot)`
std::string price_text(const Profile& profile) {
  const auto price = price_per_gpu_hour(profile);
  if (!price) return "-";
  const PurchaseModel model = profile.price->model;
  return format(*price) + (model == PurchaseModel::on_demand ? "" : fmt::format(" ({})", to_string(model)));
}

void price_fields(Row& row, const Price& price, const Profile& profile) {
  const auto hourly = price_per_gpu_hour(profile);
  row.field("per_gpu_hour", hourly ? hourly->amount : 0);
  row.field("per_node_hour", price.per_node_hour.amount);
  row.field("currency", price.per_node_hour.currency);
  row.field("region", price.region);
  row.field("retrieved", price.retrieved, "when it was read");
  row.field("model", to_string(price.model), "how it is bought");
  row.field("source", price.source);
}

void assumed_fields(Row& row, const Figure& figure) {
  row.field("figure", figure.key, "that no source states");
  row.field("factor", figure.assumed, "by which it may be off");
}

void profile_fields(Row& row, const Profile& profile) {
  const auto network = network_per_gpu(profile);
  const std::string assumed = assumed_sections(profile);
  const auto rate = [&](double value) {
    return (assumed.find("network") != std::string::npos ? "~" : "") + format(BytesPerSecond(value));
  };
  const auto of_network = [&](BytesPerSecond value) { return if_known(network.has_value(), value.value); };
  const auto price = [&](Row& of, const Price& each) { price_fields(of, each, profile); };
  row.field("profile", profile.name).in("profile");
  row.field("title", profile.title).in("what", 6);
  row.field("provider", if_stated(profile.provider));
  row.field("instance_type", if_stated(profile.instance_type),
            "the provider's name of a node, as lists of prices have it");
  row.field("gpu", if_stated(profile.gpu)).in("GPU");
  row.field("gpus_per_node", profile.gpus_per_node).in("GPUs per node", 3);
  row.field("nodes_per_domain", profile.nodes_per_domain, "whose GPUs share an NVLink switch");
  row.field("most_nodes", if_positive(profile.most_nodes), "null: no limit is known");
  row.field("local_bytes_per_second", if_known(profile.gpus_per_domain() > 1, profile.local_rate.value),
            "within a node");
  row.field("path_bytes_per_second", of_network(profile.path_rate())).in("between two ranks", rate, 5);
  row.field("node_bytes_per_second", of_network(profile.node_rate())).in("per node", rate, 4);
  row.field("gpu_bytes_per_second", of_network(network.value_or(BytesPerSecond(0)))).in("network per GPU", rate);
  row.object("price", profile.price, price).in("price per GPU-hour", price_text(profile));
  row.words("as of", profile.price ? profile.price->retrieved : "-", 1);
  row.words("region", profile.price ? profile.price->region : "-", 3);
  row.words("assumed", or_dash(assumed), 2);
  row.rows("assumed", profile.assumed(), assumed_fields);
}

}  // namespace

Table profile_table(const std::vector<Profile>& profiles) {
  return table_of(profiles, profile_fields,
                  {.caption = "Network: a GPU's share of what its node's NICs carry; - where nothing joins nodes, ~ "
                              "where figures are assumed that no source states. Prices: of one GPU for an hour, on "
                              "demand where nothing else is said."});
}

std::string profiles_json(const std::vector<Profile>& profiles, Form form) {
  return rows_text(form, "hbench list profiles --json", profiles, profile_fields);
}

}  // namespace hbench

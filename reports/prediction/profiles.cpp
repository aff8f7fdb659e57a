#include "reports/prediction/profiles.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/catalogue/figures.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// `6.44 USD (spot)`
std::string price_text(const Profile& profile) {
  const auto price = price_per_gpu_hour(profile);
  if (!price) return "-";
  const PurchaseModel model = profile.price->model;
  return format(*price) + (model == PurchaseModel::on_demand ? "" : fmt::format(" ({})", to_string(model)));
}

Json price_json(const Profile& profile) {
  if (!profile.price) return {};
  const Price& price = *profile.price;
  return {{"per_gpu_hour", price_per_gpu_hour(profile)->amount},
          {"per_node_hour", price.per_node_hour.amount},
          {"currency", price.per_node_hour.currency},
          {"region", price.region},
          {"retrieved", price.retrieved},
          {"model", to_string(price.model)},
          {"source", price.source}};
}

Json profile_json(const Profile& profile) {
  Json assumed = Json::array();
  for (const Figure& figure : profile.assumed())
    assumed.push_back({{"figure", figure.key}, {"factor", figure.assumed}});
  const auto network = network_per_gpu(profile);
  return {{"profile", profile.name},
          {"title", profile.title},
          {"provider", text_or_null(profile.provider)},
          {"gpu", text_or_null(profile.gpu)},
          {"gpus_per_node", profile.gpus_per_node},
          {"most_nodes", profile.most_nodes > 0 ? Json(profile.most_nodes) : Json()},
          {"local_bytes_per_second", profile.gpus_per_node > 1 ? Json(profile.local_rate.value) : Json()},
          {"path_bytes_per_second", network ? Json(profile.path_rate().value) : Json()},
          {"node_bytes_per_second", network ? Json(profile.node_rate().value) : Json()},
          {"gpu_bytes_per_second", network ? Json(network->value) : Json()},
          {"price", price_json(profile)},
          {"assumed", assumed}};
}

}  // namespace

Table profile_table(const std::vector<Profile>& profiles) {
  Table table{.caption =
                  "Network: a GPU's share of what its node's NICs carry; - where nothing joins nodes, ~ where "
                  "figures are assumed that no source states. Prices: of one GPU for an hour, on demand where "
                  "nothing else is said.",
              .columns = {"profile", "what", "GPU", "GPUs per node", "between two ranks", "per node", "network per GPU",
                          "price per GPU-hour", "as of", "region", "assumed"},
              .numeric = {false, false, false, true, true, true, true, true, false, false, false},
              .priority = {0, 6, 0, 3, 5, 4, 0, 0, 1, 3, 2}};
  for (const Profile& profile : profiles) {
    const auto network = network_per_gpu(profile);
    const std::string assumed = assumed_sections(profile);
    const std::string mark = assumed.find("network") != std::string::npos ? "~" : "";
    table.rows.push_back({profile.name, profile.title, or_dash(profile.gpu), std::to_string(profile.gpus_per_node),
                          network ? mark + format(profile.path_rate()) : "-",
                          network ? mark + format(profile.node_rate()) : "-", network ? mark + format(*network) : "-",
                          price_text(profile), profile.price ? profile.price->retrieved : "-",
                          profile.price ? profile.price->region : "-", or_dash(assumed)});
  }
  return table;
}

std::string profiles_json(const std::vector<Profile>& profiles) {
  Json rows = Json::array();
  for (const Profile& profile : profiles) rows.push_back(profile_json(profile));
  return rows.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hbench

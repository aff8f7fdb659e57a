#include "reports/catalogue/profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/catalogue/figures.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// A figure's number in its base unit, and which unit that is.
struct Amount {
  double value = 0;
  char unit = 0;  ///< 's', 'B' for bytes/s, 'F' for TFLOP/s, 'n' for plain numbers and samples/s
};

/// What a text that `Profile` has read says as a quantity; empty where it is a name.
std::optional<Amount> amount_of(std::string_view text) {
  constexpr std::string_view kSamples = " samples/s";
  if (text.ends_with(kSamples)) text.remove_suffix(kSamples.size());
  if (const auto number = parse_number<double>(text)) return Amount{*number, 'n'};
  if (text.empty() || !(text.front() >= '0' && text.front() <= '9')) return std::nullopt;
  try {
    constexpr std::array<Unit, 1> kPeak{{{"TFLOP/s", 1}}};
    if (const auto peak = parse_amount(text, kPeak)) return Amount{*peak, 'F'};
    if (text.ends_with("/s")) return Amount{parse_rate(text).value, 'B'};
    return Amount{parse_seconds(text).value, 's'};
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<double> ratio_of(const std::string& a, const std::string& b) {
  const auto left = amount_of(a), right = amount_of(b);
  if (!left || !right || left->unit != right->unit || left->value == 0) return std::nullopt;
  return right->value / left->value;
}

/// By key; of the same key the last counts.
std::map<std::string, Figure> by_key(const Profile& profile) {
  std::map<std::string, Figure> figures;
  for (const Figure& figure : profile.figures) figures[figure.key] = figure;
  // It stands beside the price.
  figures.erase("price.source");
  // The file's own memory rate goes before the GPU's; one row is enough for both.
  if (figures.contains("compute.memory_rate")) figures.erase("gpu.memory_rate");
  return figures;
}

std::string figure_text(const Figure& figure) {
  return figure.assumed > 1 ? fmt::format("{} (assumed)", figure.text) : figure.text;
}

template <class Value>
FigurePair derived(std::string key, const std::optional<Value>& a, const std::optional<Value>& b) {
  FigurePair pair{.key = std::move(key), .a = a ? format(*a) : "", .b = b ? format(*b) : ""};
  return pair;
}

void add_derived(std::vector<FigurePair>& pairs, const Profile& a, const Profile& b) {
  const auto joined = [](const Profile& profile, BytesPerSecond rate) {
    return profile.most_nodes == 1 ? std::nullopt : std::optional(rate);
  };
  const auto add_rate = [&](const char* key, std::optional<BytesPerSecond> left, std::optional<BytesPerSecond> right) {
    pairs.push_back(derived(key, left, right));
    if (left && right) pairs.back().ratio = right->value / left->value;
  };
  add_rate("between two ranks of two nodes", joined(a, a.path_rate()), joined(b, b.path_rate()));
  add_rate("between nodes, per node", joined(a, a.node_rate()), joined(b, b.node_rate()));
  add_rate("between nodes, per GPU", network_per_gpu(a), network_per_gpu(b));
  const auto price_a = price_per_gpu_hour(a), price_b = price_per_gpu_hour(b);
  pairs.push_back(derived("price of a GPU-hour", price_a, price_b));
  if (price_a && price_b && price_a->currency == price_b->currency)
    pairs.back().ratio = price_b->amount / price_a->amount;
}

/// The pairs to show.
std::vector<FigurePair> chosen(const Profile& a, const Profile& b, bool all) {
  std::vector<FigurePair> pairs = compare_profiles(a, b);
  std::erase_if(pairs,
                [&](const FigurePair& pair) { return (pair.a.empty() && pair.b.empty()) || !(all || pair.differs()); });
  return pairs;
}

/// One figure of the profiles called `a` and `b`.
void pair_fields(Row& row, const FigurePair& pair, const std::string& a, const std::string& b) {
  row.field("figure", pair.key).in("figure");
  row.field("a", if_stated(pair.a), "null: it has none").in(a);
  row.field("b", if_stated(pair.b), "null: it has none").in(b);
  row.field("ratio", pair.ratio, "b / a").in("ratio", [](double ratio) { return fmt::format("{:.3g}", ratio); });
  row.field("source_a", if_stated(pair.source_a));
  row.field("source_b", if_stated(pair.source_b));
}

/// Who states the figures: a row for each source, with all figures that one profile has from it.
Table source_table(const Profile& a, const Profile& b, const std::vector<FigurePair>& pairs) {
  Table table{.caption = "Where they are from", .columns = {"of", "figures", "source"}};
  const auto add = [&](const std::string& of, const std::string& key, const std::string& source) {
    if (source.empty() || source.starts_with("stated in")) return;
    for (auto& row : table.rows)
      if (row[0] == of && row[2] == source) {
        row[1] += ", " + key;
        return;
      }
    table.rows.push_back({of, key, source});
  };
  for (const FigurePair& pair : pairs) {
    const bool same = pair.source_a == pair.source_b;
    add(same ? "both" : a.name, pair.key, pair.source_a);
    if (!same) add(b.name, pair.key, pair.source_b);
  }
  return table;
}

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

std::vector<FigurePair> compare_profiles(const Profile& a, const Profile& b) {
  std::vector<FigurePair> pairs;
  add_derived(pairs, a, b);
  const std::map<std::string, Figure> left = by_key(a), right = by_key(b);
  std::map<std::string, FigurePair> figures;
  for (const auto& [key, figure] : left) {
    figures[key] = {.key = key, .a = figure_text(figure), .source_a = figure.source};
  }
  for (const auto& [key, figure] : right) {
    FigurePair& pair = figures[key];
    pair.key = key;
    pair.b = figure_text(figure);
    pair.source_b = figure.source;
    if (const auto other = left.find(key); other != left.end()) pair.ratio = ratio_of(other->second.text, figure.text);
  }
  for (auto& [key, pair] : figures) pairs.push_back(std::move(pair));
  return pairs;
}

Document difference_document(const Profile& a, const Profile& b, bool all) {
  const std::vector<FigurePair> pairs = chosen(a, b, all);
  if (pairs.empty()) return {.blocks = {Paragraph{fmt::format("{} and {} state the same figures.", a.name, b.name)}}};
  Table table =
      table_of(pairs, [&](Row& row, const FigurePair& pair) { pair_fields(row, pair, a.name, b.name); },
               {.caption = fmt::format("{} figures: ratio is {} / {}", all ? "All" : "Different", b.name, a.name)});
  Document document{.blocks = {std::move(table)}};
  document.add_table(source_table(a, b, pairs));
  return document;
}

std::string difference_json(const Profile& a, const Profile& b, bool all, Form form) {
  return object_text(form, "hbench profile diff --json", a, [&](Row& row, const Profile&) {
    row.field("a", a.name);
    row.field("b", b.name);
    row.rows("figures", chosen(a, b, all),
             [&](Row& of, const FigurePair& pair) { pair_fields(of, pair, a.name, b.name); });
  });
}

std::string findings_json(const std::vector<ProfileFinding>& findings, Form form) {
  return rows_text(form, "hbench profile check --json", findings, [](Row& row, const ProfileFinding& finding) {
    row.field("place", finding.place, "the file, and its line where there is one");
    row.field("severity", to_string(finding.severity), "error, warning or note");
    row.field("what", finding.what);
  });
}

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

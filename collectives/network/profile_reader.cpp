#include "collectives/network/profile_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

/// No figure is assumed so wildly that it says nothing.
constexpr double kMostAssumed = 100;

struct Value {
  std::string text;
  std::optional<double> number;
  std::string source;
  double assumed = 1;
};

std::optional<Value> plain_value(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return Value{.text = *text};
  if (const auto whole = node.value_exact<std::int64_t>())
    return Value{.text = fmt::format("{}", *whole), .number = static_cast<double>(*whole)};
  if (const auto number = node.value_exact<double>())
    return Value{.text = fmt::format("{}", *number), .number = *number};
  return std::nullopt;
}

/// `assumed = true`, or the factor by which the figure may be off.
double read_assumed(const toml::node& node, std::string_view key, std::string_view file_name) {
  const auto flag = node.value_exact<bool>();
  if (flag && *flag) return kAssumedFactor;
  const auto factor = flag ? std::optional<double>() : node.value<double>();
  if (factor && *factor > 1 && *factor <= kMostAssumed) return *factor;
  throw Error(ExitCode::usage,
              fmt::format("{}: 'assumed' of '{}' is neither true nor a factor above 1", place_in(file_name, node), key),
              fmt::format("write assumed = true, or the factor (at most {}) by which the figure may be off; leave it "
                          "out for a figure that its source states",
                          kMostAssumed));
}

Value read_value(const toml::node& node, std::string_view key, std::string_view file_name) {
  if (auto value = plain_value(node)) return *value;
  const toml::table* table = node.as_table();
  if (table == nullptr)
    throw Error(ExitCode::usage, fmt::format("{}: '{}' must be a figure", place_in(file_name, node), key),
                "write a number, a text with a unit, or { value = ..., source = \"...\" }");
  for (const auto& [name, entry] : *table)
    if (name != "value" && name != "source" && name != "assumed")
      throw Error(ExitCode::usage,
                  fmt::format("{}: unknown key '{}' in '{}'", place_in(file_name, entry), name.str(), key),
                  "a figure has 'value' and 'source', and may be 'assumed'");
  const toml::node* inner = table->get("value");
  auto value = inner != nullptr ? plain_value(*inner) : std::nullopt;
  if (!value) throw Error(ExitCode::usage, fmt::format("{}: '{}' has no value", place_in(file_name, node), key));
  if (const toml::node* source = table->get("source")) {
    const auto text = source->value_exact<std::string>();
    if (!text || text->empty())
      throw Error(ExitCode::usage,
                  fmt::format("{}: the source of '{}' must be text", place_in(file_name, *source), key),
                  "say where the figure comes from, or leave 'source' out");
    value->source = *text;
  }
  if (const toml::node* assumed = table->get("assumed")) value->assumed = read_assumed(*assumed, key, file_name);
  return *value;
}

}  // namespace

void read_section(const toml::table& table, std::string_view section, std::string_view file_name,
                  const std::vector<FigureKey>& keys, const std::vector<std::string_view>& other_keys,
                  std::vector<Figure>& figures) {
  const toml::table* entries = &table;
  if (!section.empty()) {
    const toml::node* node = table.get(section);
    if (node != nullptr && node->as_table() == nullptr)
      throw Error(ExitCode::usage,
                  fmt::format("{}: '{}' must be a section [{}]", place_in(file_name, *node), section, section));
    static const toml::table kNothing;
    entries = node != nullptr ? node->as_table() : &kNothing;
  }
  const std::string prefix = section.empty() ? "" : fmt::format("{}.", section);
  std::vector<std::string_view> known = other_keys;
  for (const FigureKey& key : keys) known.push_back(key.name);
  for (const auto& [name, node] : *entries) {
    if (std::ranges::find(known, name.str()) != known.end()) continue;
    const std::string meant = nearest_name(name.str(), known);
    throw Error(ExitCode::usage, fmt::format("{}: unknown key '{}{}'", place_in(file_name, node), prefix, name.str()),
                meant.empty() ? fmt::format("known here: {}", fmt::join(known, ", "))
                              : fmt::format("did you mean '{}'?", meant));
  }
  for (const FigureKey& key : keys) {
    const toml::node* node = entries->get(key.name);
    if (node == nullptr) {
      if (!key.required) continue;
      throw Error(ExitCode::usage, fmt::format("{}: '{}{}' is missing", file_name, prefix, key.name),
                  "cluster-profiles/README.md lists every key");
    }
    const Value value = read_value(*node, key.name, file_name);
    try {
      key.apply(value.text, value.number);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}{}: {}", place_in(file_name, *node), prefix, key.name, error.what()),
                  error.hint());
    }
    figures.push_back({.key = prefix + std::string(key.name),
                       .text = value.text,
                       .source = value.source.empty() ? fmt::format("stated in {}", file_name) : value.source,
                       .assumed = value.assumed,
                       .place = place_in(file_name, *node)});
  }
}

}  // namespace hbench

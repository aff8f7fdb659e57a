#include "collectives/network/profile_reader.hpp"

#include <fmt/format.h>

#include <array>

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
double read_assumed(const TomlReader& read, const toml::node& node, std::string_view key) {
  const auto flag = node.value_exact<bool>();
  if (flag && *flag) return kAssumedFactor;
  const auto factor = flag ? std::optional<double>() : node.value<double>();
  if (factor && *factor > 1 && *factor <= kMostAssumed) return *factor;
  read.fail(node, fmt::format("'assumed' of '{}' is neither true nor a factor above 1", key),
            fmt::format("write assumed = true, or the factor (at most {}) by which the figure may be off; leave it out "
                        "for a figure that its source states",
                        kMostAssumed));
}

Value read_value(const TomlReader& read, const toml::node& node, std::string_view key) {
  if (auto value = plain_value(node)) return *value;
  const toml::table& table = read.table(node, fmt::format("'{}' must be a figure", key),
                                        "write a number, a text with a unit, or { value = ..., source = \"...\" }");
  read.check_keys(table, std::array<std::string_view, 3>{"value", "source", "assumed"}, "",
                  fmt::format(" in '{}'", key));
  const toml::node* inner = table.get("value");
  auto value = inner != nullptr ? plain_value(*inner) : std::nullopt;
  if (!value) read.fail(node, fmt::format("'{}' has no value", key));
  if (const toml::node* source = table.get("source"))
    value->source = read.text(*source, fmt::format("the source of '{}' must be text", key), kSourceHelp);
  if (const toml::node* assumed = table.get("assumed")) value->assumed = read_assumed(read, *assumed, key);
  return *value;
}

}  // namespace

std::string text_alone(std::string_view text, std::optional<double> number) {
  if (number) throw Error(ExitCode::usage, fmt::format("{} is not a text", text), "write it in quotes");
  return std::string(text);
}

void read_section(const TomlReader& read, const toml::table& table, std::string_view section,
                  const std::vector<FigureKey>& keys, const std::vector<std::string_view>& other_keys,
                  std::vector<Figure>& figures) {
  static const toml::table kNothing;
  const toml::node* node = section.empty() ? &table : table.get(section);
  const toml::table& entries =
      node == nullptr ? kNothing : read.table(*node, fmt::format("'{}' must be a section [{}]", section, section));
  const std::string prefix = section.empty() ? "" : fmt::format("{}.", section);
  std::vector<std::string_view> known = other_keys;
  for (const FigureKey& key : keys) known.push_back(key.name);
  read.check_keys(entries, known, prefix);
  for (const FigureKey& key : keys) {
    if (!key.required && !entries.contains(key.name)) continue;
    const toml::node& entry = read.required(entries, key.name, prefix, kProfileHelp);
    const Value value = read_value(read, entry, key.name);
    read.at(
        entry, [&] { key.apply(value.text, value.number); }, fmt::format("{}{}: ", prefix, key.name));
    figures.push_back({.key = prefix + std::string(key.name),
                       .text = value.text,
                       .source = value.source.empty() ? fmt::format("stated in {}", read.file()) : value.source,
                       .assumed = value.assumed,
                       .place = read.place(entry)});
  }
}

}  // namespace hbench

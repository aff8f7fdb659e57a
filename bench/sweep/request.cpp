#include "bench/sweep/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/toml_reader.hpp"

namespace hbench {
namespace {

constexpr std::array<std::string_view, 3> kKeys{"workers", "gpus_per_worker", "processes_per_gpu"};
constexpr std::int64_t kMost = 100'000;

/// The numbers of each key.
using Knobs = std::map<std::string, std::vector<int>, std::less<>>;

[[noreturn]] void fail(const std::string& place, const std::string& what) {
  throw Error(ExitCode::usage, fmt::format("{}: {}", place, what), "write such as workers = [1, 2, 4]");
}

void check_key(const std::string& place, std::string_view key) {
  if (std::ranges::find(kKeys, key) != kKeys.end()) return;
  const Error unknown = unknown_name("key", key, kKeys);
  throw Error(ExitCode::usage, fmt::format("{}: {}", place, unknown.what()), unknown.hint());
}

void add(Knobs& knobs, const std::string& place, std::string_view key, std::int64_t number) {
  if (number < 1 || number > kMost) fail(place, fmt::format("{} is a number from 1 to {}", key, kMost));
  knobs[std::string(key)].push_back(static_cast<int>(number));
}

Knobs read_toml(std::string_view text, const std::string& file) {
  Knobs knobs;
  for (const auto& [key, node] : parse_toml(text, file)) {
    const std::string place = TomlReader(file).place(node);
    check_key(place, key.str());
    const auto take = [&](const toml::node& each) {
      const auto number = each.value_exact<std::int64_t>();
      if (!number) fail(place, fmt::format("{} is a number or a list of numbers", key.str()));
      add(knobs, place, key.str(), *number);
    };
    if (const toml::array* list = node.as_array())
      for (const toml::node& each : *list) take(each);
    else
      take(node);
    if (knobs[std::string(key.str())].empty()) fail(place, fmt::format("{} lists nothing", key.str()));
  }
  return knobs;
}

/// `4` or `[1, 2]`.
void add_yaml_value(Knobs& knobs, const std::string& place, std::string_view key, std::string_view value) {
  if (value.starts_with('[') && value.ends_with(']')) value = value.substr(1, value.size() - 2);
  for (const std::string_view item : split(value, ',')) {
    const auto number = parse_number<std::int64_t>(trimmed(item));
    if (!number) fail(place, fmt::format("{} is a number or a list of numbers", key));
    add(knobs, place, key, *number);
  }
}

/// No YAML in general: a key and its value a line.
Knobs read_yaml(std::string_view text, const std::string& file) {
  Knobs knobs;
  int number = 0;
  for (std::string_view line : lines_of(text)) {
    ++number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty() || line == "---") continue;
    const std::string place = fmt::format("{}:{}", file, number);
    const std::size_t colon = line.find(':');
    if (colon == line.npos) fail(place, "this is no key with a value");
    const std::string_view key = trimmed(line.substr(0, colon));
    check_key(place, key);
    if (knobs.contains(key)) fail(place, fmt::format("{} is there twice", key));
    add_yaml_value(knobs, place, key, trimmed(line.substr(colon + 1)));
  }
  return knobs;
}

}  // namespace

std::vector<NodeLayout> parse_experiment(std::string_view text, const std::string& file) {
  Knobs knobs = file.ends_with(".yaml") || file.ends_with(".yml") ? read_yaml(text, file) : read_toml(text, file);
  if (knobs.empty()) fail(file, fmt::format("it has none of {}, {} and {}", kKeys[0], kKeys[1], kKeys[2]));
  const auto of = [&](std::string_view key) {
    const auto found = knobs.find(key);
    return found == knobs.end() ? std::vector{1} : found->second;
  };
  std::set<NodeLayout> layouts;
  for (const int nodes : of(kKeys[0]))
    for (const int gpus : of(kKeys[1]))
      for (const int processes : of(kKeys[2])) {
        if (std::int64_t{nodes} * gpus * processes > kMost)
          fail(file, fmt::format("{} x {} x {} are more than {} ranks", nodes, gpus, processes, kMost));
        layouts.insert({nodes, gpus, processes});
      }
  std::vector<NodeLayout> sorted(layouts.begin(), layouts.end());
  std::ranges::stable_sort(sorted, {}, &NodeLayout::ranks);
  return sorted;
}

}  // namespace hbench

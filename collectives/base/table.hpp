#pragma once

/// Tables of named entries: algorithms, compressors, fusion policies, verbs, reports ...
///
/// A family is a `std::span<const T* const>` of constants, each defined in its own file and listed in
/// one table file. There is no registry object, no macro and no static constructor.

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/error.hpp"

namespace hbench {

/// The name among `known` nearest to `word`, or empty when none is near enough to be meant.
std::string nearest_name(std::string_view word, std::span<const std::string_view> known);

/// The error for an unknown name: `no <what> 'rng'; did you mean 'ring'?` and the list as hint; of a long one that a
/// command prints (`listing`: `hbench list profiles`) the nearest, and that command.
Error unknown_name(std::string_view what, std::string_view word, std::span<const std::string_view> known,
                   std::string_view listing = {});

/// The names of a family, in table order.
template <class T>
std::vector<std::string_view> names_of(std::span<const T* const> table) {
  std::vector<std::string_view> names;
  for (const T* entry : table) names.push_back(entry->name);
  return names;
}

/// The entry called `name`. \throws Error (usage) with a suggestion when there is none.
template <class T>
const T& find_entry(std::span<const T* const> table, std::string_view name, std::string_view what) {
  auto found = std::ranges::find_if(table, [&](const T* entry) { return entry->name == name; });
  if (found == table.end()) throw unknown_name(what, name, names_of(table));
  return **found;
}

/// The same of a table of values.
template <class T>
std::vector<std::string_view> names_of(std::span<const T> table) {
  std::vector<std::string_view> names;
  for (const T& entry : table) names.push_back(entry.name);
  return names;
}
template <class T>
const T& find_entry(std::span<const T> table, std::string_view name, std::string_view what) {
  const auto found = std::ranges::find_if(table, [&](const T& entry) { return entry.name == name; });
  if (found == table.end()) throw unknown_name(what, name, names_of(table));
  return *found;
}

}  // namespace hbench

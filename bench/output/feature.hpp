#pragma once

/// A feature: what the program has by its name in `bench/features.cmake`, and has not without it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/prediction/data.hpp"
#include "bench/command/verb.hpp"
#include "reports/document/document.hpp"

namespace hbench {

/// The JSON Schema of an answer that a verb prints with --json.
struct PublishedSchema {
  std::string_view file;    ///< `choose-1`; the number is raised where a field gets another meaning
  std::string (*schema)();  ///< its text
};

/// A family as a table, which `hbench list` prints.
struct Listing {
  std::string_view name;  ///< `algorithms`
  std::string_view summary;
  Table (*table)(const Data& data);
  /// The column that is about this machine; empty: none. Left out of what is kept, such as the README.
  std::string_view machine_column = {};
};

struct Feature {
  std::span<const Verb* const> verbs;
  std::span<const PublishedSchema> schemas = {};
  std::span<const Listing> listings = {};
};

/// Of `bench/features.cmake`, in its order.
std::span<const Feature* const> features();

/// Returns what the core has of a kind, and then what each feature adds to it.
template <class Entry>
std::vector<Entry> with_features(std::span<const Entry> core, std::span<const Entry> Feature::*part) {
  std::vector<Entry> all(core.begin(), core.end());
  for (const Feature* feature : features()) all.insert(all.end(), (feature->*part).begin(), (feature->*part).end());
  return all;
}

}  // namespace hbench

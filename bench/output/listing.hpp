#pragma once

/// The families of hbench as tables: what `hbench list` prints and the README is generated from.

#include <span>
#include <string_view>

#include "analysis/prediction/data.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// One family.
struct Listing {
  std::string_view name;  ///< `algorithms`
  std::string_view summary;
  Table (*table)(const Data& data);
  /// The column that is about this machine; empty: none. Left out of what is kept, such as the README.
  std::string_view machine_column = {};
};

std::span<const Listing> listings();
/// A family for machines: an array with an object for each entry, whose names are the columns'.
std::string listing_json(const Table& table, Form form = Form::values);

/// Explains which all-reduce `auto` takes for which size, and why, for `workers` workers on the cluster of `profile`.
Document explain_algorithms(const Profile& profile, int workers);

}  // namespace hbench

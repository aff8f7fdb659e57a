#pragma once

/// The families of hbench as tables: what `hbench list` prints and the README is generated from.

#include <span>

#include "bench/output/feature.hpp"
#include "collectives/base/library.hpp"
#include "reports/document/document.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

std::span<const Listing> listings();
/// A family for machines: an array with an object for each entry, whose names are the columns'.
std::string listing_json(const Table& table, Form form = Form::values);

/// Explains which all-reduce `auto` takes for which size, and why, for `workers` workers on the cluster of `profile`.
Document explain_algorithms(const Profile& profile, int workers);

/// `available`, or why it is not and what to do about it.
std::string state_text(const Availability& availability);

}  // namespace hbench

#pragma once

/// The spans of traced steps. Within a transaction of the caller's.

#include <cstdint>
#include <vector>

#include "analysis/records/records.hpp"
#include "analysis/store/sqlite.hpp"

namespace hbench::store {

/// Of steps that the case has no spans of.
void insert_spans(Database& database, std::int64_t case_id, const std::vector<TracedStep>& steps);
/// By launch and step; none in a database of a schema before 8. \throws Error (wrong_data) for a kind or lane that this
/// version does not know, and for a span that no rank writes.
std::vector<TracedStep> select_spans(Database& database, std::int64_t case_id);

}  // namespace hbench::store

#pragma once

/// Launches that join a case after it was inserted.

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/records/records.hpp"
#include "analysis/store/sqlite.hpp"

namespace hbench::store {

/// The done case of a run that answers this question at this place.
std::optional<std::int64_t> find_case(Database& database, std::int64_t run, const Case& asked);
/// Adds samples after those that the case has. \throws Error (wrong_data) for a value that is not a number.
void add_samples(Database& database, std::int64_t case_id, const std::vector<Sample>& samples);

}  // namespace hbench::store

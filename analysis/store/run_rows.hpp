#pragma once

/// Whole runs: how large they are, and their removal. Within a transaction of the caller's.

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/records/records.hpp"
#include "analysis/store/sqlite.hpp"

namespace hbench::store {

/// What a run holds.
struct RunSize {
  std::int64_t cases = 0, samples = 0;
};
RunSize size_of_run(Database& database, std::int64_t run);

/// The run with this UUID, if it is there.
std::optional<std::int64_t> find_run(Database& database, const std::string& uuid);
/// The done case of a run that answers this question at this place.
std::optional<std::int64_t> find_case(Database& database, std::int64_t run, const Case& asked);

/// The run's cases with their samples; the run stays.
void remove_cases(Database& database, std::int64_t run);
/// The run with all that it holds, and what was said of it.
void remove_run(Database& database, std::int64_t run);

}  // namespace hbench::store

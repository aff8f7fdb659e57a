#pragma once

/// Whole runs: how large they are, and their removal. Within a transaction of the caller's.
///
/// What was said of runs: acceptances, frozen baselines and verdicts. Within a transaction of the caller's. Of a
/// database of a schema that had no such words, nothing was said.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/records/judgements.hpp"
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

void insert(Database& database, const Acceptance& acceptance);
std::vector<Acceptance> select_acceptances(Database& database);

/// Adds its runs to those that have the name already.
void insert(Database& database, const FrozenBaseline& frozen);
void remove_frozen(Database& database, const std::string& name);
/// In the order of their names.
std::vector<FrozenBaseline> select_frozen(Database& database);

/// With all its verdicts; its number.
std::int64_t insert(Database& database, const StoredJudgement& judgement);
/// Of one run, oldest first.
std::vector<StoredJudgement> select_judgements(Database& database, std::int64_t run);

/// All that was said of a run of another database, of its number `from` there, is said of the run `to` here too.
void merge_words(Database& source, std::int64_t from, Database& into, std::int64_t to);
/// All that was said of a run is forgotten.
void remove_words(Database& database, std::int64_t run);

}  // namespace hbench::store

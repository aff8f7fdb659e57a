#pragma once

/// What was said of runs: acceptances, frozen baselines and verdicts. Within a transaction of the caller's. Of a
/// database of a schema that had no such words, nothing was said.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/records/judgements.hpp"
#include "analysis/store/sqlite.hpp"

namespace hbench::store {

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

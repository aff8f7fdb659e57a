#pragma once

/// Records as rows and back.
///
/// The spans of traced steps. Within a transaction of the caller's.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "analysis/store/sqlite.hpp"

namespace hbench::store {

/// Inserts the run with its environment and labels; its id. A run without a UUID gets a random one.
std::int64_t insert(Database& database, const Run& run);
/// Inserts the case with its samples and spans. \throws Error (wrong_data) for a value that is not a number.
void insert(Database& database, std::int64_t run, const CaseResult& result);

/// Adds samples after those that the case has. \throws Error (wrong_data) for a value that is not a number.
void add_samples(Database& database, std::int64_t case_id, const std::vector<Sample>& samples);

/// In the order in which they started.
std::vector<Run> select_runs(Database& database);
/// See `Store`, whose methods these are.
std::set<std::string> select_finished(Database& database);
std::vector<CaseResult> select_newest(Database& database, const RunFilter& of);
std::vector<CaseResult> select_history(Database& database, const std::string& question, const std::string& place);
std::vector<CaseResult> select_baselines(Database& database);
/// Every case of a run, failed ones too, in the order in which they were stored; with the spans of its traced steps
/// where these are asked for.
std::vector<CaseResult> select_of_run(Database& database, std::int64_t run, bool with_spans = false);

/// Gives every case the keys of today's list of fields, which a migration cannot say in SQL.
void complete_cases(Database& database);

/// Of steps that the case has no spans of.
void insert_spans(Database& database, std::int64_t case_id, const std::vector<TracedStep>& steps);
/// By launch and step; none in a database of a schema before 8. \throws Error (wrong_data) for a kind or lane that this
/// version does not know, and for a span that no rank writes.
std::vector<TracedStep> select_spans(Database& database, std::int64_t case_id);

}  // namespace hbench::store

#include "analysis/store/run_rows.hpp"

#include "analysis/store/judgement_rows.hpp"

namespace hbench::store {

RunSize size_of_run(Database& database, std::int64_t run) {
  Statement row(database,
                "SELECT count(*), coalesce(sum((SELECT count(*) FROM sample WHERE case_id = scaling_case.id)), 0) "
                "FROM scaling_case WHERE run_id = ?");
  row.bind(run);
  row.step();
  return {.cases = row.integer(0), .samples = row.integer(1)};
}

std::optional<std::int64_t> find_run(Database& database, const std::string& uuid) {
  // The second condition is that of the index.
  Statement row(database, "SELECT id FROM run WHERE uuid = ? AND uuid != ''");
  row.bind(uuid);
  return row.step() ? std::optional(row.integer(0)) : std::nullopt;
}

std::optional<std::int64_t> find_case(Database& database, std::int64_t run, const Case& asked) {
  // The plus keeps SQLite from reading all cases of the run, by their index, for each.
  Statement row(database,
                "SELECT max(id) FROM scaling_case WHERE +run_id = ? AND question = ? AND place = ? AND status = 'done' "
                "HAVING max(id) IS NOT NULL");
  row.bind(run, asked.question(), asked.place());
  return row.step() ? std::optional(row.integer(0)) : std::nullopt;
}

void remove_cases(Database& database, std::int64_t run) {
  for (const char* sql : {"DELETE FROM span WHERE case_id IN (SELECT id FROM scaling_case WHERE run_id = ?)",
                          "DELETE FROM sample WHERE case_id IN (SELECT id FROM scaling_case WHERE run_id = ?)",
                          "DELETE FROM scaling_case WHERE run_id = ?"})
    Statement(database, sql).run(run);
}

void remove_run(Database& database, std::int64_t run) {
  remove_cases(database, run);
  remove_words(database, run);
  for (const char* sql : {"DELETE FROM environment WHERE run_id = ?", "DELETE FROM label WHERE run_id = ?",
                          "DELETE FROM run WHERE id = ?"})
    Statement(database, sql).run(run);
}

}  // namespace hbench::store

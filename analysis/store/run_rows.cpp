#include "analysis/store/run_rows.hpp"

#include <algorithm>
#include <limits>

namespace hbench::store {
namespace {

/// SQLite stores NULL for it.
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

void insert_verdict(Database& database, std::int64_t judgement, const StoredVerdict& verdict) {
  const auto figure = [&](double value) { return verdict.compared ? value : kNothing; };
  Statement(database,
            "INSERT INTO verdict (judgement_id, question, verdict, reason, launches, before, after, shift, shift_low, "
            "shift_high, p, p_corrected) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(judgement, verdict.question, verdict.verdict, verdict.reason, verdict.launches, figure(verdict.before),
           figure(verdict.after), figure(verdict.shift), figure(verdict.interval.low), figure(verdict.interval.high),
           figure(verdict.p), figure(verdict.corrected));
}

std::vector<StoredVerdict> select_verdicts(Database& database, std::int64_t judgement) {
  std::vector<StoredVerdict> verdicts;
  Statement row(database,
                "SELECT id, question, verdict, reason, launches, before IS NOT NULL, before, after, shift, shift_low, "
                "shift_high, p, p_corrected FROM verdict WHERE judgement_id = ? ORDER BY id");
  row.bind(judgement);
  while (row.step()) {
    StoredVerdict& verdict = verdicts.emplace_back();
    verdict.id = row.integer(0);
    verdict.question = row.text(1);
    verdict.verdict = row.text(2);
    verdict.reason = row.text(3);
    verdict.launches = row.integer(4);
    verdict.compared = row.integer(5) != 0;
    if (!verdict.compared) continue;
    verdict.before = row.real(6);
    verdict.after = row.real(7);
    verdict.shift = row.real(8);
    verdict.interval = {row.real(9), row.real(10)};
    verdict.p = row.real(11);
    verdict.corrected = row.real(12);
  }
  return verdicts;
}

/// Without the numbers that its database gave it.
StoredJudgement bare(StoredJudgement judgement) {
  judgement.id = judgement.run = 0;
  for (StoredVerdict& verdict : judgement.verdicts) verdict.id = 0;
  return judgement;
}

}  // namespace

void insert(Database& database, const Acceptance& acceptance) {
  Statement(database, "INSERT INTO acceptance (run_id, reason, accepted_at) VALUES (?, ?, ?)")
      .run(acceptance.run, acceptance.reason, acceptance.accepted_at);
}

std::vector<Acceptance> select_acceptances(Database& database) {
  std::vector<Acceptance> all;
  if (!database.has_table("acceptance")) return all;
  Statement row(database, "SELECT run_id, reason, accepted_at FROM acceptance ORDER BY id");
  while (row.step()) all.push_back({.run = row.integer(0), .reason = row.text(1), .accepted_at = row.text(2)});
  return all;
}

void insert(Database& database, const FrozenBaseline& frozen) {
  Statement row(database, "INSERT OR IGNORE INTO frozen (name, run_id, frozen_at) VALUES (?, ?, ?)");
  for (const std::int64_t run : frozen.runs) row.run(frozen.name, run, frozen.frozen_at);
}

void remove_frozen(Database& database, const std::string& name) {
  Statement(database, "DELETE FROM frozen WHERE name = ?").run(name);
}

std::vector<FrozenBaseline> select_frozen(Database& database) {
  std::vector<FrozenBaseline> all;
  if (!database.has_table("frozen")) return all;
  Statement row(database, "SELECT name, run_id, frozen_at FROM frozen ORDER BY name, run_id");
  while (row.step()) {
    if (all.empty() || all.back().name != row.text(0)) all.push_back({.name = row.text(0), .frozen_at = row.text(2)});
    all.back().runs.push_back(row.integer(1));
  }
  return all;
}

std::int64_t insert(Database& database, const StoredJudgement& judgement) {
  Statement(database, "INSERT INTO judgement (run_id, judged_at, version, baseline, rule) VALUES (?, ?, ?, ?, ?)")
      .run(judgement.run, judgement.judged_at, judgement.version, judgement.baseline, judgement.rule);
  const std::int64_t id = database.last_row_id();
  std::int64_t seq = 0;
  Statement run(database, "INSERT INTO judgement_run (judgement_id, seq, run_uuid, earlier) VALUES (?, ?, ?, ?)");
  for (const std::string& uuid : judgement.earlier) run.run(id, seq++, uuid, true);
  for (const std::string& uuid : judgement.runs) run.run(id, seq++, uuid, false);
  for (const StoredVerdict& verdict : judgement.verdicts) insert_verdict(database, id, verdict);
  return id;
}

std::vector<StoredJudgement> select_judgements(Database& database, std::int64_t run) {
  std::vector<StoredJudgement> all;
  if (!database.has_table("judgement")) return all;
  Statement row(database,
                "SELECT id, run_id, judged_at, version, baseline, rule FROM judgement WHERE run_id = ? ORDER BY id");
  row.bind(run);
  while (row.step()) {
    StoredJudgement& judgement = all.emplace_back();
    judgement.id = row.integer(0);
    judgement.run = row.integer(1);
    judgement.judged_at = row.text(2);
    judgement.version = row.text(3);
    judgement.baseline = row.text(4);
    judgement.rule = row.text(5);
    Statement runs(database, "SELECT run_uuid, earlier FROM judgement_run WHERE judgement_id = ? ORDER BY seq");
    runs.bind(judgement.id);
    while (runs.step()) (runs.integer(1) != 0 ? judgement.earlier : judgement.runs).push_back(runs.text(0));
    judgement.verdicts = select_verdicts(database, judgement.id);
  }
  return all;
}

void merge_words(Database& source, std::int64_t from, Database& into, std::int64_t to) {
  const std::vector<Acceptance> accepted = select_acceptances(into);
  for (Acceptance each : select_acceptances(source)) {
    if (each.run != from) continue;
    each.run = to;
    if (std::ranges::find(accepted, each) == accepted.end()) insert(into, each);
  }
  for (FrozenBaseline each : select_frozen(source)) {
    if (std::ranges::find(each.runs, from) == each.runs.end()) continue;
    each.runs = {to};
    insert(into, each);
  }
  std::vector<StoredJudgement> known;
  for (StoredJudgement& each : select_judgements(into, to)) known.push_back(bare(std::move(each)));
  for (StoredJudgement& each : select_judgements(source, from)) {
    if (std::ranges::find(known, bare(each)) != known.end()) continue;
    each.run = to;
    insert(into, each);
  }
}

void remove_words(Database& database, std::int64_t run) {
  for (const char* sql : {"DELETE FROM verdict WHERE judgement_id IN (SELECT id FROM judgement WHERE run_id = ?)",
                          "DELETE FROM judgement_run WHERE judgement_id IN (SELECT id FROM judgement WHERE run_id = ?)",
                          "DELETE FROM judgement WHERE run_id = ?", "DELETE FROM frozen WHERE run_id = ?",
                          "DELETE FROM acceptance WHERE run_id = ?"})
    Statement(database, sql).run(run);
}

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

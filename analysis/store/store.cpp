#include "analysis/store/store.hpp"

#include <algorithm>

#include "analysis/store/open.hpp"
#include "analysis/store/rows.hpp"
#include "analysis/store/run_rows.hpp"

namespace hbench {

using store::Database;
using store::Transaction;

struct Store::Connection {
  Database database;
};

Store::Store(const std::filesystem::path& file, Mode mode, std::chrono::milliseconds patience)
    : connection_(std::make_unique<Connection>(
          Connection{mode == Mode::read_write ? store::open_for_writing(file, patience, store::migrations())
                                              : store::open_for_reading(file, patience, store::migrations())})) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

std::int64_t Store::begin_run(const Run& run) {
  Transaction transaction(connection_->database, Transaction::Kind::write);
  const std::int64_t id = store::insert(connection_->database, run);
  transaction.commit();
  return id;
}

AddedRun Store::add_run(const Run& run, const std::vector<CaseResult>& results) {
  Transaction transaction(connection_->database, Transaction::Kind::write);
  if (const auto there = store::find_run(connection_->database, run.uuid)) return {.id = *there, .is_new = false};
  const std::int64_t id = store::insert(connection_->database, run);
  for (const CaseResult& result : results) store::insert(connection_->database, id, result);
  transaction.commit();
  return {.id = id, .is_new = true};
}

std::int64_t Store::append(std::int64_t run, const CaseResult& result) {
  append(run, std::vector{result});
  return connection_->database.last_row_id();  // samples have no row ids
}

void Store::add(std::int64_t case_id, const std::vector<Sample>& samples, const std::vector<TracedStep>& traced) {
  Transaction transaction(connection_->database, Transaction::Kind::write);
  store::add_samples(connection_->database, case_id, samples);
  store::insert_spans(connection_->database, case_id, traced);
  transaction.commit();
}

void Store::extend(std::int64_t run, const std::vector<CaseResult>& additions) {
  Database& database = connection_->database;
  Transaction transaction(database, Transaction::Kind::write);
  for (const CaseResult& addition : additions) {
    const auto known =
        addition.status == CaseStatus::failed ? std::nullopt : store::find_case(database, run, addition.asked);
    if (!known) {
      store::insert(database, run, addition);
      continue;
    }
    store::add_samples(database, *known, addition.samples);
    store::insert_spans(database, *known, addition.traced);
  }
  transaction.commit();
}

void Store::append(std::int64_t run, const std::vector<CaseResult>& results) {
  Transaction transaction(connection_->database, Transaction::Kind::write);
  for (const CaseResult& result : results) store::insert(connection_->database, run, result);
  transaction.commit();
}

void Store::accept(const Acceptance& acceptance) {
  Transaction transaction(connection_->database, Transaction::Kind::write);
  store::insert(connection_->database, acceptance);
  transaction.commit();
}

std::vector<Acceptance> Store::acceptances() const {
  Transaction snapshot(connection_->database, Transaction::Kind::read);
  return store::select_acceptances(connection_->database);
}

void Store::freeze(const FrozenBaseline& frozen) {
  Transaction transaction(connection_->database, Transaction::Kind::write);
  store::remove_frozen(connection_->database, frozen.name);
  store::insert(connection_->database, frozen);
  transaction.commit();
}

bool Store::unfreeze(const std::string& name) {
  Transaction transaction(connection_->database, Transaction::Kind::write);
  const std::vector<FrozenBaseline> known = store::select_frozen(connection_->database);
  store::remove_frozen(connection_->database, name);
  transaction.commit();
  return std::ranges::find(known, name, &FrozenBaseline::name) != known.end();
}

std::vector<FrozenBaseline> Store::frozen() const {
  Transaction snapshot(connection_->database, Transaction::Kind::read);
  return store::select_frozen(connection_->database);
}

StoredJudgement Store::keep(const StoredJudgement& judgement) {
  Database& database = connection_->database;
  Transaction transaction(database, Transaction::Kind::write);
  const std::int64_t id = store::insert(database, judgement);
  std::vector<StoredJudgement> all = store::select_judgements(database, judgement.run);
  transaction.commit();
  return std::move(*std::ranges::find(all, id, &StoredJudgement::id));
}

std::vector<StoredJudgement> Store::judgements(std::int64_t run) const {
  Transaction snapshot(connection_->database, Transaction::Kind::read);
  return store::select_judgements(connection_->database, run);
}

std::optional<std::int64_t> Store::find(std::int64_t run, const Case& asked) const {
  Transaction snapshot(connection_->database, Transaction::Kind::read);
  return store::find_case(connection_->database, run, asked);
}

std::set<std::string> Store::finished() const {
  Transaction snapshot(connection_->database, Transaction::Kind::read);
  return store::select_finished(connection_->database);
}

std::vector<CaseResult> Store::results(const RunFilter& of) const {
  Database& database = connection_->database;
  // One transaction, so that the cases and their samples are of the same point in time.
  Transaction snapshot(database, Transaction::Kind::read);
  store::check_health(database);
  return store::select_newest(database, of);
}

std::vector<TracedStep> Store::traced(std::int64_t case_id) const {
  Transaction snapshot(connection_->database, Transaction::Kind::read);
  return store::select_spans(connection_->database, case_id);
}

std::vector<CaseResult> Store::of_run(std::int64_t run) const {
  Transaction snapshot(connection_->database, Transaction::Kind::read);
  return store::select_of_run(connection_->database, run);
}

std::vector<CaseResult> Store::history(const std::string& question, const std::string& place) const {
  Transaction snapshot(connection_->database, Transaction::Kind::read);
  return store::select_history(connection_->database, question, place);
}

std::vector<CaseResult> Store::baselines() const {
  Transaction snapshot(connection_->database, Transaction::Kind::read);
  return store::select_baselines(connection_->database);
}

std::vector<Run> Store::runs() const {
  Transaction snapshot(connection_->database, Transaction::Kind::read);
  return store::select_runs(connection_->database);
}

}  // namespace hbench

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <map>
#include <set>

#include "analysis/records/case_fields.hpp"
#include "analysis/records/fingerprint.hpp"
#include "analysis/store/migrate.hpp"
#include "analysis/store/open.hpp"
#include "analysis/store/store.hpp"
#include "analysis/store/uuid.hpp"
#include "collectives/base/error.hpp"
#include "example_results.hpp"
#include "frozen_schemas.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using store::Database;
using store::Migration;

const fs::path kSource = HBENCH_SOURCE_DIR;

/// A history of a schema: a table, a column, a value.
constexpr std::array kChain{Migration{1, "CREATE TABLE t (a); INSERT INTO t VALUES (10);"},
                            Migration{2, "ALTER TABLE t ADD COLUMN b DEFAULT 5;"},
                            Migration{3, "UPDATE t SET b = a + b;"}};
constexpr std::span<const Migration> kSteps = kChain;

std::int64_t sum(Database& database) { return database.integer("SELECT a + b FROM t"); }

TEST(Migrations, AreNumberedWithoutAGap) {
  int version = 0;
  for (const Migration& step : store::migrations()) EXPECT_EQ(step.version, ++version);
  EXPECT_GT(version, 0);
}

TEST(Migration, LeadsFromEveryVersionToTheLast) {
  for (std::size_t begin = 0; begin <= kSteps.size(); ++begin) {
    const TemporaryFolder folder;
    if (begin > 0) store::open_for_writing(folder / "x.db", milliseconds(0), kSteps.first(begin));
    Database database = store::open_for_writing(folder / "x.db", milliseconds(0), kSteps);
    EXPECT_EQ(store::schema_version(database), 3);
    EXPECT_EQ(sum(database), 25) << "from version " << begin;
  }
}

TEST(Migration, FinishesOnceOnTheLastSchema) {
  constexpr auto kFinish = [](Database& database) { database.run("UPDATE t SET c = c + a + b"); };
  const std::array chain{Migration{1, kChain[0].sql}, Migration{2, kChain[1].sql, kFinish},
                         Migration{3, "ALTER TABLE t ADD COLUMN c DEFAULT 0;", kFinish}};
  const TemporaryFolder folder;
  store::open_for_writing(folder / "x.db", milliseconds(0), std::span<const Migration>(chain).first(1));
  Database database = store::open_for_writing(folder / "x.db", milliseconds(0), chain);
  EXPECT_EQ(database.integer("SELECT c FROM t"), 15);
}

TEST(Migration, HappensInMemoryForAReader) {
  const TemporaryFolder folder;
  store::open_for_writing(folder / "x.db", milliseconds(0), kSteps.first(1));
  const std::string before = bytes_of(folder / "x.db");
  Database database = store::open_for_reading(folder / "x.db", milliseconds(0), kSteps);
  EXPECT_EQ(sum(database), 25);
  EXPECT_EQ(bytes_of(folder / "x.db"), before);
}

TEST(Migration, ThatFailsLeavesTheOldSchemaWhole) {
  const TemporaryFolder folder;
  store::open_for_writing(folder / "x.db", milliseconds(0), kSteps.first(1));
  const std::string before = bytes_of(folder / "x.db");
  const std::array broken{kChain[0], kChain[1], Migration{3, "DELETE FROM t; INSERT INTO nowhere VALUES (1);"}};
  EXPECT_THROW(store::open_for_writing(folder / "x.db", milliseconds(0), broken), Error);
  EXPECT_EQ(bytes_of(folder / "x.db"), before);
}

TEST(Migration, IsNotRepeatedByAProcessThatWaitedForAnother) {
  const TemporaryFolder folder;
  Database database = store::open_for_writing(folder / "x.db", milliseconds(0), kSteps);
  store::migrate(database, kSteps);
  EXPECT_EQ(database.integer("SELECT count(*) FROM t"), 1);
}

// Made by the store of schema version 1 and dumped with sqlite3; never to be changed.
TEST(ADatabaseOfVersion1, IsReadAsItWasWritten) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_1.sql"));
    const Store old(folder / "old.db", mode);
    CaseResult done = example_result(1, 4), failed = example_result(2, 0);
    failed.status = CaseStatus::failed;
    failed.failure = "rank 3 was lost";
    failed.exit_code = 5;
    done.asked.nodes = failed.asked.nodes = 1;  // ranks were started on one machine alone
    done.asked.machine = failed.asked.machine = fingerprint({{"cores", "2"}, {"cpu", "some CPU"}}, false).digest;
    EXPECT_EQ(texts_of(old.results()), (std::vector{text_of(done), text_of(failed)}));
    ASSERT_EQ(old.runs().size(), 1u);
    EXPECT_EQ(old.runs()[0].command, "hbench sweep");
    const Fingerprint machine = fingerprint({{"cores", "2"}, {"cpu", "some CPU"}}, false);
    EXPECT_EQ(machine.text, "2 cores of some CPU");
    EXPECT_EQ(old.runs()[0].environment,
              (std::map<std::string, std::string>{
                  {"cores", "2"}, {"cpu", "some CPU"}, {"machine " + machine.digest, machine.text}}));
  }
}

// The same of schema version 2.
TEST(ADatabaseOfVersion2, IsReadAsItWasWritten) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_2.sql"));
    const Store old(folder / "old.db", mode);
    ASSERT_EQ(old.results().size(), 1u);
    const CaseResult result = old.results().front();
    EXPECT_EQ(
        result.asked.collective,
        (CollectiveTask{
            .name = "all-reduce", .bytes = 1024, .data_type = "float32", .operation = "sum", .executor = "threads"}));
    EXPECT_EQ(result.asked.training, TrainingTask());
    EXPECT_THAT(old.finished(), testing::ElementsAre(answer_key(result.asked, old.runs().at(0).producer())));
    EXPECT_EQ(result.samples.size(), 3u);
    EXPECT_EQ(old.runs().at(0).command, "hbench collective");
  }
}

/// The one answer of `workload` by `algorithm` with this evidence.
CaseResult answer_of(const std::vector<CaseResult>& results, Evidence evidence, std::string_view workload,
                     std::string_view algorithm) {
  CaseResult found;
  int answers = 0;
  for (const CaseResult& result : results) {
    const Case& asked = result.asked;
    if (asked.evidence != evidence || asked.workload != workload || asked.strategy.algorithm != algorithm) continue;
    found = result;
    ++answers;
  }
  EXPECT_EQ(answers, 1) << to_string(evidence) << ' ' << workload << ' ' << algorithm;
  return found;
}

// The same of schema version 3: places and producers come from what each run's environment tells.
TEST(ADatabaseOfVersion3, GetsPlacesAndProducers) {
  const Fingerprint cores = fingerprint({{"cores", "2"}, {"cpu", "some CPU"}, {"torch", "built in, 2.6.0"}}, false);
  const Fingerprint gpus = fingerprint({{"cores", "64"},
                                        {"cpu", "other CPU"},
                                        {"torch", "built in, 2.6.0"},
                                        {"gpu", "2 x NVIDIA H100"},
                                        {"gpu_driver", "580.65.06"},
                                        {"cuda", "13.0"},
                                        {"nccl", "2.28.3"}},
                                       true);
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_3.sql"));
    const Store old(folder / "old.db", mode);
    const std::vector<CaseResult> results = old.results();
    EXPECT_EQ(results.size(), 6u);
    const CaseResult ring = answer_of(results, Evidence::measured, "lenet5", "ring");
    EXPECT_EQ(ring.producer.run, 3) << "the newest";
    EXPECT_EQ(ring.producer.version, "0.1.0");
    EXPECT_EQ(ring.asked.implementation, "engine/1");
    EXPECT_EQ(ring.samples.size(), 4u);
    EXPECT_EQ(ring.samples[0].value, 0.8);
    EXPECT_EQ(ring.asked.machine, cores.digest);
    EXPECT_EQ(ring.machine_in_words, "2 cores of some CPU, LibTorch 2.6");
    // Another kernel, and the same place: two answers to one question.
    const std::vector<CaseResult> history = old.history(ring.asked.question(), ring.asked.place());
    ASSERT_EQ(history.size(), 2u);
    EXPECT_EQ(history[0].producer.run, 1);
    EXPECT_EQ(history[0].producer.started_at, "2026-11-21T09:00:00Z");
    const CaseResult vendor = answer_of(results, Evidence::measured, "lenet5", "vendor");
    EXPECT_EQ(vendor.status, CaseStatus::failed);
    EXPECT_EQ(vendor.asked.training, (TrainingTask{.device = "gpu", .executor = "nccl", .precision = "bf16"}));
    EXPECT_EQ(vendor.asked.machine, gpus.digest);
    EXPECT_EQ(vendor.machine_in_words,
              "64 cores of other CPU, LibTorch 2.6, 2 x NVIDIA H100, driver 580, CUDA 13.0, NCCL 2.28");
    const CaseResult collective = answer_of(results, Evidence::measured, "", "ring");
    EXPECT_EQ(collective.asked.collective, (CollectiveTask{.name = "all-reduce",
                                                           .bytes = 1024,
                                                           .data_type = "float32",
                                                           .operation = "sum",
                                                           .executor = "cuda",
                                                           .ranks_per_node = 2,
                                                           .segments = 3}));
    EXPECT_EQ(collective.asked.machine, gpus.digest) << "it said in its source that it ran on GPUs";
    const CaseResult simulated = answer_of(results, Evidence::simulated, "lenet5", "ps");
    EXPECT_EQ(simulated.asked.machine, "");
    EXPECT_EQ(simulated.asked.single_gpu_rate, 61.25);
    EXPECT_EQ(simulated.asked.strategy.servers, 4);
    EXPECT_EQ(answer_of(results, Evidence::published, "lenet5", "ps").asked.source,
              "https://example.org/paper (2019; \"quoted\"; it's)");
    EXPECT_EQ(old.baselines().size(), 1u);
    EXPECT_EQ(old.finished().size(), 5u) << "the ring was asked twice";
  }
}

// The same of schema version 4, with labels and places of its own.
TEST(ADatabaseOfVersion4, KeepsPlacesAndProducers) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_4.sql"));
    const Store old(folder / "old.db", mode);
    const std::vector<CaseResult> results = old.results();
    EXPECT_EQ(results.size(), 6u);
    const CaseResult ring = answer_of(results, Evidence::measured, "lenet5", "ring");
    EXPECT_EQ(ring.asked.machine, "0123456789abcdef");
    EXPECT_EQ(ring.asked.nodes, 1);
    EXPECT_EQ(answer_of(results, Evidence::simulated, "lenet5", "ps").asked.nodes, 0) << "nothing told";
    const std::vector<CaseResult> history = old.history(ring.asked.question(), ring.asked.place());
    ASSERT_EQ(history.size(), 2u);
    EXPECT_EQ(history[0].producer.version, "0.2.0");
    EXPECT_EQ(history[0].producer.commit(), "abc");
    EXPECT_EQ(history[0].machine_in_words, "2 cores of some CPU");
    EXPECT_EQ(old.baselines().size(), 1u);
    EXPECT_EQ(old.finished().size(), 6u) << "the ring was answered at two commits";
  }
}

// The same of schema version 5, which knows on how many nodes ranks are.
TEST(ADatabaseOfVersion5, KeepsItsAnswersAndNamesNoPreset) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_5.sql"));
    const Store old(folder / "old.db", mode);
    const std::vector<CaseResult> results = old.results();
    EXPECT_EQ(results.size(), 6u);
    for (const CaseResult& result : results) EXPECT_EQ(result.asked.strategy.preset, "");
    const CaseResult ring = answer_of(results, Evidence::measured, "lenet5", "ring");
    EXPECT_EQ(ring.asked.nodes, 1);
    EXPECT_EQ(old.history(ring.asked.question(), ring.asked.place()).size(), 2u);
    EXPECT_EQ(old.finished().size(), 6u);
  }
}

// The same of schema version 6, in which a run simulated a preset; its runs have no UUID.
TEST(ADatabaseOfVersion6, KeepsItsAnswersAndItsPreset) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_6.sql"));
    const Store old(folder / "old.db", mode);
    const std::vector<CaseResult> results = old.results();
    EXPECT_EQ(results.size(), 7u);
    const CaseResult preset = answer_of(results, Evidence::simulated, "resnet50", "ring");
    EXPECT_EQ(preset.asked.strategy.preset, "ddp");
    EXPECT_EQ(preset.samples.size(), 5u);
    EXPECT_EQ(preset.producer.labels, (std::map<std::string, std::string>{{"branch", "main"}}));
    const CaseResult ring = answer_of(results, Evidence::measured, "lenet5", "ring");
    EXPECT_EQ(old.history(ring.asked.question(), ring.asked.place()).size(), 2u);
    EXPECT_EQ(old.finished().size(), 7u);
  }
}

// The same of schema version 7, in which runs have UUIDs and one was accepted.
TEST(ADatabaseOfVersion7, KeepsItsUuidsAndWhatWasAccepted) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_7.sql"));
    Store old(folder / "old.db", mode);
    EXPECT_EQ(old.results().size(), 8u);
    EXPECT_EQ(old.runs().back().uuid, "b1db101e-9d4d-45b7-9334-c96fc971922c");
    ASSERT_EQ(old.acceptances().size(), 1u);
    EXPECT_EQ(old.acceptances().front().reason, "a newer kernel");
    EXPECT_TRUE(old.frozen().empty());
    EXPECT_TRUE(old.judgements(3).empty());
  }
}

// The same of schema version 8, in which runs are judged and a step is traced.
TEST(ADatabaseOfVersion8, KeepsVerdictsAndSpansAndLetsNoRanksShareAGpu) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_8.sql"));
    Store old(folder / "old.db", mode);
    const std::vector<CaseResult> results = old.results();
    EXPECT_EQ(results.size(), 9u);
    for (const CaseResult& result : results) EXPECT_EQ(result.asked.processes_per_gpu, 0);
    ASSERT_EQ(old.frozen().size(), 1u);
    EXPECT_EQ(old.frozen().front().name, "release");
    EXPECT_EQ(old.judgements(3).size(), 1u);
    const auto is_benchmark = [](const CaseResult& result) {
      return result.asked.benchmark == "checker_bench BM_Check/64";
    };
    EXPECT_EQ(std::ranges::count_if(results, is_benchmark), 1);
  }
}

// The same of schema version 9: steps of one batch, and of the same at every GPU count.
TEST(ADatabaseOfVersion9, IsReadAsItWasWritten) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_9.sql"));
    const Store old(folder / "old.db", mode);
    const std::vector<CaseResult> results = old.results();
    EXPECT_EQ(results.size(), 9u);
    for (const CaseResult& result : results) {
      EXPECT_EQ(result.asked.accumulate, 0);
      EXPECT_EQ(result.asked.global_batch, 0);
    }
  }
}

// The same of schema version 10: models are ours, training is synchronous, all activations are kept.
TEST(ADatabaseOfVersion10, IsReadAsItWasWritten) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_10.sql"));
    const Store old(folder / "old.db", mode);
    const std::vector<CaseResult> results = old.results();
    EXPECT_EQ(results.size(), 9u);
    EXPECT_EQ(std::ranges::count(results, 1024, [](const CaseResult& result) { return result.asked.global_batch; }), 1);
    for (const CaseResult& result : results) {
      EXPECT_EQ(result.asked.training.recompute, "");
      EXPECT_EQ(result.asked.training.optimizer, "");
      EXPECT_EQ(result.asked.strategy.method, "");
      EXPECT_EQ(result.asked.model_digest, "");
    }
  }
}

// The same of schema version 11, with a method: measured steps are of plain SGD.
TEST(ADatabaseOfVersion11, IsReadAsItWasWritten) {
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write}) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_11.sql"));
    const Store old(folder / "old.db", mode);
    const std::vector<CaseResult> results = old.results();
    EXPECT_EQ(results.size(), 10u);
    EXPECT_EQ(answer_of(results, Evidence::simulated, "vgg16", "ring").asked.strategy.method, "local-sgd:4");
    for (const CaseResult& result : results) EXPECT_EQ(result.asked.training.optimizer, "");
  }
}

TEST(ADatabaseOfVersion14, ShowsItsFrameworksInTheViewOfPoints) {
  const TemporaryFolder folder;
  run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_14.sql"));
  for (const std::string mode : {"a copy", "the file"}) {
    Database database = mode == "the file"
                            ? store::open_for_writing(folder / "old.db", milliseconds(0), store::migrations())
                            : store::open_for_reading(folder / "old.db", milliseconds(0), store::migrations());
    store::Statement row(database, "SELECT framework_version FROM point WHERE framework = 'pytorch-ddp'");
    ASSERT_TRUE(row.step()) << mode;
    EXPECT_EQ(row.text(0), "1.13.0a0") << mode;
    EXPECT_GT(database.integer("SELECT count(*) FROM point WHERE framework = ''"), 0) << mode;
  }
}

std::vector<std::string> uuids_of(const Store& store) {
  std::vector<std::string> uuids;
  for (const Run& run : store.runs()) uuids.push_back(run.uuid);
  return uuids;
}

TEST(AMigratedDatabase, GivesItsRunsTheSameUuidsWheneverItIsMigrated) {
  for (const std::string& version : frozen_schemas()) {
    if (version == "version_7.sql") break;  // its runs have theirs
    const TemporaryFolder folder;
    const std::string frozen = bytes_of(kSource / "tests/analysis/data" / version);
    run_sql(folder / "old.db", frozen);
    run_sql(folder / "copy.db", frozen);
    const std::vector<std::string> read = uuids_of(Store(folder / "old.db", Store::Mode::read_only));
    EXPECT_EQ(uuids_of(Store(folder / "copy.db")), read) << version;
    EXPECT_EQ(uuids_of(Store(folder / "copy.db")), read) << version << ", once it was migrated";
    for (const std::string& uuid : read) EXPECT_TRUE(store::is_uuid(uuid) && uuid[14] == '8') << uuid;
    EXPECT_EQ(std::set(read.begin(), read.end()).size(), read.size()) << version;
  }
}

// They may never change: a run that was merged before would be merged again. The UUID of version 1 was computed apart
// from `identity.hpp` and RFC 9562, by a few lines of Python (FNV-1a, two digests).
TEST(AMigratedDatabase, GivesItsRunsTheUuidsOfTheirContentsForEver) {
  const TemporaryFolder folder;
  run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_1.sql"));
  EXPECT_THAT(uuids_of(Store(folder / "old.db", Store::Mode::read_only)),
              testing::ElementsAre("65d59800-5ffe-8c79-82b0-a86ae9703e83"));
}

TEST(AMigratedDatabase, GivesEachOfTwoEqualRunsItsOwnUuid) {
  const TemporaryFolder folder;
  run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_6.sql"));
  run_sql(folder / "old.db",
          "INSERT INTO run SELECT 10, command, version, store, started_at FROM run WHERE id = 4;"
          "INSERT INTO run SELECT 11, command, version, store, started_at FROM run WHERE id = 4;");
  const std::vector<std::string> uuids = uuids_of(Store(folder / "old.db"));
  EXPECT_EQ(std::set(uuids.begin(), uuids.end()).size(), 6u);
}

TEST(AMigratedDatabase, TellsRunsApartByWhateverTheyHold) {
  constexpr std::array kChanges{"SELECT 1",
                                "UPDATE run SET command = 'x' WHERE id = 4",
                                "UPDATE run SET started_at = 'x' WHERE id = 4",
                                "UPDATE environment SET value = 'x' WHERE run_id = 4 AND key = 'kernel'",
                                "UPDATE label SET value = 'x' WHERE run_id = 4",
                                "UPDATE scaling_case SET gpus = 5 WHERE run_id = 4",
                                "UPDATE sample SET value = value * 1.0000000001 WHERE case_id = 8 AND seq = 4",
                                "DELETE FROM sample WHERE case_id = 8 AND seq = 4"};
  std::set<std::string> uuids;
  for (const char* change : kChanges) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data/version_6.sql"));
    run_sql(folder / "old.db", change);
    for (const hbench::Run& run : Store(folder / "old.db", Store::Mode::read_only).runs())
      if (run.id == 4) uuids.insert(run.uuid);
  }
  EXPECT_EQ(uuids.size(), kChanges.size());
}

TEST(AMigratedDatabase, KeepsItsReferencesWhole) {
  for (const std::string& version : frozen_schemas()) {
    const TemporaryFolder folder;
    run_sql(folder / "old.db", bytes_of(kSource / "tests/analysis/data" / version));
    Database database = store::open_for_writing(folder / "old.db", milliseconds(0), store::migrations());
    store::Statement violation(database, "PRAGMA foreign_key_check");
    EXPECT_FALSE(violation.step()) << version;
    EXPECT_EQ(database.integer("PRAGMA foreign_keys"), 1);
    EXPECT_EQ(database.integer("SELECT count(*) FROM scaling_case WHERE question = '' OR place = ''"), 0) << version;
  }
}

TEST(TheFieldsOfACase, AreColumnsSinceTheVersionThatTheListNames) {
  for (std::size_t version = 4; version <= store::migrations().size(); ++version) {
    // The steps alone: what finishes them knows the last schema only.
    std::vector<Migration> steps;
    for (const Migration& step : store::migrations().first(version)) steps.push_back({step.version, step.sql});
    const TemporaryFolder folder;
    Database database = store::open_for_writing(folder / "x.db", milliseconds(0), steps);
    std::set<std::string> columns, expected{"id", "run_id", "status", "failure", "exit_code", "question", "place"};
    store::Statement row(database, "SELECT name FROM pragma_table_info('scaling_case')");
    while (row.step()) columns.insert(row.text(0));
    for (const CaseField& field : case_fields())
      if (field.since <= static_cast<int>(version)) expected.insert(std::string(field.name));
    EXPECT_EQ(columns, expected) << "version " << version;
  }
}

/// The list as a table of Markdown.
std::string case_fields_table() {
  constexpr std::array<std::string_view, 4> kTypes{"TEXT", "INTEGER", "REAL", "INTEGER"};
  std::string table = "| column | type | part | since | |\n|---|---|---|---|---|\n";
  for (const CaseField& field : case_fields())
    table += fmt::format("| `{}` | {} | {} | {} | {} |\n", field.name, kTypes.at(field.get(Case()).index()),
                         to_string(field.part), field.since, field.text);
  return table;
}

TEST(TheFieldsOfACase, AreDocumented) {
  EXPECT_THAT(bytes_of(kSource / "analysis/store/fields.md"), testing::HasSubstr(case_fields_table()));
}

/// The text between the lines that begin and end the documented schema.
std::string documented_schema() {
  const std::string readme = bytes_of(kSource / "analysis/store/README.md");
  const std::string begin = "<!-- schema -->\n```sql\n";
  const std::size_t from = readme.find(begin);
  const std::size_t to = readme.find("```\n<!-- /schema -->");
  EXPECT_NE(from, std::string::npos);
  EXPECT_NE(to, std::string::npos);
  return readme.substr(from + begin.size(), to - from - begin.size());
}

/// The statement that makes a table; of cases without the columns of fields, which another page documents, and of a
/// view its name alone.
std::string without_fields(const std::string& sql) {
  if (sql.starts_with("CREATE VIEW point"))
    return sql.substr(0, sql.find('\n')) + " -- migrations/0015_frameworks_in_views.sql";
  if (sql.starts_with("CREATE VIEW")) return sql.substr(0, sql.find('\n')) + " -- migrations/0013_views.sql";
  if (!sql.starts_with("CREATE TABLE scaling_case")) return sql;
  return sql.substr(0, sql.find(fmt::format("  {} ", case_fields().front().name))) +
         "  -- and a column for each field of a case\n)";
}

TEST(TheDocumentedSchema, IsTheRealOne) {
  const TemporaryFolder folder;
  Database database = store::open_for_writing(folder / "x.db", milliseconds(0), store::migrations());
  std::string real;
  store::Statement row(database, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid");
  while (row.step()) real += without_fields(row.text(0)) + ";\n";
  std::string documented = documented_schema();
  for (std::size_t blank; (blank = documented.find("\n\n")) != std::string::npos;) documented.erase(blank, 1);
  EXPECT_EQ(documented, real);
}

TEST(TheDocumentedSchema, NamesTheApplication) {
  const std::string readme = bytes_of(kSource / "analysis/store/README.md");
  EXPECT_THAT(readme, testing::HasSubstr(fmt::format("application_id` = {}", store::kApplicationId)));
}

}  // namespace
}  // namespace hbench

#include "analysis/store/store.hpp"

#include <limits>

#include "analysis/records/judgements.hpp"
#include "analysis/store/uuid.hpp"
#include "collectives/base/error.hpp"
#include "store_cases.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::store_test {
namespace {

const Run kRun{.command = "hbench sweep --gpus 1..4",
               .version = "0.1.0",
               .started_at = "2026-11-21T09:00:00Z",
               .environment = {{"cpu", "some \"CPU\""}, {"cores", "2"}}};

using AStore = WithStore;

TEST(Store, GivesBackEverythingThatWasAppended) {
  const TemporaryFolder folder;
  CaseResult failed = example_result(1, 0);
  failed.status = CaseStatus::failed;
  failed.failure = "rank 2 was killed by signal 9";
  failed.exit_code = static_cast<int>(ExitCode::lost_rank);
  CaseResult extreme = example_result(2, 4);
  extreme.samples[0].value = std::numeric_limits<double>::denorm_min();
  extreme.samples[1].value = -std::numeric_limits<double>::max();
  extreme.samples[2].value = std::numeric_limits<double>::infinity();
  extreme.asked.workload = std::string("na\xc3\xafve\ttrace");
  std::vector<CaseResult> all{example_result(0, 50), failed, extreme};
  for (Evidence evidence : {Evidence::measured, Evidence::emulated, Evidence::simulated, Evidence::published})
    all.push_back({.asked = example_case(evidence)});
  {
    Store store(folder / "results.db");
    const std::int64_t run = store.begin_run(kRun);
    store.append(run, all[0]);
    store.append(run, {all.begin() + 1, all.end()});
    EXPECT_EQ(texts_of(store.results()), texts_of(all));
  }
  for (auto mode : {Store::Mode::read_only, Store::Mode::read_write})
    EXPECT_EQ(texts_of(Store(folder / "results.db", mode).results()), texts_of(all));
}

TEST_F(AStore, KeepsWhatWasAcceptedAndWhy) {
  const std::int64_t run = store.begin_run(kRun);
  EXPECT_TRUE(store.acceptances().empty());
  const Acceptance first{.run = run, .reason = "a driver's \"fix\"", .accepted_at = "2026-11-23T09:00:00Z"};
  store.accept(first);
  store.accept({.run = run, .reason = "again", .accepted_at = "2026-11-24T09:00:00Z"});
  ASSERT_EQ(Store(file, Store::Mode::read_only).acceptances().size(), 2U);
  EXPECT_EQ(store.acceptances()[0], first);
}

TEST_F(AStore, GivesAllAnswersOfOneRun) {
  const std::int64_t first = store.begin_run(kRun), second = store.begin_run(kRun);
  CaseResult failed = example_result(1, 0);
  failed.status = CaseStatus::failed;
  store.append(first, {example_result(0, 3), failed});
  store.append(second, {example_result(0, 5), example_result(2, 1)});
  const std::vector<CaseResult> of_first = store.of_run(first), of_second = store.of_run(second);
  ASSERT_EQ(of_first.size(), 2U) << "older answers and failed ones, too";
  EXPECT_EQ(of_first[0].samples.size(), example_result(0, 3).samples.size());
  EXPECT_EQ(of_first[1].status, CaseStatus::failed);
  ASSERT_EQ(of_second.size(), 2U);
  EXPECT_EQ(of_second[0].samples.size(), example_result(0, 5).samples.size());
  EXPECT_EQ(of_second[0].producer.run, second);
  EXPECT_TRUE(store.of_run(second + 1).empty());
}

TEST_F(AStore, GivesBackRunsWithTheirEnvironment) {
  const hbench::Run other{
      .command = "hbench report", .version = "0.2.0", .started_at = "2026-11-22T10:00:00Z", .environment = {}};
  const std::int64_t first = store.begin_run(kRun);
  EXPECT_NE(store.begin_run(other), first);
  const std::vector<hbench::Run> runs = store.runs();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].command, kRun.command);
  EXPECT_EQ(runs[0].version, kRun.version);
  EXPECT_EQ(runs[0].started_at, kRun.started_at);
  EXPECT_EQ(runs[0].environment, kRun.environment);
  EXPECT_EQ(runs[1].command, other.command);
  EXPECT_THAT(runs[1].environment, IsEmpty());
}

TEST_F(AStore, GivesEachRunARandomUuidUnlessItHasOne) {
  hbench::Run known = kRun;
  known.uuid = "01234567-89ab-4cde-8f01-23456789abcd";
  store.begin_run(kRun);
  store.begin_run(kRun);
  store.begin_run(known);
  const std::vector<hbench::Run> runs = store.runs();
  ASSERT_EQ(runs.size(), 3u);
  for (const hbench::Run& run : runs) EXPECT_TRUE(store::is_uuid(run.uuid) && run.uuid[14] == '4') << run.uuid;
  EXPECT_NE(runs[0].uuid, runs[1].uuid);
  EXPECT_EQ(runs[2].uuid, known.uuid);
  EXPECT_THROW(store.begin_run(known), Error) << "a run is stored once";
}

// A clock may have jumped: the order of runs is that in which they were stored.
TEST_F(AStore, TakesTheAnswerThatStartedLastForTheNewestAndKeepsTheOrderOfRuns) {
  hbench::Run older = kRun;
  older.started_at = "2026-10-01T00:00:00Z";
  CaseResult old_answer = example_result(1);
  old_answer.samples[0].value = 77;
  store.append(store.begin_run(kRun), example_result(1));
  store.append(store.begin_run(older), old_answer);
  EXPECT_EQ(texts_of(store.results()), std::vector{text_of(example_result(1))});
  const Case asked = example_result(1).asked;
  EXPECT_EQ(texts_of(store.history(asked.question(), asked.place())), texts_of({example_result(1), old_answer}));
  EXPECT_EQ(store.runs().back().started_at, older.started_at);
}

TEST_F(AStore, TakesNoTrialForTheAnswerWhereThereIsAnother) {
  hbench::Run tuning = kRun;
  tuning.started_at = "2027-01-01T00:00:00Z";
  tuning.labels = {{kTuningLabel, "horovod"}};
  CaseResult tuned = example_result(1), alone = example_result(2);
  tuned.samples[0].value = 77;
  store.append(store.begin_run(kRun), example_result(1));
  store.append(store.begin_run(tuning), {tuned, alone});
  EXPECT_EQ(texts_of(store.results()), texts_of({example_result(1), alone}));
}

TEST_F(AStore, GivesTheNewestOfCasesWithOneKey) {
  const std::int64_t run = store.begin_run(kRun);
  CaseResult first = example_result(1);
  CaseResult second = first;
  second.samples[0].value = 77;
  store.append(run, {first, example_result(2), second});
  EXPECT_EQ(texts_of(store.results()), (std::vector{text_of(example_result(2)), text_of(second)}));
}

TEST_F(AStore, PrefersADoneCaseToAFailedOneWhicheverCameFirst) {
  const std::int64_t run = store.begin_run(kRun);
  for (int number : {1, 2}) {
    const CaseResult done = example_result(number);
    CaseResult failed = example_result(number, 0);
    failed.status = CaseStatus::failed;
    failed.failure = "time-out";
    store.append(run, number == 1 ? std::vector{done, failed} : std::vector{failed, done});
  }
  EXPECT_EQ(texts_of(store.results()), (std::vector{text_of(example_result(1)), text_of(example_result(2))}));
}

TEST_F(AStore, GivesTheNewestAnswerOfTheRunsThatAreAskedFor) {
  hbench::Run labelled = kRun;
  labelled.labels = {{"branch", "main"}};
  CaseResult newer = example_result(1), newest = example_result(1);
  newer.samples[0].value = 76;
  newest.samples[0].value = 77;
  const std::int64_t first = store.begin_run(labelled);
  store.append(first, example_result(1));
  store.append(store.begin_run(labelled), newer);
  store.append(store.begin_run(kRun), newest);
  EXPECT_EQ(texts_of(store.results({.run = first})), std::vector{text_of(example_result(1))});
  EXPECT_EQ(texts_of(store.results({.labels = {{"branch", "main"}}})), std::vector{text_of(newer)});
  EXPECT_EQ(texts_of(store.results({.run = first + 2, .labels = {{"branch", "main"}}})), std::vector<std::string>());
  EXPECT_EQ(texts_of(store.results()), std::vector{text_of(newest)});
  EXPECT_EQ(store.runs().back().id, first + 2);
}

TEST_F(AStore, GivesOneAnswerToAQuestionWhoeverGaveIt) {
  CaseResult revised = example_result(1);
  revised.asked.implementation = "engine/2";
  CaseResult elsewhere = example_result(1);
  elsewhere.asked.machine = "0123456789abcdef";
  store.append(store.begin_run(kRun), example_result(1));
  store.append(store.begin_run(kRun), {revised, elsewhere});
  EXPECT_EQ(texts_of(store.results()), (std::vector{text_of(revised), text_of(elsewhere)}));
}

TEST_F(AStore, HasTheHistoryOfAQuestionAtAPlace) {
  hbench::Run labelled = kRun;
  labelled.version = "0.2.0";
  labelled.labels = {{"branch", "main"}, {"commit", "abc"}};
  labelled.environment["machine 0123"] = "2 cores of some CPU";
  CaseResult first = example_result(1), second = example_result(1), failed = example_result(1), other = first;
  for (CaseResult* result : {&first, &second, &failed}) result->asked.machine = "0123";
  second.asked.implementation = "engine/2";
  second.samples[0].value = 77;
  failed.status = CaseStatus::failed;
  store.append(store.begin_run(kRun), {first, other, example_result(2)});
  store.append(store.begin_run(labelled), {second, failed});
  const std::vector<CaseResult> history = store.history(first.asked.question(), first.asked.place());
  EXPECT_EQ(texts_of(history), texts_of({first, second, failed}));
  EXPECT_EQ(history[0].producer.run, 1);
  EXPECT_EQ(history[0].producer.version, "0.1.0");
  EXPECT_EQ(history[0].producer.started_at, kRun.started_at);
  EXPECT_THAT(history[0].producer.labels, IsEmpty());
  EXPECT_EQ(history[1].producer.run, 2);
  EXPECT_EQ(history[1].producer.labels, labelled.labels);
  EXPECT_EQ(history[1].producer.commit(), "abc");
  EXPECT_EQ(history[0].machine_in_words, "") << "its run says nothing of the machine";
  EXPECT_EQ(history[1].machine_in_words, "2 cores of some CPU");
  EXPECT_EQ(store.runs()[1].labels, labelled.labels);
}

TEST_F(AStore, GivesTheBaselinesOfAllRuns) {
  CaseResult old = example_result(1), revised = example_result(1), failed = example_result(1);
  CaseResult simulated{.asked = example_case(Evidence::simulated)};
  for (CaseResult* result : {&old, &revised, &failed, &simulated}) result->asked.strategy.algorithm = "none";
  revised.asked.implementation = "engine/2";
  failed.status = CaseStatus::failed;
  store.append(store.begin_run(kRun), {old, example_result(2), simulated, revised, failed});
  EXPECT_EQ(texts_of(store.baselines()), texts_of({old, revised}));
}

TEST_F(AStore, NamesTheAnswersThatAreThere) {
  CaseResult failed = example_result(9);
  failed.status = CaseStatus::failed;
  CaseResult revised = example_result(1);
  revised.asked.implementation = "engine/2";
  store.append(store.begin_run(kRun), {example_result(1), failed, example_result(1), revised});
  EXPECT_THAT(store.finished(), ElementsAre(answer_key(example_result(1).asked, kRun.producer()),
                                            answer_key(revised.asked, kRun.producer())));
}

TEST_F(AStore, AppendsAllOrNothing) {
  const std::int64_t run = store.begin_run(kRun);
  CaseResult broken = example_result(2);
  broken.samples[1].value = std::numeric_limits<double>::quiet_NaN();
  expect_error(
      [&] {
        store.append(run, {example_result(1), broken});
      },
      ExitCode::wrong_data, "ledger/wait of resnet50 at 4 GPUs, rank 1, iteration 1, is not a number", testing::_);
  EXPECT_THAT(store.results(), IsEmpty());
  store.append(run, example_result(1));
  EXPECT_EQ(store.results().size(), 1u);
}

TEST_F(AStore, RefusesACaseOfARunThatDoesNotExist) {
  EXPECT_THROW(store.append(5, example_result(1)), Error);
  EXPECT_THAT(store.results(), IsEmpty());
}

TEST(Store, TakesTheNameOfAFileLiterally) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const char* name : {":memory:", "file:results.db?mode=memory", "with space's.db"}) {
    { Store(name).begin_run(kRun); }
    EXPECT_TRUE(std::filesystem::exists(folder / name));
    EXPECT_EQ(Store(name, Store::Mode::read_only).runs().size(), 1u);
  }
  std::filesystem::current_path(before);
}

TEST_F(AStore, CanBeMoved) {
  Store moved = std::move(store);
  store = std::move(moved);
  EXPECT_EQ(store.begin_run(kRun), 1);
}

TEST(Store, DoesNotWriteWhenItIsReadOnly) {
  const TemporaryFolder folder;
  { Store(folder / "results.db").begin_run(kRun); }
  Store store(folder / "results.db", Store::Mode::read_only);
  const std::string before = bytes_of(folder / "results.db");
  EXPECT_THROW(store.begin_run(kRun), Error);
  EXPECT_EQ(bytes_of(folder / "results.db"), before);
}

TEST(Store, KeepsWhereAndHowATrainingStepRan) {
  const TemporaryFolder folder;
  CaseResult on_gpu = example_result(1, 3);
  on_gpu.asked.training = {.device = "gpu", .executor = "nccl", .precision = "bf16"};
  {
    Store store(folder / "x.db");
    store.append(store.begin_run({}), on_gpu);
  }
  const Store store(folder / "x.db", Store::Mode::read_only);
  ASSERT_EQ(store.results().size(), 1u);
  EXPECT_EQ(store.results().front().asked.training, on_gpu.asked.training);
  EXPECT_EQ(store.results().front().asked.key(), on_gpu.asked.key());
}

}  // namespace
}  // namespace hbench::store_test

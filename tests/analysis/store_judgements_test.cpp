// What the database keeps of what was said of runs: frozen baselines and verdicts, also over merges and prunes.

#include <gmock/gmock.h>

#include "analysis/store/upkeep.hpp"
#include "tests/analysis/store_cases.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::store_judgements_test {
namespace {

namespace fs = std::filesystem;

using StoredJudgements = WithStore;
using FrozenBaselines = WithStore;
using AStoredCase = WithStore;

std::int64_t add_run(Store& store, const std::string& started_at) {
  Run run;
  run.command = "hbench track run";
  run.version = "0.1.0";
  run.started_at = started_at;
  const std::int64_t id = store.begin_run(run);
  store.append(id, example_result(1, 3));
  return id;
}

StoredJudgement judgement_of(std::int64_t run) {
  StoredJudgement judgement{.run = run,
                            .judged_at = "2026-11-23T09:00:00Z",
                            .version = "0.1.0",
                            .baseline = "branch=main",
                            .rule = R"({"least_effect":0.03})",
                            .runs = {"b", "a"},
                            .earlier = {"z"},
                            .verdicts = {}};
  judgement.verdicts.push_back({.question = "a question",
                                .verdict = "regressed",
                                .reason = "+5.0 %",
                                .launches = 10,
                                .compared = true,
                                .before = 0.1,
                                .after = 0.105,
                                .shift = 0.05,
                                .interval = {0.04, 0.06},
                                .p = 1e-5,
                                .corrected = 1e-4});
  judgement.verdicts.push_back({.question = "another", .verdict = "new", .reason = "it is", .launches = 5});
  return judgement;
}

TEST_F(StoredJudgements, AreGivenBackAsTheyWere) {
  const std::int64_t run = add_run(store, "2026-11-20T00:00:00Z");
  const StoredJudgement kept = store.keep(judgement_of(run));
  StoredJudgement expected = judgement_of(run);
  expected.id = kept.id;
  ASSERT_EQ(kept.verdicts.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) expected.verdicts[i].id = kept.verdicts[i].id;
  EXPECT_NE(kept.verdicts[0].id, kept.verdicts[1].id);
  EXPECT_EQ(kept, expected);
  const Store reader(file, Store::Mode::read_only);
  EXPECT_THAT(reader.judgements(run), ElementsAre(expected));
  EXPECT_TRUE(reader.judgements(99).empty());
}

TEST(MergedJudgements, AreThereOnceAndGoWithTheirRun) {
  const TemporaryFolder folder;
  const fs::path other = folder / "other.db", mine = folder / "mine.db";
  {
    Store(mine).begin_run(
        {.command = "first", .version = "0", .started_at = "2026-11-19T00:00:00Z", .environment = {}});
    Store store(other);
    const std::int64_t run = add_run(store, "2026-11-20T00:00:00Z");
    store.keep(judgement_of(run));
    store.freeze({.name = "release", .runs = {run}, .frozen_at = "2026-11-20T00:00:00Z"});
  }
  merge_database(other, mine);
  merge_database(other, mine);
  {
    const Store merged(mine, Store::Mode::read_only);
    EXPECT_TRUE(merged.judgements(1).empty());
    ASSERT_EQ(merged.judgements(2).size(), 1u) << "of its number here";
    EXPECT_EQ(merged.judgements(2)[0].runs, (std::vector<std::string>{"b", "a"}));
    EXPECT_EQ(merged.judgements(2)[0].verdicts.size(), 2u);
    ASSERT_EQ(merged.frozen().size(), 1u);
    EXPECT_THAT(merged.frozen()[0].runs, ElementsAre(2));
  }
  prune_database(mine, {.before = "2027-01-01T00:00:00Z", .keep = 0}, false);
  const Store pruned(mine, Store::Mode::read_only);
  EXPECT_TRUE(pruned.runs().empty());
  EXPECT_TRUE(pruned.judgements(2).empty());
  EXPECT_TRUE(pruned.frozen().empty());
}

TEST_F(FrozenBaselines, AreReplacedByTheirNameAndForgotten) {
  const std::int64_t first = add_run(store, "2026-11-20T00:00:00Z"), second = add_run(store, "2026-11-21T00:00:00Z");
  EXPECT_TRUE(store.frozen().empty());
  store.freeze({.name = "v2", .runs = {first}, .frozen_at = "2026-11-20T00:00:00Z"});
  store.freeze({.name = "v1", .runs = {first, second}, .frozen_at = "2026-11-22T00:00:00Z"});
  store.freeze({.name = "v2", .runs = {second}, .frozen_at = "2026-11-23T00:00:00Z"});
  const FrozenBaseline v1{"v1", {first, second}, "2026-11-22T00:00:00Z"}, v2{"v2", {second}, "2026-11-23T00:00:00Z"};
  EXPECT_THAT(store.frozen(), ElementsAre(v1, v2));
  EXPECT_TRUE(store.unfreeze("v1"));
  EXPECT_FALSE(store.unfreeze("v1"));
  EXPECT_THAT(store.frozen(), ElementsAre(v2));
}

TEST_F(AStoredCase, IsFoundForTheLaunchesThatAreAddedToIt) {
  const std::int64_t first = add_run(store, "2026-11-20T00:00:00Z"), second = add_run(store, "2026-11-21T00:00:00Z");
  const Case asked = example_result(1, 3).asked;
  const auto of_first = store.find(first, asked), of_second = store.find(second, asked);
  ASSERT_TRUE(of_first && of_second);
  EXPECT_NE(*of_first, *of_second);
  store.add(*of_second, {{.launch = 7, .metric = "step_seconds", .value = 1, .unit = "s"}});
  EXPECT_EQ(store.of_run(second)[0].samples.back().launch, 7);
  Case elsewhere = asked;
  elsewhere.machine = "another";
  elsewhere.profile = "local";
  EXPECT_EQ(store.find(second, elsewhere), std::nullopt);
  EXPECT_EQ(store.find(99, asked), std::nullopt);
}

}  // namespace
}  // namespace hbench::store_judgements_test

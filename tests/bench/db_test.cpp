// `hbench db`: what it prints and how it ends, within this process.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/store/store.hpp"
#include "bench/database/database.hpp"
#include "collectives/base/table.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::db_test {
namespace {

using nlohmann::json;

std::string at(std::chrono::sys_seconds now, std::string_view age) { return time_before(now, age, "--older-than"); }

TEST(Age, IsTakenFromATime) {
  using namespace std::chrono;
  const sys_seconds now = sys_days(year(2026) / 3 / 1) + hours(12) + minutes(30) + seconds(5);
  EXPECT_EQ(at(now, "1h"), "2026-03-01T11:30:05Z");
  EXPECT_EQ(at(now, "36h"), "2026-02-28T00:30:05Z");
  EXPECT_EQ(at(now, "1d"), "2026-02-28T12:30:05Z");
  EXPECT_EQ(at(now, "2w"), "2026-02-15T12:30:05Z");
  EXPECT_EQ(at(now, "90d"), "2025-12-01T12:30:05Z") << "February has 28 days, January and December 31";
  EXPECT_EQ(at(now, "36500d").size(), 20u);
}

TEST(Age, HasAWholeNumberAndAUnit) {
  for (const char* age : {"", "d", "90", "90 days", "1.5d", "0d", "-1d", "90y", "36501d", "99999999999d", "9d9", "nan"})
    expect_error([&] { at({}, age); }, ExitCode::usage, HasSubstr(fmt::format("--older-than {} is no age", age)),
                 "write a whole number and h, d or w, such as 36h, 90d or 12w");
}

class DbVerb : public testing::Test {
 protected:
  std::string path(std::string_view name) const { return (folder_ / name).string(); }

  /// Appends a run of this day with `cases` cases of two samples each.
  void add_run(std::string_view name, std::string_view day, int cases, std::map<std::string, std::string> labels = {}) {
    Store store(folder_ / name);
    const std::int64_t run = store.begin_run({.command = "hbench sweep",
                                              .version = "0.1.0",
                                              .started_at = fmt::format("{}T00:00:00Z", day),
                                              .environment = {},
                                              .labels = std::move(labels)});
    for (int i = 0; i < cases; ++i) {
      CaseResult result;
      result.asked = {.workload = "vgg16", .gpus = i + 1, .profile = "p", .implementation = "simulator/1"};
      result.samples = {{.metric = "step_seconds", .value = 1, .unit = "s"},
                        {.metric = "step_seconds_low", .value = 0.5, .unit = "s"}};
      store.append(run, result);
    }
  }

  Ran run(std::vector<std::string> words) const { return run_verb("db", std::move(words)); }

  TemporaryFolder folder_;
};

TEST_F(DbVerb, MergesAndSaysWhatCame) {
  add_run("a.db", "2026-11-01", 2);
  add_run("b.db", "2026-11-02", 1);
  add_run("b.db", "2026-11-03", 0);
  const Ran first = run({"merge", path("a.db"), path("b.db"), "--db", path("all.db")});
  EXPECT_EQ(first.code, ExitCode::good);
  EXPECT_EQ(first.out, fmt::format("{}: 1 run came, with 2 cases and 4 samples; 0 were there\n"
                                   "{}: 2 runs came, with 1 case and 2 samples; 0 were there\n",
                                   path("a.db"), path("b.db")));
  EXPECT_EQ(run({"merge", path("b.db"), "--db", path("all.db")}).out,
            path("b.db") + ": nothing new; 2 runs were there\n");
  const json again = json::parse(run({"merge", path("a.db"), "--db", path("all.db"), "--json"}).out);
  EXPECT_EQ(again, json::parse(fmt::format(R"({{"db": "{}", "merged": [{{"file": "{}", "runs_added": 0,
      "runs_completed": 0, "runs_known": 1, "cases": 0, "samples": 0}}]}})",
                                           path("all.db"), path("a.db"))));
}

TEST_F(DbVerb, ChecksAndSaysSoByItsExitCode) {
  add_run("r.db", "2026-11-01", 3);
  const Ran good = run({"check", "--db", path("r.db")});
  EXPECT_EQ(good.code, ExitCode::good);
  EXPECT_THAT(good.out, AllOf(HasSubstr("pass: integrity"), HasSubstr("errors 0, notes 0"), Not(HasSubstr("error: "))));
  run_sql(folder_ / "r.db", "DELETE FROM sample WHERE case_id = 2");
  const Ran bad = run({"check", "--db", path("r.db")});
  EXPECT_EQ(bad.code, ExitCode::wrong_data);
  EXPECT_THAT(bad.out, AllOf(HasSubstr(path("r.db") + ": error: plausibility: "), HasSubstr("errors 1, notes 0")));
  const Ran as_json = run({"check", "--db", path("r.db"), "--json"});
  EXPECT_EQ(as_json.code, ExitCode::wrong_data);
  int wrong = 0;
  const json checks = json::parse(as_json.out).at("checks");
  for (const json& row : checks) wrong += row.at("health") == "error";
  EXPECT_EQ(wrong, 1);
  write_bytes(path("notes.txt"), std::string(3000, 'x'));
  expect_error([&] { run({"check", "--db", path("notes.txt")}); }, ExitCode::usage, HasSubstr("no hbench results"));
}

TEST_F(DbVerb, PrunesWhatMeetsEveryConditionAndSaysWhatWouldGo) {
  add_run("r.db", "2020-01-01", 1, {{"branch", "main"}});
  add_run("r.db", "2020-02-01", 2);
  add_run("r.db", "2020-03-01", 3, {{"branch", "main"}});
  const Ran dry = run({"prune", "--db", path("r.db"), "--keep", "1", "--label", "branch=main", "--dry-run"});
  EXPECT_EQ(dry.code, ExitCode::good);
  EXPECT_THAT(dry.out, AllOf(HasSubstr("run 1 of 2020-01-01T00:00:00Z (branch=main): 1 case, 2 samples\n"),
                             HasSubstr("would remove 1 run, 1 case, 2 samples, "), Not(HasSubstr("run 3"))));
  EXPECT_EQ(Store(folder_ / "r.db").runs().size(), 3u);
  const json all = json::parse(run({"prune", "--db", path("r.db"), "--older-than", "1d", "--json", "--dry-run"}).out);
  EXPECT_EQ(all.at("dry_run"), true);
  EXPECT_EQ(all.at("runs").size(), 2u) << "never the newest";
  EXPECT_EQ(all.at("runs")[0].at("labels"), json({{"branch", "main"}}));
  EXPECT_EQ(all.at("runs")[1].at("cases"), 2);
  EXPECT_EQ(all.at("runs")[1].at("uuid"), Store(folder_ / "r.db").runs()[1].uuid);
  EXPECT_TRUE(
      json::parse(run({"prune", "--db", path("r.db"), "--older-than", "5000w", "--json"}).out).at("runs").empty());
  EXPECT_THAT(run({"prune", "--db", path("r.db"), "--older-than", "1d", "--keep", "2"}).out,
              HasSubstr("removed 1 run, 1 case, 2 samples"));
  EXPECT_EQ(Store(folder_ / "r.db").runs().size(), 2u);
}

TEST_F(DbVerb, RefusesToPruneWithoutACondition) {
  add_run("r.db", "2020-01-01", 1);
  for (const std::vector<std::string>& extra :
       {std::vector<std::string>{}, {"--dry-run"}, {"--label", "branch=main"}, {"--json"}}) {
    std::vector<std::string> words{"prune", "--db", path("r.db")};
    words.insert(words.end(), extra.begin(), extra.end());
    expect_error([&] { run(words); }, ExitCode::usage, "which runs are to go is not said",
                 "add --older-than 90d or --keep 100; with --dry-run nothing is removed");
  }
  for (const std::vector<std::string>& extra : {std::vector<std::string>{"--keep", "0"},
                                                {"--keep", "-3"},
                                                {"--older-than", "90"},
                                                {"--keep", "3", "--label", "main"}}) {
    std::vector<std::string> words{"prune", "--db", path("r.db")};
    words.insert(words.end(), extra.begin(), extra.end());
    expect_error([&] { run(words); }, ExitCode::usage, testing::_);
  }
  EXPECT_EQ(Store(folder_ / "r.db").runs().size(), 1u);
}

TEST_F(DbVerb, VacuumSaysWhatItGaveBack) {
  for (int day = 1; day <= 9; ++day) add_run("r.db", fmt::format("2020-01-0{}", day), 40);
  run({"prune", "--db", path("r.db"), "--keep", "1"});
  const auto before = std::filesystem::file_size(path("r.db"));
  const std::string said = run({"vacuum", "--db", path("r.db")}).out;
  const auto after = std::filesystem::file_size(path("r.db"));
  EXPECT_LT(after, before);
  EXPECT_EQ(said, vacuum_text(path("r.db"), {.before = before, .after = after}));
  EXPECT_EQ(vacuum_text("r.db", {.before = 4096 * 10, .after = 4096 * 8}),
            "r.db: 8 KiB given back to the disk, 32 KiB left\n");
}

TEST_F(DbVerb, NamesItsActions) {
  EXPECT_THAT(run({}).out, AllOf(HasSubstr("merge"), HasSubstr("check"), HasSubstr("prune"), HasSubstr("vacuum")));
  expect_error([&] { run({"merg"}); }, ExitCode::usage, "no action on databases 'merg'; did you mean 'merge'?");
  expect_error([&] { run({"merge"}); }, ExitCode::usage, "no database to merge");
}

TEST(DbText, EscapesWhatRunsAreCalled) {
  PruneResult result{.runs = {{.run = {.started_at = "now\n::error::", .labels = {{"k", "a\nb<script>"}}}}}};
  EXPECT_EQ(std::ranges::count(prune_text("r.db", result, true), '\n'), 2);
  result.runs[0].run.labels["k"] = "\xff\"";
  EXPECT_NO_THROW(json::parse(prune_json("r.db", result, true)));
}

}  // namespace
}  // namespace hbench::db_test

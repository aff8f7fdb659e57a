// hbench track history: series of runs, and where their levels change.

#include "analysis/track/history.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "reports/track/history.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/bench/tracked_database.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::track_history_test {
namespace {

/// Three launches about `seconds`.
CaseResult three_launches(const Case& asked, double seconds) {
  CaseResult result{.asked = asked};
  for (int launch = 0; launch < 3; ++launch)
    result.samples.push_back({.launch = launch,
                              .rank = 0,
                              .iteration = 0,
                              .warmup = false,
                              .metric = "step_seconds",
                              .value = seconds * (1 + 0.002 * (launch - 1)),
                              .unit = "s"});
  return result;
}

class TrackHistory : public testing::Test {
 protected:
  void add_run(const std::vector<CaseResult>& results, const std::string& branch = "main") {
    Store store(file_);
    ++runs_;
    store.append(store.begin_run({.command = "hbench sweep",
                                  .version = "0.1.0",
                                  .started_at = fmt::format("2026-11-{:02}T00:00:00Z", runs_ % 28 + 1),
                                  .environment = {},
                                  .labels = {{"branch", branch}, {"commit", fmt::format("c{}", runs_)}}}),
                 results);
  }
  /// `vgg16` and `resnet18`; from the 11th run on vgg16 takes 5 % longer.
  void add_twenty_runs() {
    for (int run = 1; run <= 20; ++run) {
      const double scatter = 1 + 0.001 * (run % 3 - 1);
      add_run({three_launches(step_of("resnet18"), 0.1 * scatter),
               three_launches(step_of("vgg16"), (run > 10 ? 0.21 : 0.2) * scatter)});
    }
  }
  std::vector<CaseHistory> read(const std::string& match = "") {
    return history(Store(file_, Store::Mode::read_only), {.labels = {{"branch", "main"}}, .match = match, .rule = {}});
  }
  std::string printed(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "history");
    arguments.insert(arguments.end(), {"--db", file_.string()});
    return printed_by("track", std::move(arguments));
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "t.db";
  int runs_ = 0;
};

TEST_F(TrackHistory, SaysBetweenWhichRunsALevelChanged) {
  add_twenty_runs();
  const std::vector<CaseHistory> all = read();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].changes.empty());
  EXPECT_EQ(all[0].points.size(), 20U);
  EXPECT_NEAR(all[0].level(7), 0.1, 1e-9);
  const CaseHistory& vgg = all[1];
  ASSERT_EQ(vgg.changes.size(), 1U);
  EXPECT_EQ(vgg.changes[0].first, 10U);
  EXPECT_EQ(vgg.points[10].producer.commit(), "c11");
  EXPECT_NEAR(vgg.changes[0].shift, 0.05, 1e-3);
  EXPECT_GT(vgg.changes[0].interval.low, 0.045);
  EXPECT_LT(vgg.changes[0].interval.high, 0.055);
  EXPECT_EQ(vgg.level_begin(9), 0U);
  EXPECT_EQ(vgg.level_end(9), 10U);
  EXPECT_EQ(vgg.level_begin(10), 10U);
  EXPECT_EQ(vgg.level_end(10), 20U);
  EXPECT_NEAR(vgg.level(3), 0.2, 1e-9);
  EXPECT_NEAR(vgg.level(15), 0.21, 1e-9);
}

TEST_F(TrackHistory, HasTheAnswersOfItsLabelAndPlaceOnly) {
  add_run({three_launches(step_of("vgg16"), 0.2)});
  add_run({three_launches(step_of("vgg16"), 0.9)}, "topic");
  add_run({three_launches(step_of("vgg16", "loud"), 0.9)});
  CaseResult failed{.asked = step_of("vgg16")};
  failed.status = CaseStatus::failed;
  add_run({failed});
  add_run({three_launches(step_of("vgg16"), 0.21)});
  const std::vector<CaseHistory> all = read();
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].points.size(), 2U);
  EXPECT_EQ(all[0].points[1].producer.run, 5);
}

TEST_F(TrackHistory, ShowsTheCasesThatAreAskedFor) {
  add_twenty_runs();
  EXPECT_EQ(read("VGG").size(), 1U);
  const std::string text = printed({});
  EXPECT_THAT(text, AllOf(HasSubstr("1 of 2 cases have changed their level"), HasSubstr("vgg16, 2 ranks"),
                          HasSubstr("+5.0 %"), HasSubstr("c10"), HasSubstr("c11"), HasSubstr("210 ms")));
  EXPECT_THAT(printed({"--case", "resnet"}), HasSubstr("No change of level in 1 case."));
  EXPECT_THAT(printed({"--least-effect", "6%"}), HasSubstr("No change of level in 2 cases."));
}

TEST_F(TrackHistory, IsAPageWithAChartAndJson) {
  add_twenty_runs();
  const std::string page = (folder_ / "history.html").string();
  printed({"--out", page});
  EXPECT_THAT(read_file(page), AllOf(HasSubstr("<svg"), HasSubstr("level 200 ms"), HasSubstr("level 210 ms")));
  const auto json = nlohmann::json::parse(printed({"--json", "--case", "vgg"}));
  const auto& change = json.at("cases").at(0).at("changes").at(0);
  EXPECT_EQ(change.at("last_commit_before"), "c10");
  EXPECT_EQ(change.at("first_commit_after"), "c11");
  EXPECT_EQ(change.at("last_run_before"), 10);
  EXPECT_NEAR(change.at("shift"), 0.05, 1e-3);
  EXPECT_EQ(json.at("cases").at(0).at("points").size(), 20);
  EXPECT_EQ(json.at("cases").at(0).at("points").at(0).at("launches").size(), 3);
}

TEST_F(TrackHistory, IsDrawnOverDatesWithTheCommitsOfNewLevels) {
  add_twenty_runs();
  const Document document = history_document(read("vgg"), {});
  const Chart& chart = std::get<ChartGroup>(document.blocks.at(1)).charts.at(0);
  EXPECT_TRUE(chart.x_dates);
  const std::vector<ChartPoint>& points = chart.series.at(0).points;
  EXPECT_EQ(points.at(0).x, 1793577600) << "2026-11-02, by date -u +%s";
  EXPECT_EQ(points.at(0).note, "run 1, commit c1, 2026-11-02T00:00:00Z");
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(points[i].label, i == 10 ? "c11" : "") << i;
}

TEST_F(TrackHistory, IsDrawnOverRunsWhereNoDatesPlaceThem) {
  CaseHistory known{.name = "vgg16", .unit = "s"};
  for (const int run : {3, 4}) known.points.push_back({{.run = run, .started_at = "once"}, 0.2, {0.2}});
  const Document document = history_document({known}, {});
  const Chart& chart = std::get<ChartGroup>(document.blocks.at(1)).charts.at(0);
  EXPECT_FALSE(chart.x_dates);
  EXPECT_EQ(chart.series.at(0).points.at(1).x, 4);
}

TEST_F(TrackHistory, SaysWhatThereIsNot) {
  const auto refused = [&](std::vector<std::string> arguments, const char* what, const char* hint) {
    expect_error([&] { printed(std::move(arguments)); }, ExitCode::usage, what, hint);
  };
  add_run({}, "topic");
  refused({}, "no run has branch=main", "hbench sweep --label branch=main stores one");
  refused({"--label", "topic"}, "run 1 has no timed case", "measure with hbench sweep or hbench collective");
  add_run({three_launches(step_of("vgg16"), 0.2)});
  refused({"--case", "bert"}, "no case of run 2 has 'bert' in its name", "such as 'vgg16, 2 ranks, ring, batch 16'");
}

}  // namespace
}  // namespace hbench::track_history_test

// Profiles fitted to steps: what made the steps is found again, and what they do not depend on is said to be unknown.

#include "analysis/fit/fit_profile.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/fit/profile_text.hpp"
#include "analysis/published/published.hpp"
#include "bench/launch/installation.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "reports/fit/fits.hpp"
#include "tests/bench/fit_rows.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::fit_profile_test {
namespace {

// A rate that was known within a factor of 5 is known better once steps determine it; one that they do not, is not.
TEST(FitProfile, NarrowsTheFactorsOfRatesThatTheStepsDetermine) {
  const Data data = load_data();
  Profile base = data.profiles.load(kCluster);
  base.server_factor = 5;
  base.stream_cap = base.line_rate * 0.5;
  base.stream_factor = 3;
  const FittedProfile fitted = fit_profile(base, measured_on(base, rows_up_to(16), data), data);
  ASSERT_TRUE(parameter_of(fitted, "parameter_server.rate").determined);
  EXPECT_DOUBLE_EQ(fitted.profile.server_factor,
                   std::exp(1.645 * parameter_of(fitted, "parameter_server.rate").deviation));
  EXPECT_LT(fitted.profile.server_factor, 2);
  EXPECT_THAT(format_profile(fitted.profile), HasSubstr("factor = { value = 1."));
  const FittedProfile one_node = fit_profile(base, measured_on(base, rows_up_to(4), data), data);
  EXPECT_EQ(one_node.profile.stream_factor, 3);
  EXPECT_EQ(one_node.profile.server_factor, 5);
}

TEST(FitProfile, LeavesWhatTheStepsDoNotDependOnWhereItWas) {
  const Data data = load_data();
  const Profile base = data.profiles.load(kCluster);
  Profile truth = base;
  truth.local_rate = base.local_rate * 0.7;
  const FittedProfile fitted = fit_profile(base, measured_on(truth, rows_up_to(4), data), data);
  EXPECT_NEAR(fitted.profile.local_rate / truth.local_rate, 1, 0.05);
  EXPECT_FALSE(parameter_of(fitted, "network.latency").determined);
  EXPECT_EQ(fitted.profile.network_latency.value, base.network_latency.value) << "all on one node";
  EXPECT_GE(fitted.profile.uncertainty, base.uncertainty) << "of the network nothing was learnt";
  const std::string text = fit_json(fitted, "mine.toml");
  EXPECT_EQ(nlohmann::json::parse(text).at("steps").size(), fitted.rows.size());
  EXPECT_EQ(nlohmann::json::parse(text).at("written_to"), "mine.toml");
}

// Three steps that contradict each other: whatever is fitted to two of them is worse for the third.
TEST(FitProfile, RefusesRowsThatSayTooLittle) {
  const Data data = load_data();
  const Profile base = data.profiles.load(kCluster);
  std::vector<CaseResult> rows = rows_up_to(32);
  std::erase_if(rows, [](const CaseResult& row) {
    return row.asked.gpus == 4 || row.asked.strategy.uses_servers() || row.asked.workload != "bert_base" ||
           row.asked.strategy.overlap;
  });
  ASSERT_EQ(rows.size(), 3);
  for (CaseResult* slow : {&rows[0], &rows[1]})
    for (Sample& sample : slow->samples)
      if (sample.metric == "throughput") sample.value *= 0.75;
  const FittedProfile fitted = fit_profile(base, rows, data);
  expect_error([&] { require_better(fitted, data); }, ExitCode::usage,
               AllOf(HasSubstr("3 steps say too little of hkbu-10gbe"), HasSubstr("without it")),
               AllOf(HasSubstr("nothing is written"), HasSubstr("the next best step is bert_base on"),
                     HasSubstr("would be known within a factor of")));
}

TEST(FitProfile, KeepsTheRateOfAFullNodeAndNamesTheNextRow) {
  const Data data = load_data();
  const Profile base = data.profiles.load(kCluster);
  const FittedProfile fitted = fit_profile(base, measured_on(base, rows_up_to(4), data), data);
  const GpuRate& rate = fitted.profile.rates.at("resnet50");
  EXPECT_GT(rate.node, 3 * rate.samples_per_second);
  EXPECT_THAT(format_profile(fitted.profile), HasSubstr(", node = "));
  const std::optional<NextRow> next = next_row(fitted, data);
  ASSERT_TRUE(next) << "nothing was measured on several nodes";
  EXPECT_GT(next->gpus, base.gpus_per_node);
  EXPECT_THAT(next->figure, StartsWith("network."));
  EXPECT_LT(next->after, next->before);
}

TEST(FitProfile, TellsHowOftenItHasSimulatedTheRows) {
  const Data data = load_data();
  std::vector<std::string> begun;
  fit_profile(data.profiles.load(kCluster), rows_up_to(4), data,
              {.begun = [&](std::string_view what) { begun.emplace_back(what); }});
  ASSERT_GE(begun.size(), 7u) << "once, and once beside it for each of six figures";
  for (std::size_t i = 0; i < begun.size(); ++i)
    EXPECT_THAT(begun[i], EndsWith("simulated " + counted(static_cast<std::int64_t>(i) + 1, "time")));
}

std::vector<std::string> figures_fitted(const Profile& base, const std::vector<CaseResult>& rows) {
  std::vector<std::string> names;
  for (const Prior& prior : fit_profile(base, rows, load_data()).fit.priors) names.push_back(prior.name);
  return names;
}

TEST(FitProfile, FitsWhatTheClusterAndTheStepsHave) {
  const Data data = load_data();
  std::vector<CaseResult> capped;
  for (const CaseResult& row : published_results())
    if (row.asked.profile == "capped-5gbit") capped.push_back(row);
  EXPECT_THAT(figures_fitted(data.profiles.load("capped-5gbit"), capped),
              ElementsAre("network.line_rate", "network.latency", "compute.straggler", "compute.overlap_slowdown"));
  std::vector<CaseResult> rings = rows_up_to(4);
  std::erase_if(rings, [](const CaseResult& row) { return row.asked.strategy.uses_servers(); });
  Profile pairs = data.profiles.load(kCluster);
  pairs.gpus_per_node = 2;
  pairs.stream_cap = pairs.line_rate * 0.5;
  pairs.straggler = 0;
  EXPECT_THAT(figures_fitted(pairs, measured_on(pairs, rings, data)),
              ElementsAre("local.rate", "network.stream_cap", "network.line_rate", "network.latency",
                          "compute.overlap_slowdown"));
}

TEST(FormatProfile, IsReadBackWithEveryFigureOfEveryProfile) {
  const Data data = load_data();
  for (const std::string& name : data.profiles.names()) {
    const Profile profile = data.profiles.load(name);
    const TemporaryFolder folder;
    write_bytes(folder / (name + ".toml"), format_profile(profile));
    const Profile again = ProfileLibrary(data.profiles).load((folder / (name + ".toml")).string());
    EXPECT_EQ(again.title, profile.title);
    EXPECT_EQ(again.gpus_per_node, profile.gpus_per_node);
    EXPECT_EQ(again.most_nodes, profile.most_nodes);
    EXPECT_EQ(again.path_rate().value, profile.path_rate().value) << name;
    EXPECT_EQ(again.node_rate().value, profile.node_rate().value) << name;
    EXPECT_EQ(again.stream_factor, profile.stream_factor);
    EXPECT_EQ(again.local_rate.value, profile.local_rate.value);
    EXPECT_EQ(again.network_latency.value, profile.network_latency.value);
    EXPECT_EQ(again.server_rate.value, profile.server_rate.value);
    EXPECT_EQ(again.memory_rate.value, profile.memory_rate.value) << name;
    EXPECT_EQ(again.straggler, profile.straggler);
    EXPECT_EQ(again.uncertainty, profile.uncertainty);
    EXPECT_EQ(again.price, profile.price) << name;
    EXPECT_EQ(again.provider, profile.provider);
    EXPECT_EQ(again.assumed().size(), profile.assumed().size()) << name;
    EXPECT_EQ(again.at(End::worse).path_rate().value, profile.at(End::worse).path_rate().value) << name;
    EXPECT_EQ(again.rates.size(), profile.rates.size()) << name;
  }
}

std::string calibrate(const std::vector<std::string>& arguments) { return printed_by("calibrate", arguments); }

constexpr const char* kHeader =
    "workload,profile,gpus,batch_per_gpu,algorithm,placement,server_mode,servers,compressor,fusion,overlap,throughput,"
    "efficiency,baseline_throughput,calibrated,year,source,note\n";

std::string row(const std::string& cluster, int gpus, const std::string& figures) {
  return "resnet50," + cluster + "," + std::to_string(gpus) + ",64,ring,,,,none,none,yes," + figures +
         ",253.1,no,2026,https://example.org/here,\n";
}

TEST(CalibrateFromRows, WritesAProfileThatOthersRead) {
  const TemporaryFolder folder;
  const std::string rows = (folder / "rows.csv").string(), out = (folder / "mine.toml").string();
  write_bytes(rows, kHeader + row(kCluster, 4, "900,") + row(kCluster, 8, "1500,") + row(kCluster, 16, ",0.7"));
  const std::string text = calibrate({"--from", rows, "--profile", kCluster, "--out", out, "--all"});
  EXPECT_THAT(text, AllOf(HasSubstr("fitted to 3 steps"), HasSubstr("local.rate"), HasSubstr("hardly"),
                          HasSubstr("Each step"), HasSubstr("Wrote " + out)));
  EXPECT_THAT(read_file(out), AllOf(HasSubstr("10 GbE, fitted to 3 steps"), HasSubstr("\"4.7 GB/s\"")))
      << "what they hardly determine stays as it was";
  EXPECT_EQ(load_data().profiles.load(out).name, "mine");
}

// Samples for each of 1,000 steps, say.
TEST(CalibrateFromRows, RefusesStepsThatItCannotExplainAndWritesNothing) {
  const TemporaryFolder folder;
  const std::string rows = (folder / "rows.csv").string(), out = (folder / "mine.toml").string();
  write_bytes(rows,
              kHeader + row(kCluster, 4, "1015400,") + row(kCluster, 8, "1795740,") + row(kCluster, 16, "3146780,"));
  expect_refused(
      "calibrate", {"--from", rows, "--profile", kCluster, "--out", out},
      HasSubstr("hkbu-10gbe cannot explain these steps: they are off by a factor of 992 on average after the fit"),
      "check their unit, and that they were measured on this cluster; nothing is written");
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(CalibrateFromRows, NamesTheFileInJson) {
  const TemporaryFolder folder;
  const std::string rows = (folder / "rows.csv").string(), out = (folder / "mine.toml").string();
  write_bytes(rows, kHeader + row(kCluster, 4, "900,") + row(kCluster, 8, "1500,") + row(kCluster, 16, ",0.7"));
  const std::string text = calibrate({"--from", rows, "--profile", kCluster, "--out", out, "--json", "--quiet"});
  EXPECT_EQ(nlohmann::json::parse(text).at("written_to"), out);
  EXPECT_TRUE(std::filesystem::exists(out));
}

TEST(CalibrateFromRows, SaysWhatIsWrongWithTheRows) {
  const TemporaryFolder folder;
  const std::string rows = (folder / "rows.csv").string();
  const auto refused = [&](const std::string& text, const testing::Matcher<std::string>& what,
                           const testing::Matcher<std::string>& hint) {
    write_bytes(rows, text);
    expect_error(
        [&] {
          calibrate({"--from", rows, "--profile", kCluster, "--out", (folder / "x.toml").string()});
        },
        ExitCode::usage, what, hint);
  };
  const std::string good = row(kCluster, 4, "900,");
  refused("workload,profil\n", HasSubstr("rows.csv:1: no column 'profil'; did you mean 'profile'?"),
          HasSubstr("columns"));
  refused(kHeader + good + row(kCluster, 8, ",1.4"), HasSubstr("rows.csv:3: an efficiency of 1.4 is impossible"),
          testing::_);
  refused(kHeader + row(kCluster, 8, "0,"), HasSubstr("rows.csv:2: throughput must be more than 0"), testing::_);
  refused(kHeader + row("lab", 8, "900,"), HasSubstr("has no rows of hkbu-10gbe"), HasSubstr("has lab"));
  refused(kHeader + good + good, HasSubstr("too few"), HasSubstr("at least 3"));
  std::string misspelt = row(kCluster, 8, "900,");
  misspelt.replace(misspelt.find("ring"), 4, "rign");
  refused(kHeader + good + misspelt + good, HasSubstr("rows.csv:3: no algorithm 'rign'; did you mean 'ring'?"),
          HasSubstr("ring"));
  EXPECT_FALSE(std::filesystem::exists(folder / "x.toml"));
}

TEST(CalibrateFromRows, NeedsAProfileToStartFrom) {
  expect_refused("calibrate", {"--from", "rows.csv"}, "--from needs a profile to start from",
                 "add such as --profile hkbu-10gbe (hbench list profiles); nor is there a file rows.csv");
}

}  // namespace
}  // namespace hbench::fit_profile_test

// hbench choose with failures: what they cost by hand, who loses what, and flags that make no sense.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "collectives/base/file.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::choose_failures_test {
namespace {

using Arguments = std::vector<std::string>;

/// The best alternative on 64 GPUs of a cluster.
nlohmann::json best_on(const std::string& profile, const Arguments& more) {
  Arguments arguments{"--workload", "bert_large", "--gpus", "64",       "--profile", profile, "--samples",
                      "1M",         "--preset",   "ddp",    "--target", "1%",        "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return nlohmann::json::parse(printed_by("choose", arguments)).at("clusters").at(0);
}

double hours_of(const nlohmann::json& best) { return best.at("hours").at("stated"); }

TEST(ChooseWithFailures, CostsWhatItDidWhereNoneCome) {
  const auto without = best_on("dgx-a100", {});
  EXPECT_TRUE(without.at("interruptions").is_null());
  const auto with = best_on("dgx-a100", {"--mtbf", "1e12h", "--checkpoint-time", "1s"});
  EXPECT_NEAR(hours_of(with), hours_of(without), 1e-6 * hours_of(without));
  EXPECT_EQ(with.at("efficiency"), without.at("efficiency"));
}

TEST(ChooseWithFailures, TakesAsMuchLongerAsTrainingIsALesserShare) {
  const auto without = best_on("dgx-a100", {});
  const auto with = best_on("dgx-a100", {"--mtbf", "640h", "--checkpoint-time", "36s", "--restart-time", "6min"});
  const auto& by = with.at("interruptions");
  EXPECT_NEAR(by.at("hours_between"), 10, 1e-12) << "640 h of a GPU are 10 h of 64";
  EXPECT_NEAR(by.at("checkpoint_hours"), 0.01, 1e-12);
  EXPECT_NEAR(by.at("restart_hours"), 0.1, 1e-12);
  EXPECT_NEAR(by.at("checkpoint_every_hours"), std::sqrt(2 * 0.01 * 10), 0.01) << "Young";
  const double share = by.at("share").at("stated");
  EXPECT_NEAR(share, 1 - 0.01 / 0.447 - (0.447 / 2 + 0.1) / 10, 0.003) << "of the first order";
  EXPECT_NEAR(hours_of(with), hours_of(without) / share, 1e-9);
  EXPECT_EQ(by.at("share").at("low"), share) << "they are known";
}

TEST(ChooseWithFailures, KnowsPublishedOnesWithinAFactor) {
  const auto by = best_on("dgx-a100", {"--mtbf", "usual"}).at("interruptions");
  EXPECT_NEAR(by.at("hours_between"), 55'000 / 64.0, 1e-9);
  EXPECT_LT(by.at("share").at("low"), by.at("share").at("stated"));
  EXPECT_EQ(by, best_on("dgx-a100", {"--restart-time", "11min"}).at("interruptions")) << "each flag counts them";
}

// Parameters and the optimizer's two numbers, of 335 M each, by one node of eight or by all.
TEST(ChooseWithFailures, WritesWhatAMethodSharesOutByAllNodes) {
  const auto checkpoint = [](const char* method) {
    return best_on("dgx-a100", {"--mtbf", "usual", "--method", method}).at("interruptions").at("checkpoint_hours");
  };
  const double whole = checkpoint("synchronous");
  EXPECT_NEAR(whole * 3600, 3 * 4 * 0.335e9 / (0.16 * 250e9 / 63), 0.3);
  EXPECT_NEAR(checkpoint("zero:1"), whole / 8, 1e-12);
}

TEST(ChooseWithFailures, OfLocalSgdLosesOneReplicaSinceTheMeans) {
  const auto best = best_on("dgx-a100", {"--mtbf", "640h", "--restart-time", "6min", "--method", "local-sgd:8"});
  const auto& by = best.at("interruptions");
  EXPECT_NEAR(by.at("hours_between"), 640, 1e-9);
  EXPECT_EQ(by.at("checkpoint_hours"), 0);
  EXPECT_LT(by.at("checkpoint_every_hours"), 0.01);
  EXPECT_NEAR(by.at("share").at("stated"), 1 - 0.1 / 640, 1e-4);
}

/// A cluster of eight A100 a node, bought as spot.
std::string spot_profile(const TemporaryFolder& folder) {
  const std::filesystem::path file = folder / "spot.toml";
  write_bytes(file, read_file(HBENCH_SOURCE_DIR "/cluster-profiles/dgx-a100.toml") +
                        "\n[price]\nper_node_hour = 10\ncurrency = \"USD\"\nregion = \"here\"\n"
                        "retrieved = \"2026-11-01\"\nmodel = \"spot\"\nsource = \"an offer\"\n");
  return file.string();
}

TEST(ChooseWithFailures, CountsWhatASellerOfSpotNodesTakesBack) {
  const TemporaryFolder folder;
  const std::string spot = spot_profile(folder);
  const auto by = [&](const Arguments& more) {
    Arguments all{"--mtbf", "64000h"};
    all.insert(all.end(), more.begin(), more.end());
    return best_on(spot, all).at("interruptions");
  };
  EXPECT_NEAR(by({}).at("hours_between"), 1000, 1e-9);
  EXPECT_NEAR(by({"--spot", "800h"}).at("hours_between"), 1 / (1.0 / 1000 + 8.0 / 800), 1e-9);
  // What is written in time loses no training.
  const auto share = [&](const char* checkpoint) {
    return by({"--spot", "80h", "--checkpoint-time", checkpoint}).at("share").at("stated").get<double>();
  };
  EXPECT_GT(share("29s") - share("31s"), 0.01);
  EXPECT_THAT(best_on(spot, {"--mtbf", "64000h"}).at("not_known").dump(), HasSubstr("how often the seller takes"));
  const auto others = best_on("dgx-a100", {"--mtbf", "64000h", "--spot", "800h"}).at("interruptions");
  EXPECT_NEAR(others.at("hours_between"), 1000, 1e-9) << "other nodes are nobody's to take back";
}

TEST(ChooseWithFailures, SaysHowTheJobGetsOn) {
  std::string text =
      printed_by("choose", {"--workload", "bert_large", "--gpus", "64", "--profile", "dgx-a100", "--samples", "1M",
                            "--target", "1%", "--mtbf", "640h", "--restart-time", "6min", "--checkpoint-time", "36s"});
  std::ranges::replace(text, '\n', ' ');
  EXPECT_THAT(text, AllOf(HasSubstr("94.6 % (94.6 to 94.6) of the time training"),
                          HasSubstr("64 GPUs of dgx-a100: an interruption each 10 h on average, 6 min until it trains "
                                    "again; a checkpoint of 36 s after each 26"),
                          HasSubstr("  training  ")));
}

TEST(ChooseWithFailures, RefusesTimesThatMakeNoSense) {
  struct {
    const char *flag, *text, *example;
  } const rows[] = {{"--mtbf", "0", "55000h"},          {"--mtbf", "55000", "55000h"},
                    {"--mtbf", "never", "55000h"},      {"--checkpoint-time", "0s", "30s"},
                    {"--restart-time", "-1s", "11min"}, {"--spot", "nan", "180d"}};
  for (const auto& row : rows)
    expect_refused("choose", {"--workload", "bert_large", row.flag, row.text},
                   fmt::format("{} {} is invalid", row.flag, row.text), fmt::format("write such as {}", row.example));
  expect_refused("choose", {"--workload", "bert_large", "--mtbf", "1s"},
                 "--mtbf 1s: a GPU that fails each minute trains nothing");
}

}  // namespace
}  // namespace hbench::choose_failures_test

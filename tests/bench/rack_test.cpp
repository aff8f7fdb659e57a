// Racks of 72 GPUs that share NVLink switches, against measured figures: coreweave/nccl-tests (commit cb86553),
// README.md, GB200, NCCL 2.26.2, the sooner of in place and out of place. The profile's efficiency of the switch is of
// one rack at 8 GiB, what its trees carry of two racks at 16 GiB; nothing is of twenty racks.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "analysis/points/collectives.hpp"
#include "analysis/prediction/simulated_collective.hpp"
#include "bench/launch/installation.hpp"
#include "collectives/base/table.hpp"
#include "tests/bench/run_verb.hpp"

namespace hbench::rack_test {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// The racks without the curves that were measured on them.
Profile modelled(const char* name) {
  Profile profile = load_data().profiles.load(name);
  profile.curves.clear();
  return profile;
}

struct Busbw {
  double low, stated, high;  ///< GB/s
};

Busbw predicted(const Profile& profile, int racks, std::int64_t bytes) {
  Case asked;
  asked.evidence = Evidence::simulated;
  asked.profile = profile.name;
  asked.gpus = 72 * racks;
  asked.nodes = 18 * racks;
  asked.strategy.algorithm = "vendor";
  asked.strategy.compressor = "none";
  asked.collective = {
      .name = "all-reduce", .bytes = bytes, .data_type = "float32", .operation = "sum", .executor = "simulate"};
  const std::vector<CaseResult> results =
      simulate_collectives(std::vector{asked}, std::vector{profile}, {}, [](const CaseResult&) {});
  const CollectiveFigures figures = collective_figures(results.at(0));
  const double buses = 2.0 * (asked.gpus - 1) / asked.gpus * static_cast<double>(bytes) / 1e9;
  return {buses / *figures.high, buses / *figures.in_place.seconds, buses / *figures.low};
}

struct Measured {
  int racks;
  std::int64_t bytes;
  double busbw;
};

TEST(Rack, ItsBandsHoldWhatOneTwoAndTwentyRacksReach) {
  for (const char* name : {"coreweave-gb200", "gb200-nvl72"})
    for (const auto& [racks, bytes, busbw] :
         {Measured{1, 8 * kGiB, 846.82}, Measured{2, 8 * kGiB, 793.06}, Measured{2, 16 * kGiB, 820.36},
          Measured{20, 8 * kGiB, 382.11}, Measured{20, 16 * kGiB, 405.74}, Measured{20, 2 * kGiB, 286.52}}) {
      const Busbw band = predicted(modelled(name), racks, bytes);
      EXPECT_LT(band.low, busbw) << name << ' ' << racks << " racks, " << bytes / kGiB << " GiB";
      EXPECT_GT(band.high, busbw) << name << ' ' << racks << " racks, " << bytes / kGiB << " GiB";
    }
}

TEST(Rack, IsWithinATenthOfLargeBuffersAndFarFromASlowNetwork) {
  const Profile racks = modelled("coreweave-gb200");
  EXPECT_NEAR(predicted(racks, 1, 8 * kGiB).stated / 846.82, 1, 0.01) << "calibrated";
  EXPECT_NEAR(predicted(racks, 2, 16 * kGiB).stated / 820.36, 1, 0.02) << "calibrated";
  EXPECT_NEAR(predicted(racks, 2, 8 * kGiB).stated / 793.06, 1, 0.05);
  EXPECT_NEAR(predicted(racks, 20, 16 * kGiB).stated / 405.74, 1, 0.1);
  EXPECT_NEAR(predicted(racks, 20, 8 * kGiB).stated / 382.11, 1, 0.05);
  // The same nodes without the switch between them: 200 GB/s of NICs.
  Profile apart = racks;
  apart.nodes_per_domain = 1;
  EXPECT_LT(predicted(apart, 1, 8 * kGiB).stated, 846.82 / 2);
}

TEST(Rack, AnswersWithWhatWasMeasuredWhereThatWasMeasured) {
  const Profile racks = load_data().profiles.load("coreweave-gb200");
  ASSERT_EQ(racks.curves.size(), 3u);
  EXPECT_NEAR(predicted(racks, 20, 16 * kGiB).stated, 405.74, 0.5);
}

TEST(Rack, IsPaidByTheNode) {
  const std::string printed =
      printed_by("choose", {"--workload", "resnet50", "--gpus", "72", "--profile", "coreweave-gb200", "--algorithm",
                            "ring", "--samples", "10M", "--json", "--quiet"});
  const nlohmann::json cluster = nlohmann::json::parse(printed).at("clusters").at(0);
  EXPECT_EQ(cluster.at("nodes"), 18);
  EXPECT_DOUBLE_EQ(cluster.at("cost_per_hour"), 18 * 42);
}

}  // namespace
}  // namespace hbench::rack_test

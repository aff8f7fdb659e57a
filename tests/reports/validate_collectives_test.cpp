#include "analysis/prediction/validate_curves.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/prediction/data.hpp"
#include "reports/prediction/validated_curves.hpp"

namespace hbench {
namespace {

using testing::ElementsAre;

/// Two GPUs on two nodes, of which an all-reduce was measured at three sizes of gradients and one beyond.
Profile measured_pair() {
  Profile profile;
  profile.name = "pair";
  profile.network_latency = Seconds(1e-5);
  profile.line_rate = BytesPerSecond(1e9);
  profile.curves.push_back(
      {.algorithm = "ring",
       .ranks = 2,
       .nodes = 2,
       .source = "test",
       .points = {
           {1 << 20, Seconds(1e-3)}, {2 << 20, Seconds(9e-3)}, {4 << 20, Seconds(9e-3)}, {1 << 30, Seconds(2)}}});
  return profile;
}

// A ring of two takes 2 (10 us + S/2 / 1 GB/s).
TEST(ValidateCurves, ComparesTheModelWithWhatWasMeasured) {
  const std::vector<CurveValidation> all = validate_curves({measured_pair()});
  ASSERT_EQ(all.size(), 1u);
  const CurveValidation& one = all[0];
  EXPECT_EQ(one.profile, "pair");
  ASSERT_EQ(one.sizes.size(), 3u) << "1 GiB is no gradient";
  for (const CurveValidation::Size& size : one.sizes) {
    EXPECT_NEAR(size.simulated, 20e-6 + static_cast<double>(size.bytes) / 1e9, 1e-12);
    EXPECT_EQ(size.measured, one.curve.at(size.bytes).value);
    EXPECT_LT(size.low, size.simulated);
    EXPECT_GT(size.high, size.simulated);
  }
  EXPECT_TRUE(one.sizes[0].is_held()) << "1.07 ms and 1 ms";
  EXPECT_FALSE(one.sizes[1].is_held()) << "2.1 ms and 9 ms";
  EXPECT_NEAR(one.model.logarithms[1], std::log(one.sizes[1].simulated / 9e-3), 1e-12);
  EXPECT_THAT(one.interpolation.logarithms, ElementsAre(testing::DoubleNear(std::log(3.0 / 9), 1e-9)))
      << "between 1 and 4 MiB the logarithm of time is linear";
}

TEST(ValidateCurves, LeavesOutCurvesWithoutSizesOfGradients) {
  Profile profile = measured_pair();
  profile.curves[0].points.erase(profile.curves[0].points.begin(), profile.curves[0].points.begin() + 3);
  profile.curves[0].points.push_back({2 << 30, Seconds(4)});
  EXPECT_TRUE(validate_curves({profile}).empty());
}

TEST(ValidateCurves, PrintsEachCurveAndWhatTheySayTogether) {
  const Document document = curves_document(validate_curves({measured_pair()}), true);
  const Table& overview = std::get<Table>(document.blocks.at(0));
  EXPECT_THAT(overview.rows.at(0),
              ElementsAre("pair", "all-reduce", "2", "2", "3", "0.757", "-1.447", "33.3 %", "1.099"));
  EXPECT_EQ(std::get<Table>(document.blocks.at(1)).rows.size(), 3u);
  EXPECT_THAT(
      std::get<Paragraph>(document.blocks.back()).text,
      testing::HasSubstr("1 curves, counting alike: the model is 0.757 off on average (mean |ln|), and 33.3 %"));
  const auto json = nlohmann::json::parse(curves_json(validate_curves({measured_pair()})));
  EXPECT_EQ(json.at(0).at("profile"), "pair");
  EXPECT_EQ(json.at(0).at("sizes").size(), 3u);
  EXPECT_DOUBLE_EQ(json.at(0).at("sizes").at(1).at("measured_seconds"), 9e-3);
}

// What the shipped model and curves promise, for sizes between 64 KiB and 256 MiB.
TEST(ValidateCurves, OfTheCatalogueAreAsNearAsTheReadmeSays) {
  const ProfileLibrary library(HBENCH_SOURCE_DIR "/cluster-profiles");
  std::vector<Profile> profiles;
  for (const std::string& name : library.names()) profiles.push_back(library.load(name));
  const std::vector<CurveValidation> all = validate_curves(profiles);
  ASSERT_GE(all.size(), 6u);
  double model = 0, between = 0, held = 0;
  for (const CurveValidation& each : all) {
    model += each.model.mean_size();
    between += each.interpolation.mean_size();
    for (const CurveValidation::Size& size : each.sizes)
      held += size.is_held() ? 1.0 / static_cast<double>(each.sizes.size()) : 0;
  }
  const auto curves = static_cast<double>(all.size());
  EXPECT_LE(model / curves, 0.25);
  EXPECT_LE(between / curves, 0.08);
  EXPECT_GE(held / curves, 0.80);
  EXPECT_LE(held / curves, 0.95);
}

}  // namespace
}  // namespace hbench

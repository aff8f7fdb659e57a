#include "analysis/prediction/validate_curves.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/prediction/data.hpp"
#include "reports/validate/validated_curves.hpp"

namespace hbench::validate_collectives_test {
namespace {

/// Two GPUs on two nodes, of which an all-reduce was measured at four sizes.
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
  ASSERT_EQ(one.sizes.size(), 4u);
  for (const CurveValidation::Size& size : one.sizes) {
    EXPECT_NEAR(size.simulated, 20e-6 + static_cast<double>(size.bytes) / 1e9, 1e-12);
    EXPECT_EQ(size.measured, one.curve.at(size.bytes).value);
    EXPECT_LT(size.low, size.simulated);
    EXPECT_GT(size.high, size.simulated);
  }
  EXPECT_TRUE(one.sizes[0].is_held()) << "1.07 ms and 1 ms";
  EXPECT_FALSE(one.sizes[1].is_held()) << "2.1 ms and 9 ms";
  EXPECT_NEAR(one.model.logarithms[1], std::log(one.sizes[1].simulated / 9e-3), 1e-12);
  ASSERT_FALSE(one.interpolation.logarithms.empty());
  EXPECT_NEAR(one.interpolation.logarithms[0], std::log(3.0 / 9), 1e-9)
      << "between 1 and 4 MiB the logarithm of time is linear";
}

TEST(ValidateCurves, JudgesSizesByWhatTheirTimeIsMadeOf) {
  Profile other = measured_pair();
  other.name = "another";
  other.curves[0].source = "somebody else";
  other.curves[0].points.insert(other.curves[0].points.begin(), {1 << 10, Seconds(25e-6)});
  const std::vector<ClassErrors> classes = class_errors(validate_curves({measured_pair(), other}));
  ASSERT_EQ(classes.size(), 3u);
  EXPECT_EQ(classes[0].name, "below 1 MiB");
  EXPECT_EQ(classes[0].sizes, 1u);
  EXPECT_EQ(classes[0].curves, 1u);
  EXPECT_NEAR(classes[0].mean, std::log(25 / 21.024), 1e-9);
  EXPECT_EQ(classes[1].sizes, 6u);
  EXPECT_EQ(classes[1].sources, 2u);
  EXPECT_NEAR(classes[1].held, 1.0 / 3, 1e-9) << "9 ms where 2.1 and 4.2 are simulated";
  EXPECT_EQ(classes[2].sizes, 2u);
  EXPECT_GT(classes[2].width, 1);
}

TEST(ValidateCurves, PrintsEachCurveEachClassAndWhatTheySayTogether) {
  Profile other = measured_pair();
  other.curves[0].source = "somebody else";
  const std::vector<CurveValidation> all = validate_curves({measured_pair(), other});
  const Document document = curves_document(all, true);
  const Table& overview = std::get<Table>(document.blocks.at(0));
  ASSERT_EQ(overview.rows.size(), 2u);
  EXPECT_EQ(overview.rows.at(0).at(0), "pair");
  EXPECT_EQ(std::get<Table>(document.blocks.at(1)).rows.size(), 4u);
  const Table& classes = std::get<Table>(document.blocks.at(3));
  EXPECT_EQ(classes.rows.at(0).at(0), "1 to 16 MiB");
  EXPECT_EQ(classes.rows.at(1).at(0), "above 16 MiB");
  EXPECT_EQ(std::get<Paragraph>(document.blocks.back()).text,
            "2 curves, counting alike: the model is 0.724 off on average (mean |ln|), and 25.0 % of the sizes lie in "
            "its 90 % band. Where a curve is used, sizes that were left out of it are 1.099 off.");
  const auto json = nlohmann::json::parse(curves_json(all));
  EXPECT_EQ(json.at(0).at("profile"), "pair");
  EXPECT_EQ(json.at(0).at("sizes").size(), 4u);
  EXPECT_DOUBLE_EQ(json.at(0).at("sizes").at(1).at("measured_seconds"), 9e-3);
}

// What the shipped model and curves promise, by size: mean |ln| at most 0.4, 0.3 and 0.15, and four of five in the
// band.
TEST(ValidateCurves, OfTheCatalogueAreAsNearAsTheReadmeSays) {
  const ProfileLibrary library(HBENCH_SOURCE_DIR "/cluster-profiles");
  std::vector<Profile> profiles;
  for (const std::string& name : library.names()) profiles.push_back(library.load(name));
  const std::vector<CurveValidation> all = validate_curves(profiles);
  ASSERT_GE(all.size(), 7u);
  const std::vector<ClassErrors> classes = class_errors(all);
  ASSERT_EQ(classes.size(), kSizeClasses.size());
  const std::array most{0.4, 0.3, 0.15};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    EXPECT_LE(classes[i].mean, most.at(i)) << classes[i].name;
    EXPECT_GE(classes[i].held, 0.8) << classes[i].name;
    EXPECT_GE(classes[i].held_elsewhere.value(), 0.8) << classes[i].name;
  }
  double between = 0;
  for (const CurveValidation& each : all) between += each.interpolation.mean_size();
  EXPECT_LE(between / static_cast<double>(all.size()), 0.08);
}

}  // namespace
}  // namespace hbench::validate_collectives_test

#include "collectives/network/curve.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/network/profile.hpp"
#include "tests/collectives/profile_text.hpp"
#include "tests/support/expect_error.hpp"

namespace hbench::curve_test {
namespace {

using namespace ::hbench::support;

MeasuredCurve of_points(std::vector<MeasuredCurve::Point> points) {
  return {.algorithm = "vendor", .ranks = 8, .nodes = 1, .source = "test", .points = std::move(points)};
}

TEST(MeasuredCurve, IsExactAtItsSizesAndLinearOnLogarithmsBetween) {
  const MeasuredCurve curve = of_points({{1000, Seconds(1e-3)}, {4000, Seconds(4e-3)}, {16'000, Seconds(64e-3)}});
  EXPECT_EQ(curve.at(1000).value, 1e-3);
  EXPECT_EQ(curve.at(4000).value, 4e-3);
  EXPECT_EQ(curve.at(16'000).value, 64e-3);
  EXPECT_NEAR(curve.at(2000).value, 2e-3, 1e-15);
  EXPECT_NEAR(curve.at(8000).value, 16e-3, 1e-15) << "a slope of 2";
}

TEST(MeasuredCurve, HoldsWhatLiesBetweenItsEnds) {
  const MeasuredCurve curve = of_points({{1000, Seconds(1e-3)}, {4000, Seconds(4e-3)}});
  for (const std::int64_t inside : {1000, 1001, 4000}) EXPECT_TRUE(curve.holds(inside)) << inside;
  for (const std::int64_t outside : {999, 4001}) EXPECT_FALSE(curve.holds(outside)) << outside;
  EXPECT_EQ(curve.nearest_end(5), 1000);
  EXPECT_EQ(curve.nearest_end(5000), 4000);
}

TEST(MeasuredCurve, ThinnedKeepsEverySecondSizeAndBothEnds) {
  MeasuredCurve curve = of_points({});
  for (int i = 1; i <= 6; ++i) curve.points.push_back({i, Seconds(i)});
  const auto sizes = [](const MeasuredCurve& of) {
    std::vector<std::int64_t> all;
    for (const auto& point : of.points) all.push_back(point.bytes);
    return all;
  };
  EXPECT_EQ(sizes(curve.thinned()), (std::vector<std::int64_t>{1, 3, 5, 6}));
  curve.points.pop_back();
  EXPECT_EQ(sizes(curve.thinned()), (std::vector<std::int64_t>{1, 3, 5}));
}

const std::string kCurve = R"([[collectives]]
operation = "all-reduce"
algorithm = "vendor"
ranks = 4
nodes = 2
source = "ours"
times = [["64KiB", "44.6 us"], ["1MiB", "0.2 ms"]]
)";

/// How an error about line `line` of the curve begins.
std::string at(int line) {
  const auto above = std::ranges::count(kProfileText, '\n');
  return fmt::format("my.toml:{}: [[collectives]]: ", above + line);
}

/// The profile with `kCurve` below, in which `old_text` is replaced.
std::string with_curve(const std::string& old_text = "", const std::string& new_text = "") {
  std::string curve = kCurve;
  curve.replace(curve.find(old_text), old_text.size(), new_text);
  return kProfileText + curve;
}

Profile parse(const std::string& text) { return parse_profile(text, "my.toml", kProfiles / "gpus"); }

TEST(ProfileCurves, AreReadWithUnits) {
  const Profile profile = parse(with_curve());
  ASSERT_EQ(profile.curves.size(), 1u);
  const MeasuredCurve& curve = profile.curves[0];
  EXPECT_EQ(curve.collective, CollectiveKind::all_reduce);
  EXPECT_EQ(curve.algorithm, "vendor");
  EXPECT_EQ(curve.ranks, 4);
  EXPECT_EQ(curve.nodes, 2);
  EXPECT_EQ(curve.source, "ours");
  ASSERT_EQ(curve.points.size(), 2u);
  EXPECT_EQ(curve.points[1].bytes, 1 << 20);
  EXPECT_DOUBLE_EQ(curve.points[0].time.value, 44.6e-6);
}

TEST(ProfileCurves, MayBeSeveralOfDifferentQuestions) {
  std::string other = kCurve;
  other.replace(other.find("vendor"), 6, "ring");
  EXPECT_EQ(parse(kProfileText + kCurve + other).curves.size(), 2u);
  expect_usage_error([&] { parse(kProfileText + kCurve + kCurve); },
                     at(8) + "there is a curve of all-reduce by vendor on 4 ranks of 2 nodes already", "");
}

struct BadCurve {
  std::string old_text, new_text, message, hint;
};

TEST(ProfileCurves, ThatMakeNoSenseNameTheirLine) {
  for (const auto& [old_text, new_text, message, hint] : {
           BadCurve{"ranks = 4", "rank = 4", at(4) + "unknown key 'rank'", "did you mean 'ranks'?"},
           BadCurve{"ranks = 4\n", "", at(1) + "'ranks' is missing", "README.md"},
           BadCurve{"ranks = 4", "ranks = 1", at(4) + "'ranks' must be a whole number from 2 to 1000000", ""},
           BadCurve{"ranks = 4", "ranks = 4.5", at(4) + "'ranks' must be a whole number from 2 to 1000000", ""},
           BadCurve{"nodes = 2", "nodes = 5", at(1) + "there are more nodes than ranks", ""},
           BadCurve{"all-reduce", "all-redcue", at(2) + "no collective 'all-redcue'; did you mean 'all-reduce'?", ""},
           BadCurve{"vendor", "rnig", at(3) + "no algorithm 'rnig'; did you mean 'ring'?", ""},
           BadCurve{"\"ours\"", "3", at(6) + "'source' must be text", ""},
           BadCurve{", [\"1MiB\", \"0.2 ms\"]", "", at(7) + "'times' must list two sizes or more", "64KiB"},
           BadCurve{"[\"1MiB\", \"0.2 ms\"]", "[\"1MiB\"]", at(7) + "a size and its time are two texts with units",
                    "64KiB"},
           BadCurve{"\"0.2 ms\"", "0.2", at(7) + "a size and its time are two texts with units", "64KiB"},
           BadCurve{"0.2 ms", "-1 ms", at(7) + "a size is at least 1 B, and a time above 0", ""},
           BadCurve{"1MiB", "64KiB", at(7) + "64KiB does not follow 64KiB: sizes must ascend", ""},
           BadCurve{"1MiB", "1KiB", at(7) + "1KiB does not follow 64KiB: sizes must ascend", ""},
           BadCurve{"0.2 ms", "35 us", at(7) + "1MiB takes 35 us, less than 64KiB with 44.6 us: times cannot fall",
                    "disturbed"},
       })
    expect_usage_error([&] { parse(with_curve(old_text, new_text)); }, message, hint);
  EXPECT_EQ(parse(with_curve("0.2 ms", "36 us")).curves.size(), 1u) << "noise is no mistake";
  EXPECT_EQ(parse(with_curve("ranks = 4", "ranks = 1000000")).curves.at(0).ranks, 1'000'000);
  expect_usage_error([&] { parse(with_curve("ranks = 4", "ranks = 1000001")); },
                     at(4) + "'ranks' must be a whole number from 2 to 1000000", "");
  EXPECT_EQ(parse(with_curve("64KiB", "1B")).curves.at(0).points.at(0).bytes, 1) << "the least there is";
  expect_usage_error([&] { parse(with_curve("64KiB", "0B")); }, at(7) + "a size is at least 1 B, and a time above 0",
                     "");
  expect_usage_error([&] { parse(kProfileText + "[collectives]\nranks = 1\n"); },
                     at(1).substr(0, at(1).find(" [[")) + " 'collectives' must be sections", "[[collectives]]");
}

TEST(ProfileCurves, WithoutAUnitAreAMistake) {
  EXPECT_THROW(parse(with_curve("0.2 ms", "200")), Error);
  EXPECT_THROW(parse(with_curve("1MiB", "1000000")), Error);
}

}  // namespace
}  // namespace hbench::curve_test

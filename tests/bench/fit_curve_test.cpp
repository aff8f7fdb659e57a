#include "analysis/fit/fit_curve.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/fit/profile_text.hpp"
#include "bench/launch/installation.hpp"
#include "reports/fit/fits.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::fit_curve_test {
namespace {

Profile base() { return load_data().profiles.load("aws-p4d"); }

/// What the model says of `truth`, as if it had been measured.
MeasuredCurve curve_of(const Profile& truth, int ranks) {
  MeasuredCurve curve{
      .algorithm = "vendor", .ranks = ranks, .nodes = truth.nodes_of(ranks), .source = "test", .points = {}};
  for (std::int64_t bytes = 1024; bytes <= std::int64_t{1} << 32; bytes *= 4)
    curve.points.push_back(
        {bytes, library_time(truth, CollectiveKind::all_reduce, ranks, Bytes(static_cast<double>(bytes))).time});
  return curve;
}

const Figure& figure(const Profile& profile, const std::string& key) {
  return *std::ranges::find(profile.figures, key, &Figure::key);
}

TEST(FitCurve, FindsTheNetworkThatWasMeasured) {
  Profile truth = base();
  truth.line_rate = truth.line_rate * 0.6;
  truth.network_latency = truth.network_latency * 1.7;
  const CurveFit fitted = fit_curve(base(), curve_of(truth, 16));
  EXPECT_NEAR(fitted.profile.line_rate / truth.line_rate, 1, 0.1);
  EXPECT_LT(fitted.after().mean_size(), 0.05);
  EXPECT_GT(fitted.before().mean_size(), 0.2);
  EXPECT_EQ(fitted.profile.local_rate.value, base().local_rate.value) << "two nodes tell of the network";
  EXPECT_EQ(figure(fitted.profile, "network.line_rate").source,
            "fitted to a curve (test), 100 Gbit/s before; determined by it");
}

TEST(FitCurve, OfOneNodeFindsItsLinks) {
  Profile truth = base();
  truth.local_rate = truth.local_rate * 0.7;
  const CurveFit fitted = fit_curve(base(), curve_of(truth, 8));
  EXPECT_NEAR(fitted.profile.local_rate / truth.local_rate, 1, 0.1);
  EXPECT_EQ(fitted.profile.line_rate.value, base().line_rate.value);
  EXPECT_EQ(fitted.profile.uncertainty, base().uncertainty) << "of the network nothing was learnt";
}

TEST(FitCurve, StatesWhatLinksCarryOfGpusWithoutPeerAccess) {
  const std::filesystem::path gpus = HBENCH_SOURCE_DIR "/cluster-profiles/gpus";
  const Profile without = parse_profile(
      "gpus_per_node = 8\n[local]\nlatency = \"8 us\"\nrate = \"50 GB/s\"\npeer_access = false\n"
      "[network]\nlatency = \"20 us\"\nline_rate = \"100 Gbit/s\"\n",
      "mine.toml", gpus);
  Profile truth = without;
  truth.local_rate = truth.local_rate * 0.7;
  const CurveFit fitted = fit_curve(without, curve_of(truth, 8));
  const Profile again = parse_profile(format_profile(fitted.profile), "mine.toml", gpus);
  EXPECT_FALSE(again.peer_access);
  EXPECT_NEAR(again.local_rate / truth.local_rate, 1, 0.1);
}

TEST(FitCurve, MakesTheProfileAsCertainAsTheNetworkIsKnown) {
  Profile uncertain = base();
  uncertain.uncertainty = 0.5;
  const CurveFit fitted = fit_curve(uncertain, curve_of(base(), 16));
  EXPECT_GE(fitted.profile.uncertainty, 0.1);
  EXPECT_LT(fitted.profile.uncertainty, 0.5);
  uncertain.uncertainty = 0.05;
  EXPECT_EQ(fit_curve(uncertain, curve_of(base(), 16)).profile.uncertainty, 0.05) << "it never becomes less certain";
}

TEST(FitCurve, NoLongerAssumesWhatTheCurveDetermines) {
  Profile assumed = base();
  for (Figure& each : assumed.figures)
    if (each.key == "network.line_rate") each.assumed = 4;
  const CurveFit fitted = fit_curve(assumed, curve_of(base(), 16));
  EXPECT_EQ(figure(fitted.profile, "network.line_rate").assumed, 1);
}

/// Streams of 10 Gbit/s on a line of 25, within a factor of 4.
Profile with_streams(int streams) {
  Profile profile = load_data().profiles.load("aws-p3-25gbe");
  profile.streams = streams;
  profile.stream_factor = 4;
  return profile;
}

TEST(FitCurve, FindsWhatStreamsCarryWhereTheyAreTheBound) {
  Profile truth = with_streams(1);
  truth.stream_cap = truth.stream_cap * 1.5;
  const CurveFit fitted = fit_curve(with_streams(1), curve_of(truth, 16));
  EXPECT_NEAR(fitted.profile.stream_cap / truth.stream_cap, 1, 0.1);
  EXPECT_EQ(fitted.profile.line_rate.value, truth.line_rate.value);
  EXPECT_GE(fitted.profile.stream_factor, 1.1);
  EXPECT_LT(fitted.profile.stream_factor, 2);
  EXPECT_EQ(figure(fitted.profile, "network.stream_factor").source,
            "a curve tells what a path carries (test); 4 before");
}

// Four streams carry 40 Gbit/s, and 10 where they are as slow as may be. A measured 25 says that they are not.
TEST(FitCurve, KnowsThatStreamsCarryWhatWasMeasured) {
  const CurveFit fitted = fit_curve(with_streams(4), curve_of(with_streams(4), 16));
  const Profile& known = fitted.profile;
  EXPECT_NEAR(known.stream_factor, 40 / (known.line_rate.value * 8 / 1e9), 1e-9);
  EXPECT_GE(known.at(End::worse).path_rate() / known.path_rate(), 1 - 1e-9);
  EXPECT_EQ(fit_curve(with_streams(40), curve_of(with_streams(40), 16)).profile.stream_factor, 4)
      << "they never were the bound";
}

TEST(FitCurve, KeepsTheCurveInTheFileOfTheProfileInPlaceOfAnOlderOne) {
  Profile with_older = base();
  with_older.curves = {curve_of(base(), 16), curve_of(base(), 32)};
  const CurveFit fitted = fit_curve(with_older, curve_of(base().slowed(2), 16));
  ASSERT_EQ(fitted.profile.curves.size(), 2u);
  const Profile again =
      parse_profile(format_profile(fitted.profile), "mine.toml", HBENCH_SOURCE_DIR "/cluster-profiles/gpus");
  ASSERT_EQ(again.curves.size(), 2u);
  EXPECT_EQ(again.curves[1].ranks, 16);
  EXPECT_EQ(again.curves[1].source, "test");
  ASSERT_EQ(again.curves[1].points.size(), fitted.curve.points.size());
  for (std::size_t i = 0; i < fitted.curve.points.size(); ++i)
    EXPECT_NEAR(again.curves[1].points[i].time / fitted.curve.points[i].time, 1, 1e-5);
  EXPECT_NEAR(again.line_rate / fitted.profile.line_rate, 1, 1e-3);
}

TEST(FitCurve, KeepsWhatTheCurveHardlyDetermines) {
  MeasuredCurve large = curve_of(base(), 16);
  large.points.erase(large.points.begin(), large.points.end() - 4);
  for (auto& point : large.points) point.time = point.time * 1.5;
  const CurveFit fitted = fit_curve(base(), large);
  EXPECT_EQ(fitted.profile.network_latency.value, base().network_latency.value) << "large messages say nothing of it";
  EXPECT_EQ(figure(fitted.profile, "network.latency").source, figure(base(), "network.latency").source);
  EXPECT_NEAR(fitted.profile.line_rate / base().line_rate, 1 / 1.5, 0.05);
  EXPECT_THAT(curve_fit_json(fitted, {}, ""), HasSubstr("hardly determine network.latency"));
}

TEST(FitCurve, PutsNoNicAboveItsLineRate) {
  Profile faster = base();
  faster.line_rate = faster.line_rate * 1.6;
  const CurveFit fitted = fit_curve(base(), curve_of(faster, 16));
  EXPECT_EQ(fitted.profile.line_rate.value, base().line_rate.value);
  EXPECT_TRUE(fitted.fit.parameters[1].limited);
  Profile assumed = base();
  for (Figure& each : assumed.figures)
    if (each.key == "network.line_rate") each.assumed = 4;
  EXPECT_NEAR(fit_curve(assumed, curve_of(faster, 16)).profile.line_rate / faster.line_rate, 1, 0.05)
      << "nobody stated it";
  Profile nvlink = base();
  nvlink.local_rate = nvlink.gpu_link_rate * 2;
  EXPECT_LE(fit_curve(base(), curve_of(nvlink, 8)).profile.local_rate.value, base().gpu_link_rate.value * (1 + 1e-9));
}

TEST(FitCurve, RefusesTimesThatNoFiguresExplain) {
  MeasuredCurve seconds = curve_of(base(), 16);
  for (auto& point : seconds.points) point.time = point.time * 1e3;
  expect_error([&] { fit_curve(base(), seconds); }, ExitCode::usage,
               HasSubstr("times that of aws-p4d would explain these times"),
               "check their unit, and that they were measured on this cluster; nothing is written");
}

TEST(FitCurve, OfOneGpuPerNodeFitsTheNetworkAlone) {
  Profile pairs = base();
  pairs.nics = pairs.nics / pairs.gpus_per_node;
  pairs.gpus_per_node = 1;
  if (pairs.nics < 1) pairs.nics = 1;
  pairs.line_rate = pairs.line_rate * 0.5;
  const CurveFit fitted = fit_curve(base(), curve_of(pairs, 2));
  EXPECT_NEAR(fitted.profile.line_rate / pairs.line_rate, 1, 0.1);
  EXPECT_EQ(fitted.profile.gpus_per_node, base().gpus_per_node);
  EXPECT_TRUE(fitted.profile.curves.empty()) << "the nodes of the profile have more GPUs";
  EXPECT_THAT(curve_fit_json(fitted, {}, ""), HasSubstr("One GPU of each node was measured"));
}

TEST(FitCurve, RefusesACurveOfAnotherCluster) {
  MeasuredCurve other = curve_of(base(), 16);
  other.nodes = 4;
  expect_error([&] { fit_curve(base(), other); }, ExitCode::usage,
               "16 GPUs were measured on 4 nodes, and aws-p4d has 8 per node");
  Profile alone = base();
  alone.most_nodes = 1;
  expect_error([&] { fit_curve(alone, curve_of(base(), 16)); }, ExitCode::usage,
               "at most 8 GPUs of aws-p4d work together, and 16 were measured");
}

TEST(FitCurve, PrintsBothFiguresAndBothErrors) {
  Profile truth = base();
  truth.line_rate = truth.line_rate * 0.6;
  const CurveFit fitted = fit_curve(base(), curve_of(truth, 16));
  const Document document = curve_fit_document(fitted, {"A note."});
  const Table& table = std::get<Table>(document.blocks.at(0));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[1][0], "network.line_rate");
  EXPECT_EQ(table.rows[1][1], "100 Gbit/s");
  EXPECT_EQ(table.rows[1][4], "yes");
  EXPECT_EQ(std::get<Paragraph>(document.blocks.back()).text, "A note.");
  const auto json = nlohmann::json::parse(curve_fit_json(fitted, {"A note."}, "mine.toml"));
  EXPECT_EQ(json.at("written_to"), "mine.toml");
  EXPECT_EQ(json.at("figures").at(1).at("determined"), true);
  EXPECT_LT(json.at("mean_error_after"), json.at("mean_error_before"));
}

}  // namespace
}  // namespace hbench::fit_curve_test

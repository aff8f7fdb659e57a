#include <gmock/gmock.h>

#include "bench/output/points.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::point_filter_test {
namespace {

Point point(Evidence evidence, const std::string& workload, const std::string& profile, const Strategy& strategy) {
  Point result;
  result.asked = {.evidence = evidence, .workload = workload, .strategy = strategy, .profile = profile};
  result.efficiency = 0.5;
  return result;
}

const Strategy kRing{.algorithm = "ring"}, kRingFp16{.algorithm = "ring", .compressor = "fp16"},
    kSliced{.algorithm = "ps", .placement = "sliced", .server_mode = "dedicated", .fusion = "none"};

const std::vector<Point> kPoints{
    point(Evidence::simulated, "vgg16", "a", kRing), point(Evidence::simulated, "vgg16", "b", kSliced),
    point(Evidence::published, "resnet50", "a", kRingFp16), point(Evidence::measured, "resnet50", "local", kRing)};

StoredFilter parsed(const std::vector<std::string>& arguments) {
  StoredFilter filter;
  Arguments app("", "hbench export");
  add_filter_options(app, filter);
  app.parse({arguments, "hbench export ..."});
  return filter;
}

RunFilter parsed_of(const std::vector<std::string>& arguments, const std::vector<Run>& runs) {
  return parsed(arguments).of(runs);
}

/// The places in `kPoints` of what the options leave.
std::vector<std::size_t> left_by(const std::vector<std::string>& arguments) {
  std::vector<std::size_t> places;
  for (const Point& chosen : select_points(kPoints, parsed(arguments).points))
    for (std::size_t i = 0; i < kPoints.size(); ++i)
      if (kPoints[i].asked.key() == chosen.asked.key()) places.push_back(i);
  return places;
}

void refused(const std::vector<std::string>& arguments, const testing::Matcher<std::string>& message,
             const testing::Matcher<std::string>& hint = Not(IsEmpty())) {
  expect_error([&] { left_by(arguments); }, ExitCode::usage, message, hint);
}

TEST(PointFilter, LeavesEverythingWithoutOptions) { EXPECT_THAT(left_by({}), ElementsAre(0, 1, 2, 3)); }

TEST(PointFilter, ChoosesByEachOptionAndByAllOfThem) {
  EXPECT_THAT(left_by({"--workload", "vgg16"}), ElementsAre(0, 1));
  EXPECT_THAT(left_by({"--workload", "vgg16,resnet50"}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(left_by({"--profile", "local,b"}), ElementsAre(1, 3));
  EXPECT_THAT(left_by({"--evidence", "published,measured"}), ElementsAre(2, 3));
  EXPECT_THAT(left_by({"--strategy", "ring"}), ElementsAre(0, 2, 3));
  EXPECT_THAT(left_by({"--workload", "vgg16", "--profile", "a", "--evidence", "simulated", "--strategy", "ring"}),
              ElementsAre(0));
}

TEST(PointFilter, TakesPartsOfALabelAndKeepsCommasInParentheses) {
  EXPECT_THAT(left_by({"--strategy", "fp16"}), ElementsAre(2));
  EXPECT_THAT(left_by({"--strategy", "sliced,fp16"}), ElementsAre(1, 2));
  EXPECT_THAT(left_by({"--strategy", "ps (sliced, dedicated)"}), ElementsAre(1));
  EXPECT_THAT(left_by({"--strategy", "ps (sliced, dedicated),fp16"}), ElementsAre(1, 2));
}

TEST(PointFilter, SuggestsWhatWasMeant) {
  refused({"--workload", "vgg61"}, "no stored workload 'vgg61'; did you mean 'vgg16'?", "known: resnet50, vgg16");
  refused({"--profile", "locla"}, "no stored profile 'locla'; did you mean 'local'?");
  refused({"--evidence", "simulate"}, "no evidence 'simulate'; did you mean 'simulated'?");
  refused({"--strategy", "rng"}, "no stored strategy 'rng'; did you mean 'ring'?");
  refused({"--workload", "vgg16,,x"}, "--workload 'vgg16,,x' has an empty item");
}

TEST(PointFilter, SaysWhenNothingIsLeft) {
  refused({"--workload", "vgg16", "--profile", "local"}, "no stored point has all that was asked for",
          "leave out one of --workload, --profile, --evidence, --strategy, --run, --label");
  EXPECT_THAT(select_points({}, {}), IsEmpty()) << "an empty database is no mistake";
}

Run stored_run(std::int64_t id, std::map<std::string, std::string> labels) {
  Run run{.command = "hbench sweep", .version = "1", .started_at = "2026-11-22T10:00:00Z", .labels = std::move(labels)};
  run.id = id;
  return run;
}

const std::vector<Run> kRuns{stored_run(1, {{"branch", "main"}}),
                             stored_run(2, {{"branch", "fast"}, {"commit", "abc"}})};

TEST(RunFilter, WithoutOptionsAcceptsEveryRun) {
  const RunFilter filter = parsed_of({}, kRuns);
  EXPECT_TRUE(filter.accepts(kRuns[0]));
  EXPECT_TRUE(filter.accepts(kRuns[1]));
}

TEST(RunFilter, AcceptsTheRunOfANumberAlone) {
  const RunFilter filter = parsed_of({"--run", "2"}, kRuns);
  EXPECT_FALSE(filter.accepts(kRuns[0]));
  EXPECT_TRUE(filter.accepts(kRuns[1]));
}

TEST(RunFilter, AcceptsRunsThatHaveAllLabels) {
  const RunFilter filter = parsed_of({"--label", "commit=abc", "--label", "branch=fast"}, kRuns);
  EXPECT_FALSE(filter.accepts(kRuns[0]));
  EXPECT_TRUE(filter.accepts(kRuns[1]));
  EXPECT_FALSE(filter.accepts(stored_run(3, {{"branch", "fast"}, {"commit", "abd"}})));
  EXPECT_FALSE(filter.accepts(stored_run(4, {{"branch", "fast"}})));
}

TEST(RunFilter, OfNoStoredRunIsRefusedWithThoseThereAre) {
  expect_error(
      [] {
        parsed_of({"--run", "3"}, kRuns);
      },
      ExitCode::usage, "no stored run has the number 3",
      AllOf(HasSubstr("2 of 2026-11-22T10:00:00Z (branch=fast, commit=abc)"), HasSubstr("branch=main")));
  expect_error(
      [] {
        parsed_of({"--run", "1", "--label", "branch=fast"}, kRuns);
      },
      ExitCode::usage, "no stored run has the number 1 and branch=fast");
  expect_error([] { parsed_of({"--label", "branch"}, kRuns); }, ExitCode::usage, "--label 'branch' is not a label");
}

}  // namespace
}  // namespace hbench::point_filter_test

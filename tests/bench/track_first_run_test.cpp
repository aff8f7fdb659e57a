// The first run of a baseline: nothing to be held to, and no mistake.

#include "tests/bench/tracked_database.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::track_first_run_test {
namespace {

using TrackFirstRun = TrackedDatabase;

std::string first_line(const std::string& text) {
  const std::size_t begin = text.find("=> ");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

TEST_F(TrackFirstRun, IsGoodAndSaysWhatComesNext) {
  add_run("main", {answer(step_of("vgg16"), 0.1), answer(step_of("resnet18"), 0.1)});
  EXPECT_EQ(run({"--wide"}), ExitCode::good);
  EXPECT_EQ(
      first_line(printed_),
      "=> run 1 (branch=main): 2 new. It is the first run with branch=main, to which later ones are held: changes "
      "are called regressed or improved from 5 such runs on (next: hbench track run).");
  EXPECT_EQ(run({"--fail-on", "inconclusive"}), ExitCode::good);
  add_run("main", {answer(step_of("vgg16"), 0.1)});
  EXPECT_EQ(run({"--head", "1"}), ExitCode::good) << "it was the first whatever came later";
  EXPECT_EQ(run({"--wide"}), ExitCode::good);
  EXPECT_THAT(first_line(printed_),
              StartsWith("=> run 2 (branch=main): 1 missing, 1 inconclusive, against 1 run with"));
}

TEST_F(TrackFirstRun, IsNoneOfAnotherBranchOrOfAnotherDatabase) {
  add_run("topic", {answer(step_of("vgg16"), 0.1)});
  EXPECT_EQ(run({}), ExitCode::not_comparable) << "the runs of main are lost, or elsewhere";
  add_run("main", {answer(step_of("vgg16"), 0.1)});
  EXPECT_EQ(run({}), ExitCode::good) << "a branch that was measured before is no baseline";
  const std::string empty = (folder_ / "other.db").string();
  std::filesystem::copy_file(file_, empty);
  add_run("release", {answer(step_of("vgg16"), 0.1)});
  EXPECT_EQ(run({"--baseline", "release", "--baseline-db", empty}), ExitCode::not_comparable);
  EXPECT_EQ(run({"--baseline", "release"}), ExitCode::good);
}

TEST_F(TrackFirstRun, IsNotGoodWhereACaseHasFailedOrNothingWasTimed) {
  add_run("main", {answer(step_of("vgg16"), 0.1), failed(step_of("resnet18"), ExitCode::lost_rank)});
  EXPECT_EQ(run({}), ExitCode::lost_rank);
  add_run("nightly", {});
  EXPECT_EQ(run({"--baseline", "nightly"}), ExitCode::not_comparable);
  EXPECT_THAT(printed_, HasSubstr("no timed case"));
}

}  // namespace
}  // namespace hbench::track_first_run_test

/// Measured collectives beside what their cluster lets expect: verdicts, and causes that explain slow ones.

#include "analysis/expect/expectation.hpp"

#include <cmath>

#include "analysis/import/format.hpp"
#include "analysis/prediction/slow_causes.hpp"
#include "analysis/records/metrics.hpp"
#include "collectives/base/error.hpp"
#include "collectives/network/library_model.hpp"
#include "tests/analysis/lab_cluster.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::expectation_test {
namespace {

const StopRequested kNoStop = [] { return false; };

CaseResult measured(int gpus, int nodes, double bytes, double seconds, const std::string& type = "float32") {
  CaseResult result;
  result.asked =
      collective_case("all_reduce_perf", CollectiveKind::all_reduce, static_cast<std::int64_t>(bytes), type, "sum");
  result.asked.gpus = gpus;
  result.asked.nodes = nodes;
  result.samples.push_back({.metric = std::string(metric::kInPlace), .value = seconds, .unit = "s"});
  return result;
}

/// What nccl-tests would print on a cluster that is as the library's model says.
std::vector<CaseResult> measured_on(const Profile& sick, int gpus, int nodes, double factor = 1) {
  std::vector<CaseResult> results;
  for (const double bytes : {4096.0, 262144.0, 16777216.0, 268435456.0, 1073741824.0})
    results.push_back(measured(gpus, nodes, bytes,
                               factor * library_time(sick, CollectiveKind::all_reduce, gpus, Bytes(bytes)).time.value));
  return results;
}

Expectation expectation(const std::vector<CaseResult>& results, const Profile& profile = lab_cluster()) {
  return expect(results, {}, profile, 0, kNoStop);
}

TEST(Expect, CallsNormalWhatTheModelGivesAndWhatIsNearIt) {
  for (const int nodes : {1, 2, 4})
    for (const double factor : {0.9, 1.0, 1.2}) {
      const Expectation all = expectation(measured_on(lab_cluster(), 8 * nodes, nodes, factor));
      ASSERT_EQ(all.sizes.size(), 5U);
      for (const ExpectedSize& size : all.sizes) EXPECT_EQ(size.normality(), Normality::pass) << nodes << factor;
      EXPECT_THAT(all.suspicions, IsEmpty());
    }
}

TEST(Expect, FindsTheCauseOfWhatIsMeasuredOnAClusterThatHasIt) {
  const Profile healthy = lab_cluster();
  for (const SlowCause& cause : slow_causes())
    for (const bool across : {false, true}) {
      const std::optional<Profile> sick = cause.on(healthy, across);
      if (!sick) continue;
      const Expectation all = expectation(measured_on(*sick, across ? 16 : 8, across ? 2 : 1));
      const bool slow =
          std::ranges::any_of(all.sizes, [](const auto& size) { return size.normality() == Normality::slow; });
      if (!slow) continue;  // hidden by something slower, as the links of a node behind one NIC
      ASSERT_FALSE(all.suspicions.empty()) << cause.what << across;
      EXPECT_EQ(all.suspicions.front().what, cause.what) << across;
      EXPECT_LT(all.suspicions.front().off, 1e-6);
    }
}

TEST(Expect, EachCauseIsFoundOnSomeCluster) {
  for (const SlowCause& cause : slow_causes()) {
    Profile healthy = lab_cluster();
    if (cause.what.find("NVLS") != cause.what.npos) {
      healthy.switch_reduction = 0.9;
      healthy.line_rate = BytesPerSecond(100e9);
    }
    if (cause.what.find("other nodes") != cause.what.npos) {
      healthy.nodes_per_domain = 2;
      healthy.nics = 1;
    }
    if (cause.what.find("TCP stream") != cause.what.npos || cause.what.starts_with("TCP far")) {
      healthy.stream_cap = BytesPerSecond(2e9);
      healthy.streams = 8;
    }
    bool found = false;
    for (const bool across : {false, true})
      if (const std::optional<Profile> sick = cause.on(healthy, across)) {
        const Expectation all = expectation(measured_on(*sick, across ? 16 : 8, across ? 2 : 1), healthy);
        found |= !all.suspicions.empty() && all.suspicions.front().what == cause.what;
      }
    EXPECT_TRUE(found) << cause.what;
  }
}

TEST(Expect, SuspectsNothingWhereNoCauseComesNear) {
  const Expectation all = expectation(measured_on(lab_cluster(), 16, 2, 500));
  for (const ExpectedSize& size : all.sizes) EXPECT_EQ(size.normality(), Normality::slow);
  EXPECT_THAT(all.suspicions, IsEmpty());
}

TEST(Expect, CallsImpossibleWhatNoLinkCarries) {
  // A GiB in 1 ms over 4 x 25 GB/s; half of it at least must pass a node's NICs. And milliseconds taken for us.
  EXPECT_EQ(expectation({measured(16, 2, 1073741824.0, 1e-3)}).sizes[0].normality(), Normality::error);
  EXPECT_EQ(expectation({measured(8, 1, 1073741824.0, 8e-6)}).sizes[0].normality(), Normality::error);
  EXPECT_EQ(expectation({measured(8, 1, 8, 0.5e-6)}).sizes[0].normality(), Normality::error);
}

TEST(Expect, GivesOneGpuOfANodeItsOwnNics) {
  // One of eight GPUs has half a NIC, of which there is one.
  const Expectation all = expectation({measured(2, 2, 1073741824.0, 1)});
  EXPECT_NEAR(all.sizes[0].expected, 1073741824.0 / 25e9, 0.1 * all.sizes[0].expected);
}

TEST(Expect, TakesFullNodesWhereAFileDoesNotSayHowMany) {
  EXPECT_EQ(expectation({measured(32, 0, 1 << 20, 1)}).sizes[0].asked.nodes, 4);
}

TEST(Expect, CountsTheBytesOfTypesThatItDoesNotKnow) {
  for (const char* type : {"", "f8e4m3"})
    EXPECT_NEAR(expectation({measured(16, 2, 1 << 28, 1, type)}).sizes[0].expected,
                expectation({measured(16, 2, 1 << 28, 1)}).sizes[0].expected, 1e-9);
}

TEST(Expect, WarnsWhereItWasMeasuredOnAnotherGpu) {
  Profile h100 = lab_cluster();
  h100.gpu = "h100-sxm";
  const std::vector<CaseResult> results{measured(8, 1, 1024, 4e-5)};
  EXPECT_THAT(expect(results, "AMD Instinct MI300X", h100, 0, kNoStop).notes, ElementsAre(HasSubstr("MI300X")));
  EXPECT_THAT(expect(results, "NVIDIA H100 80GB HBM3", h100, 0, kNoStop).notes, IsEmpty());
  const auto slow = measured_on(*slow_causes()[1].on(lab_cluster(), true), 16, 2);
  EXPECT_THAT(expect(slow, "NVIDIA H100 80GB HBM3", h100, 0, kNoStop).suspicions, Not(IsEmpty()));
  EXPECT_THAT(expect(slow, "AMD Instinct MI300X", h100, 0, kNoStop).suspicions, IsEmpty()) << "it is the other GPU";
}

TEST(Expect, SaysWhyTwoNodesMayBeFasterThanTheirNics) {
  const auto notes = [](int nodes) { return expectation(measured_on(lab_cluster(), 8 * nodes, nodes)).notes; };
  EXPECT_THAT(notes(2), Contains(HasSubstr("A tree between two nodes")));
  EXPECT_THAT(notes(1), Not(Contains(HasSubstr("A tree"))));
  EXPECT_THAT(notes(4), Not(Contains(HasSubstr("A tree"))));
}

TEST(Expect, LeavesOutWhatCannotBeComparedAndRefusesWhereThatIsAll) {
  CaseResult benchmark;
  benchmark.asked.benchmark = "checker BM_Check/64";
  const Expectation all = expectation({benchmark, measured(1, 1, 1024, 1e-5), measured(8, 1, 1024, 4e-5)});
  EXPECT_EQ(all.sizes.size(), 1U);
  EXPECT_EQ(all.notes.size(), 2U);
  expect_error([] { expectation({measured(1, 1, 1024, 1e-5)}); }, ExitCode::usage, testing::_,
               HasSubstr("one GPU exchanges nothing"));
}

}  // namespace
}  // namespace hbench::expectation_test

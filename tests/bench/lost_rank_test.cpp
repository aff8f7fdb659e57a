#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/bench/own_timeline.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/words.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::lost_rank_test {
namespace {

using nlohmann::json;

const std::vector<std::string> kMeasured = words_in(
    "sweep --evidence measured,simulated --image-size 32 --batch 4 --launches 1 --warmup 1 "
    "--timeout 3s --quiet --oversubscribe 2 --profile hkbu-10gbe");

/// A case that does not end by itself in the time of a test.
const std::vector<std::string> kEndless{"--steps", "1000000", "--budget", "1000s"};

std::vector<std::string> with(std::vector<std::string> some, const std::vector<std::string>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

/// Waits until every one has said much: it is among its steps.
void let_them_work(const std::vector<pid_t>& workers) {
  for (const pid_t pid : workers)
    while (lives(pid) && bytes_written(pid) < 20'000) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

/// The point of an algorithm.
json point_of(const json& points, std::string_view algorithm) {
  for (const json& point : points)
    if (point.at("algorithm") == algorithm) return point;
  ADD_FAILURE() << "no point of " << algorithm;
  return {};
}

/// Two ranks at work, the baseline behind them.
class LostRank : public testing::Test {
 protected:
  void SetUp() override {
    if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
    write_bytes(workplace_ / "mine.toml", kOwnTimeline);
    ASSERT_EQ(run({"--workload", "lenet5", "--gpus", "1024", "--steps", "3", "--evidence", "measured"}).code, 0);
  }

  /// A flag given here replaces the one of every sweep.
  static std::vector<std::string> arguments(const std::vector<std::string>& more) {
    std::vector<std::string> all = kMeasured;
    for (std::size_t i = 0; i < more.size(); ++i) {
      const auto same = std::ranges::find(all, more[i]);
      if (more[i].starts_with("--") && same != all.end() && i + 1 < more.size())
        *(same + 1) = more[++i];
      else
        all.push_back(more[i]);
    }
    return all;
  }

  Outcome run(const std::vector<std::string>& more) const { return workplace_.run(arguments(more)); }

  Workplace workplace_;
};

TEST_F(LostRank, ThatIsKilledFailsItsCaseByNameAndTheOthersGoOn) {
  Sweeping sweeping(workplace_, arguments({"--workload", "lenet5", "--gpus", "2", "--evidence", "measured", "--resume",
                                           "--algorithm", "ring,vendor", "--steps", "1000000", "--budget", "8s"}));
  const std::vector<pid_t> ranks = sweeping.workers(2);
  ASSERT_EQ(ranks.size(), 2);
  let_them_work(ranks);
  kill(ranks[1], SIGKILL);
  const Outcome outcome = sweeping.wait();
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_TRUE(all_die(ranks));
  const json points = exported(workplace_);
  EXPECT_EQ(points.size(), 3);
  EXPECT_EQ(point_of(points, "none").at("status"), "done");
  EXPECT_EQ(point_of(points, "vendor").at("status"), "done");
  EXPECT_EQ(point_of(points, "ring").at("status"), "failed");
  EXPECT_THAT(point_of(points, "ring").at("failure").get<std::string>(),
              ContainsRegex("rank [01] was ended by signal 9|waited 3 s for .*rank [01]"));
}

TEST_F(LostRank, ThatHangsFailsItsCaseByName) {
  Sweeping sweeping(workplace_, with(arguments({"--workload", "lenet5", "--gpus", "2", "--evidence", "measured",
                                                "--resume", "--algorithm", "ring"}),
                                     kEndless));
  const std::vector<pid_t> ranks = sweeping.workers(2);
  ASSERT_EQ(ranks.size(), 2);
  let_them_work(ranks);
  kill(ranks[1], SIGSTOP);
  const Outcome outcome = sweeping.wait();
  EXPECT_EQ(outcome.code, 5) << outcome.err;
  EXPECT_TRUE(all_die(ranks));
  const std::string failure = point_of(exported(workplace_), "ring").at("failure");
  EXPECT_THAT(failure, ContainsRegex("rank [01]: step [0-9]+: waited 3 s for .*rank [01]"));
}

/// Methods whose ranks do not wait for all others, and which rank is lost: those after the second are
/// dedicated servers.
struct Lost {
  const char* algorithm;
  const char* method;
  const char* servers;
  std::size_t ranks, which;
  int signal;
};

constexpr Lost kLost[] = {{"ring", "decentralized", "colocated", 2, 1, SIGSTOP},
                          {"ring", "gossip", "colocated", 2, 1, SIGKILL},
                          {"ps", "async-ps", "colocated", 2, 1, SIGKILL},
                          {"ps", "ssp:1", "colocated", 2, 1, SIGSTOP},
                          {"ps", "ssp:1", "1", 3, 1, SIGKILL},
                          {"ps", "async-ps", "1", 3, 2, SIGSTOP},
                          {"ps", "async-ps", "2", 4, 3, SIGKILL}};

TEST_F(LostRank, OfAMethodThatDoesNotWaitForAllIsNamedWhetherKilledOrHung) {
  for (const Lost& lost : kLost) {
    SCOPED_TRACE(fmt::format("{} {} of {}, signal {}", lost.method, lost.which, lost.ranks, lost.signal));
    Sweeping sweeping(workplace_, with(arguments({"--workload", "lenet5", "--gpus", "2", "--evidence", "measured",
                                                  "--resume", "--algorithm", lost.algorithm, "--method", lost.method,
                                                  "--servers", lost.servers, "--oversubscribe", "4"}),
                                       kEndless));
    const std::vector<pid_t> ranks = sweeping.workers(lost.ranks);
    ASSERT_EQ(ranks.size(), lost.ranks);
    let_them_work({ranks[0], ranks[1]});
    kill(ranks[lost.which], lost.signal);
    const Outcome outcome = sweeping.wait();
    EXPECT_EQ(outcome.code, 5) << outcome.err;
    EXPECT_TRUE(all_die(ranks));
  }
  std::size_t failed = 0;
  for (const json& point : exported(workplace_)) {
    if (point.at("algorithm") == "none") continue;
    ++failed;
    EXPECT_THAT(point.at("failure").get<std::string>(),
                ContainsRegex("rank [0-3] was ended by signal 9|waited [36] s for .*rank [0-3]"));
  }
  EXPECT_EQ(failed, std::size(kLost));
}

/// Simulated cases are done and a measured one is under way.
class Interrupted : public LostRank {
 protected:
  void SetUp() override {
    if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
    write_bytes(workplace_ / "mine.toml", kOwnTimeline);
  }

  const std::vector<std::string> what_{"--workload", "./mine.toml,lenet5", "--gpus", "2", "--algorithm", "ring,vendor"};

  /// After the end of a sweep that was cut off in its first measured case.
  void expect_the_rest_can_be_done() {
    const json kept = exported(workplace_);
    ASSERT_EQ(kept.size(), 4) << "vendor and ring, with and without compression";
    for (const json& point : kept) EXPECT_EQ(point.at("evidence"), "simulated");
    run_sql(workplace_ / "hbench.db", "UPDATE sample SET value = value * 2");  // to know them again
    const json marked = exported(workplace_);
    const Outcome outcome = run(with(what_, {"--steps", "4", "--resume"}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const json all = exported(workplace_);
    EXPECT_EQ(all.size(), 7);
    for (const json& point : marked) EXPECT_THAT(all, Contains(point));
    for (const json& point : all) EXPECT_EQ(point.at("status"), "done");
  }
};

TEST_F(Interrupted, ByCtrlCKeepsWhatIsDoneLeavesNoProcessAndDoesTheRestWithResume) {
  Sweeping sweeping(workplace_, with(arguments(what_), kEndless));
  const std::vector<pid_t> workers = sweeping.workers(2);
  ASSERT_EQ(workers.size(), 2);
  let_them_work(workers);
  kill(sweeping.pid(), SIGINT);
  const Outcome outcome = sweeping.wait();
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("interrupted; every finished case is in hbench.db"));
  EXPECT_THAT(outcome.err, HasSubstr("--resume"));
  EXPECT_THAT(outcome.out, StartsWith("=> ")) << "the answer was there before anything was measured";
  EXPECT_THAT(bytes_of(workplace_ / "hbench-report/report.md"), HasSubstr("of ideal speed"));
  EXPECT_TRUE(all_die(workers));
  expect_the_rest_can_be_done();
}

TEST_F(Interrupted, ByForceKeepsWhatIsDoneLeavesNoProcessAndDoesTheRestWithResume) {
  Sweeping sweeping(workplace_, with(arguments(what_), kEndless));
  const std::vector<pid_t> workers = sweeping.workers(2);
  ASSERT_EQ(workers.size(), 2);
  let_them_work(workers);
  kill(sweeping.pid(), SIGKILL);
  EXPECT_EQ(sweeping.wait().code, 128 + SIGKILL);
  EXPECT_TRUE(all_die(workers));
  expect_the_rest_can_be_done();
}

TEST_F(LostRank, DoesNotOutliveASweepThatIsKilled) {
  for (const int signal : {SIGKILL, SIGINT}) {
    Sweeping sweeping(workplace_, with(arguments({"--workload", "lenet5", "--gpus", "2", "--evidence", "measured",
                                                  "--resume", "--algorithm", "ring"}),
                                       kEndless));
    const std::vector<pid_t> ranks = sweeping.workers(2);
    ASSERT_EQ(ranks.size(), 2);
    kill(ranks[0], SIGSTOP);  // not even this holds it
    kill(sweeping.pid(), signal);
    EXPECT_EQ(sweeping.wait().code, signal == SIGINT ? 130 : 128 + signal);
    EXPECT_TRUE(all_die(ranks)) << "after signal " << signal;
  }
}

}  // namespace
}  // namespace hbench::lost_rank_test

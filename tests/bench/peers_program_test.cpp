// The libraries of wheels that HBENCH_PEERS names, measured beside ours.

#include <algorithm>

#include "tests/bench/collective_runs.hpp"

namespace hbench::peers_program_test {
namespace {

class PeersOfWheels : public CollectiveUnderMpi {
 protected:
  void SetUp() override {
    CollectiveUnderMpi::SetUp();
    if (std::getenv("HBENCH_PEERS") == nullptr)
      GTEST_SKIP() << "HBENCH_PEERS names no folder of wheels (bench/peers/README.md)";
  }
};

TEST_F(PeersOfWheels, AreCheckedAndTimedBesideOurs) {
  const nlohmann::json answer =
      document({"--peers", "--ranks", "2", "-b", "8", "-e", "64K", "-f", "128", "--budget", "10ms", "--launches", "2"});
  std::set<std::string> timed;
  for (const nlohmann::json& row : answer["results"]) {
    EXPECT_EQ(row["status"], "done") << row;
    EXPECT_EQ(row["in_place_wrong"], 0) << row;
    timed.insert(row["executor"].get<std::string>());
  }
  // What HBENCH_PEERS lacks is left out by name.
  for (const std::string title : {"MPICH", "Intel MPI", "Open MPI", "oneCCL"}) {
    const bool found = std::ranges::any_of(timed, [&](const std::string& name) { return name.starts_with(title); });
    EXPECT_NE(found, answer["refused"].dump().find(title + " is not available") != std::string::npos) << title;
  }
  EXPECT_TRUE(timed.contains("shm"));
}

}  // namespace
}  // namespace hbench::peers_program_test

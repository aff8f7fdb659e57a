#include "bench/worker/rank_resources.hpp"

#include <sched.h>

#include <map>
#include <string>
#include <thread>

#include "tests/support/matchers.hpp"

namespace hbench::cores_test {
namespace {

std::optional<int> local_rank_with(const std::map<std::string, std::string>& environment) {
  return launched_local_rank([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(LocalRank, IsWhatTheLauncherSays) {
  EXPECT_EQ(local_rank_with({{"OMPI_COMM_WORLD_RANK", "9"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}}), 1);
  EXPECT_EQ(local_rank_with({{"PMI_RANK", "9"}, {"MPI_LOCALRANKID", "2"}}), 2);
  EXPECT_EQ(local_rank_with({{"PMI_RANK", "9"}, {"PMI_LOCAL_RANK", "3"}}), 3);
  EXPECT_EQ(local_rank_with({{"SLURM_PROCID", "9"}, {"SLURM_LOCALID", "4"}}), 4);
}

TEST(LocalRank, IsTheInnermostLaunchersWithinAJobOfSlurm) {
  EXPECT_EQ(local_rank_with({{"SLURM_LOCALID", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "5"}}), 5);
  EXPECT_EQ(local_rank_with({{"SLURM_LOCALID", "0"}, {"MPI_LOCALRANKID", "6"}}), 6);
}

TEST(LocalRank, IsUnknownWhereNobodySaysItOrWhatIsSaidIsNoNumber) {
  EXPECT_EQ(local_rank_with({}), std::nullopt);
  EXPECT_EQ(local_rank_with({{"OMPI_COMM_WORLD_RANK", "3"}}), std::nullopt);
  for (const char* text : {"", "x", "-1", "1x", "99999999999"})
    EXPECT_EQ(local_rank_with({{"SLURM_LOCALID", text}}), std::nullopt) << text;
}

TEST(CoreOf, SharesOutTheCoresThatARankMayUse) {
  const std::vector<int> cores{2, 3, 7};
  std::vector<int> chosen;
  for (int rank = 0; rank < 7; ++rank) chosen.push_back(core_of(rank, cores));
  EXPECT_THAT(chosen, ElementsAre(2, 3, 7, 2, 3, 7, 2));
  EXPECT_EQ(core_of(5, std::vector<int>{4}), 4) << "what a launcher has bound stays bound";
}

TEST(PinToCore, BindsTheThreadToOneOfItsCores) {
  const std::vector<int> cores = allowed_cores();
  ASSERT_THAT(cores, Not(IsEmpty()));
  for (int rank = 0; rank < 3; ++rank) {
    std::jthread([&] {
      pin_to_core(rank);
      EXPECT_THAT(allowed_cores(), ElementsAre(core_of(rank, cores)));
    }).join();
  }
  EXPECT_EQ(allowed_cores(), cores) << "other threads are left alone";
}

}  // namespace
}  // namespace hbench::cores_test

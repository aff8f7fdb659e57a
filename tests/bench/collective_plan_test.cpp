// The plan of `hbench collective` on machines that lack something.

#include "bench/collective/plan.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::collective_plan_test {
namespace {

TEST(CollectivePlan, LeavesOutLibrariesWhoseRanksNothingStarts) {
  CollectiveMachine machine;
  machine.no_mpi = "mpirun is absent: install it";
  machine.peers = {{"hbench_peers", "gloo", "ring-chunked"}, {"MPICH 5.0.2", "MPICH 5.0.2", "vendor"}};
  CollectiveRequest request;
  request.min_bytes = request.max_bytes = 1024;
  request.ranks = {2};
  request.executors = {"threads"};
  request.peers = true;
  const CollectivePlan plan = make_collective_plan(request, machine, {});
  ASSERT_EQ(plan.sets.size(), 1);
  EXPECT_TRUE(plan.sets[0].threads);
  for (const char* what : {"gloo", "MPICH", "vendor"})
    EXPECT_THAT(plan.refused, Contains(AllOf(testing::Field(&Refusal::what, HasSubstr(what)),
                                             testing::Field(&Refusal::why, machine.no_mpi))));

  request.executors = {"mpi"};
  expect_error([&] { make_collective_plan(request, machine, {}); }, ExitCode::environment, HasSubstr(machine.no_mpi),
               HasSubstr("hbench doctor"));
}

TEST(CollectivePlan, GivesLibrariesProcessesOfTheirOwnAndOursThoseOfTheSharedProgram) {
  CollectiveMachine machine;
  machine.peers = {{"Intel MPI 2021.18.1", "Intel MPI 2021.18.1", "vendor"}, {"oneCCL", "oneCCL 2022.2", "vendor"}};
  machine.absent_peers = {"Gloo is not available: install it"};
  CollectiveRequest request;
  request.min_bytes = 8;
  request.max_bytes = 16;
  request.ranks = {2};
  request.executors = {"mpi"};
  request.algorithms = {"ring"};
  request.peers = true;
  const auto programs = [&] {
    std::vector<std::string> names;
    for (const ProcessSet& set : make_collective_plan(request, machine, {}).sets) names.push_back(set.program);
    return names;
  };
  EXPECT_THAT(programs(), ElementsAre("", "Intel MPI 2021.18.1", "oneCCL"));
  const CollectivePlan plan = make_collective_plan(request, machine, {});
  EXPECT_THAT(plan.refused, Contains(testing::Field(&Refusal::why, machine.absent_peers.front())));
  const Case& asked = plan.sets[2].cases[0].asked;
  EXPECT_EQ(candidate_label(asked), "oneCCL 2022.2");
  EXPECT_TRUE(is_peer(asked));

  machine.peers.push_back({std::string(kSharedProgram), "gloo", "ring-chunked"});
  EXPECT_THAT(programs(), Contains(std::string(kSharedProgram)));
}

TEST(CollectivePlan, AsksNoLibraryForMoreThanMpiCounts) {
  CollectiveMachine machine;
  machine.peers = {{"oneCCL", "oneCCL 2022.2", "vendor"}};
  CollectiveRequest request;
  request.min_bytes = request.max_bytes = std::int64_t{16} << 30;
  request.ranks = {2};
  request.executors = {"shm"};
  request.peers = true;
  const CollectivePlan plan = make_collective_plan(request, machine, {});
  EXPECT_THAT(plan.refused, Contains(AllOf(testing::Field(&Refusal::what, HasSubstr("oneCCL 2022.2")),
                                           testing::Field(&Refusal::why, HasSubstr("more than MPI counts")))));
}

}  // namespace
}  // namespace hbench::collective_plan_test

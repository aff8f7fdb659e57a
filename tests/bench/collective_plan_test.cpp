// The plan of `hbench collective` on machines that lack something.

#include <gmock/gmock.h>

#include "bench/collective/plan.hpp"
#include "tests/support/expect_error.hpp"

namespace hbench {
namespace {

using testing::HasSubstr;

TEST(CollectivePlan, LeavesOutLibrariesWhoseRanksNothingStarts) {
  CollectiveMachine machine;
  machine.no_mpi = "mpirun is absent: install it";
  machine.peers = {{"gloo", "ring-chunked"}};
  machine.mpich = true;
  CollectiveRequest request;
  request.min_bytes = request.max_bytes = 1024;
  request.ranks = {2};
  request.executors = {"threads"};
  request.peers = true;
  const CollectivePlan plan = make_collective_plan(request, machine, {});
  ASSERT_EQ(plan.sets.size(), 1);
  EXPECT_TRUE(plan.sets[0].threads);
  for (const char* what : {"gloo", "MPICH", "vendor"})
    EXPECT_THAT(plan.refused, testing::Contains(testing::AllOf(testing::Field(&Refusal::what, HasSubstr(what)),
                                                               testing::Field(&Refusal::why, machine.no_mpi))));

  request.executors = {"mpi"};
  expect_error([&] { make_collective_plan(request, machine, {}); }, ExitCode::environment, HasSubstr(machine.no_mpi),
               HasSubstr("hbench doctor"));
}

}  // namespace
}  // namespace hbench

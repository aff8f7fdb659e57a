// A sweep on a machine whose links are slowed: cases are emulated, and ranks train models all the same.

#include "tests/bench/plan_example.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::slowed_machine_plan_test {
namespace {

TEST(SlowedMachinePlan, RefusesWhatNoModelIsTrainedBy) {
  SweepRequest request = small_request();
  request.methods = {"synchronous", "fsdp"};
  request.gpus = {2};
  request.evidence = {Evidence::measured};
  for (const char* network : {"", "3 hosts, 200mbit each way"}) {
    LocalMachine machine = machine_of_two();
    machine.emulated = network;
    const Plan plan = plan_of(request, machine);
    EXPECT_THAT(names(plan), ElementsAre("resnet50 1 none", "resnet50 2 ring")) << network;
    EXPECT_THAT(refusals(plan),
                ElementsAre("ring on 2 GPUs: fsdp gathers parameters before each block of layers, where "
                            "LibTorch's modules have no hooks: it is emulated and simulated only"))
        << network;
  }
}

}  // namespace
}  // namespace hbench::slowed_machine_plan_test

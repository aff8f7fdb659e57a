
#include "bench/hosts/preflight.hpp"
#include "bench/sweep/measured_place.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::machine_of_hosts_test {
namespace {

/// Two hosts of four slots: `n1` with four GPUs and all executors, `n2` as `own`.
std::vector<HostFacts> with_second_host(HostFacts own) {
  std::vector<HostFacts> hosts(2);
  hosts[0].name = "n1";
  hosts[0].training.gpus = 4;
  hosts[1] = std::move(own);
  hosts[1].name = "n2";
  return hosts;
}

LocalMachine launcher_without_gpus() {
  LocalMachine machine;
  machine.no_gpu = "no driver";
  machine.no_training = "no LibTorch";
  machine.absent = {{"nccl", "no CUDA"}};
  machine.allocation = parse_host_list("n1:4,n2:4");
  return machine;
}

TEST(MachineOfHosts, HasWhatAllHostsHaveWhateverThisMachineLacks) {
  HostFacts own;
  own.training.gpus = 2;
  const LocalMachine machine = machine_of_hosts(launcher_without_gpus(), with_second_host(own));
  EXPECT_EQ(machine.gpus, 2);
  EXPECT_EQ(machine.no_gpu, "");
  EXPECT_EQ(machine.no_training, "");
  EXPECT_TRUE(machine.absent.empty());
  EXPECT_EQ(machine.allocation.slots(), 8);
}

TEST(MachineOfHosts, SaysWhichHostLacksWhat) {
  HostFacts own;
  own.training.no_gpu = "the driver is too old";
  own.training.no_training = "no LibTorch";
  own.training.absent = {{"mpi", "no Open MPI"}};
  const LocalMachine machine = machine_of_hosts(launcher_without_gpus(), with_second_host(own));
  EXPECT_EQ(machine.gpus, 0);
  EXPECT_EQ(machine.no_gpu, "n2: the driver is too old");
  EXPECT_EQ(machine.no_training, "n2: no LibTorch");
  EXPECT_THAT(machine.absent, ElementsAre(Pair("mpi", "n2: no Open MPI")));
}

TEST(MachineBeforeAnswers, HasGpusOnHostsOnlyWhereTheyAreAskedFor) {
  SweepRequest request;
  EXPECT_EQ(machine_before_answers(launcher_without_gpus(), request).gpus, 0);
  request.device = "gpu";
  EXPECT_EQ(machine_before_answers(launcher_without_gpus(), request).gpus, 4);
  request.device.clear();
  request.executor = "nccl-p2p";
  const LocalMachine machine = machine_before_answers(launcher_without_gpus(), request);
  EXPECT_EQ(machine.gpus, 4);
  EXPECT_TRUE(machine.absent.empty());
  request.executor = "mpi";
  EXPECT_EQ(machine_before_answers(launcher_without_gpus(), request).gpus, 0);
}

/// A job of two hosts, each with `slots`, whose engine says that a host has `said` GPUs; this machine has `own`.
LocalMachine in_job(int slots, int said, int own) {
  LocalMachine machine;
  machine.gpus = own;
  machine.allocation = {.hosts = {{"n1", slots}, {"n2", slots}}, .origin = "a job", .gpus = said};
  return machine;
}

TEST(MachineBeforeAnswers, HasNoMoreSlotsOfAJobThanGpus) {
  for (const auto& [said, own] : {std::pair{8, 0}, {0, 8}, {8, 4}}) {
    const Allocation job = machine_before_answers(in_job(64, said, own), {}).allocation;
    EXPECT_EQ(job.slots(), 16);
    EXPECT_EQ(job.note, "n1 has 64 slots and 8 GPUs, so it takes no more ranks: --device cpu uses all slots");
  }
}

TEST(MachineBeforeAnswers, KeepsSlotsThatNeedNoGpuEachOrThatPeopleGave) {
  SweepRequest request;
  LocalMachine sharing = in_job(64, 8, 8), named = in_job(64, 0, 8);
  sharing.asked_for = true;
  named.allocation.gpus.reset();
  for (const LocalMachine& machine : {sharing, named, in_job(64, 0, 0), in_job(8, 8, 8)}) {
    const Allocation job = machine_before_answers(machine, request).allocation;
    EXPECT_EQ(job.slots(), machine.allocation.slots());
    EXPECT_EQ(job.note, "");
  }
  request.layouts = {{.nodes = 1, .gpus_per_node = 8, .processes_per_gpu = 2}};
  EXPECT_EQ(machine_before_answers(in_job(16, 8, 8), request).allocation.slots(), 32);
  request = {};
  request.device = "cpu";
  EXPECT_EQ(machine_before_answers(in_job(64, 8, 8), request).allocation.slots(), 128);
}

TEST(MachineBeforeAnswers, NamesGpusOfThisMachineThatAJobWithoutEnoughTasksLeavesIdle) {
  const Allocation job = machine_before_answers(in_job(1, 0, 4), {}).allocation;
  EXPECT_EQ(job.slots(), 2);
  EXPECT_THAT(job.note, StartsWith("n1 has 1 slot and 4 GPUs, of which only 1 can be used: ask for 4 tasks"));
}

TEST(SlotsOfHosts, AreNoMoreThanTheirGpusTake) {
  const Allocation hosts = parse_host_list("n1:4,n2:4");
  HostFacts own;
  own.training.gpus = 4;
  require_gpus_for_slots(hosts, with_second_host(own), 1);
  own.training.gpus = 2;
  require_gpus_for_slots(hosts, with_second_host(own), 2);
  own.training.gpus = 3;
  expect_error([&] { require_gpus_for_slots(hosts, with_second_host(own), 1); }, ExitCode::environment,
               HasSubstr("n2 has 4 slots and 3 GPUs"), HasSubstr("give it 3 slots"));
}

}  // namespace
}  // namespace hbench::machine_of_hosts_test

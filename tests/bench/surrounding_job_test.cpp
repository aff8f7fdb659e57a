#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/launch/allocation.hpp"
#include "collectives/base/own_host.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mutate.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::surrounding_job_test {
namespace {

using Environment = std::map<std::string, std::string>;

Allocation allocation_in(const Environment& environment, const HostFlags& flags = {}) {
  const auto variable = [&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  };
  return allocation_of(flags, variable, [] { return std::string(); });
}

/// What is found in an environment: hosts in words, empty for this machine alone, and the note.
struct Row {
  Environment environment;
  std::string hosts, note;
};

void expect_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    std::string trace;
    for (const auto& [name, value] : row.environment) trace += fmt::format("{}='{}' ", name, value);
    SCOPED_TRACE(trace);
    const Allocation found = allocation_in(row.environment);
    EXPECT_EQ(found.is_local() ? "" : found.in_words(), row.hosts);
    EXPECT_EQ(found.note, row.note);
  }
}

TEST(SurroundingJob, OfGridEngineHasTheSlotsOfAllQueuesOfAHost) {
  const TemporaryFolder folder;
  const std::string file = (folder / "pe_hostfile").string();
  const Environment job{{"JOB_ID", "12"}, {"NSLOTS", "20"}, {"PE_HOSTFILE", file}};
  for (const auto& [text, hosts] : std::vector<std::pair<std::string, std::string>>{
           {"node01 8 all.q@node01 UNDEFINED\nnode02 4 all.q@node02 UNDEFINED\n", "node01:8,node02:4"},
           {"n1.lab 4 gpu.q@n1.lab <NULL>\nn2.lab 8 gpu.q@n2.lab <NULL>\n\nn1.lab 2 all.q@n1.lab <NULL>\n",
            "n1.lab:6,n2.lab:8"},
           {"a  3\tq@a 0,0:0,1:1,0\r\nb 1 q@b 0,0\r\n", "a:3,b:1"},
           {"a 2\nb 2", "a:2,b:2"}}) {
    write_bytes(file, text);
    EXPECT_EQ(allocation_in(job).in_words(), hosts + " (Grid Engine's job)");
  }
  write_bytes(file, own_host_name() + " 8 all.q@here UNDEFINED\n");
  EXPECT_TRUE(allocation_in(job).is_local());
  EXPECT_EQ(allocation_in(job, {.hosts = "a:2", .hostfile = {}}).in_words(), "-H a:2");
}

TEST(SurroundingJob, OfGridEngineIsRefusedWithTheLineThatIsNoHost) {
  for (const auto& [text, message] :
       std::vector<std::pair<std::string, std::string>>{{"n1 8 q U\nn2\n", "f:2: 'n2' is not a host with its slots"},
                                                        {"n1 x q U\n", "f:1: 'n1 x q U' is not a host with its slots"},
                                                        {"n1 0 q U\n", "f:1: 'n1 0 q U' is not a host with its slots"},
                                                        {"-n1 2\n", "f:1: '-n1 2' is not a host with its slots"},
                                                        {"\n", "f: there is no host in it"}})
    expect_usage_error([&, text = text] { parse_grid_engine_hosts(text, "f"); }, message, "-H or --hostfile");
  support::survive_mutations("n1 8 all.q@n1 U\nn2 8 all.q@n2 U\n", 2000, 1,
                             [](const std::string& text) { parse_grid_engine_hosts(text, "f.toml"); });
}

TEST(SurroundingJob, OfAFileThatCannotBeReadIsAnErrorOfTheEnvironment) {
  for (const char* name : {"PE_HOSTFILE", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "OMPI_MCA_orte_default_hostfile"})
    expect_error(
        [&] {
          allocation_in({{name, "/none/hosts"}});
        },
        ExitCode::environment, fmt::format("{}: cannot read /none/hosts: No such file or directory", name),
        std::string("name the hosts with -H or --hostfile"));
}

TEST(SurroundingJob, OfLsfLeavesOutALaunchNodeAndSaysSo) {
  const auto left_out = [](const char* host, int slots) {
    return fmt::format(
        "{} has 1 slot and each other host {}: it is left out as LSF's launch node; to use it, name all hosts with -H "
        "or --hostfile",
        host, slots);
  };
  const TemporaryFolder folder;
  const std::string file = (folder / "hosts").string();
  write_bytes(file, "batch2\na1\na1\na1\na1\na2\na2\na2\na2\n");
  expect_rows({
      {{{"LSB_MCPU_HOSTS", "batch3 1 h49n16 42 h50n05 42"}}, "h49n16:42,h50n05:42 (LSF's job)", left_out("batch3", 42)},
      {{{"LSB_MCPU_HOSTS", "lassen710 1 lassen30 40 "}}, "lassen30:40 (LSF's job)", left_out("lassen710", 40)},
      {{{"LSB_DJOB_HOSTFILE", file}, {"LSB_MCPU_HOSTS", "no 1"}}, "a1:4,a2:4 (LSF's job)", left_out("batch2", 4)},
      {{{"LSB_HOSTS", "b a a c c"}}, "a:2,c:2 (LSF's job)", left_out("b", 2)},
      // Ordinary jobs: none has whole hosts behind a first one of one slot.
      {{{"LSB_MCPU_HOSTS", "a 1 b 1 c 1"}}, "a:1,b:1,c:1 (LSF's job)", ""},
      {{{"LSB_MCPU_HOSTS", "a 4 b 4"}}, "a:4,b:4 (LSF's job)", ""},
      {{{"LSB_MCPU_HOSTS", "a 2 b 42 c 42"}}, "a:2,b:42,c:42 (LSF's job)", ""},
      {{{"LSB_MCPU_HOSTS", "a 1 b 8 c 7"}}, "a:1,b:8,c:7 (LSF's job)", ""},
      {{{"LSB_MCPU_HOSTS", "a 1 b 7"}}, "a:1,b:7 (LSF's job)", ""},
      {{{"LSB_MCPU_HOSTS", "a 8 b 8 c 1"}}, "a:8,b:8,c:1 (LSF's job)", ""},
      {{{"LSB_HOSTS", "a a b b"}}, "a:2,b:2 (LSF's job)", ""},
      // Nor is it looked for in jobs of others.
      {{{"SLURM_JOB_NODELIST", "a,b,c"}, {"SLURM_TASKS_PER_NODE", "1,8(x2)"}}, "a:1,b:8,c:8 (Slurm's job ?)", ""},
  });
}

TEST(SurroundingJob, OfACloudHasTheHostsOfItsList) {
  expect_rows({
      {{{"SKYPILOT_NODE_IPS", "10.0.0.4\n10.0.0.5\n"},
        {"SKYPILOT_NUM_GPUS_PER_NODE", "8"},
        {"SKYPILOT_NODE_RANK", "0"}},
       "10.0.0.4:8,10.0.0.5:8 (SkyPilot's job)",
       ""},
      {{{"SKYPILOT_NODE_IPS", "10.0.0.4\n10.0.0.5"}, {"SKYPILOT_NODE_RANK", "1"}},
       "10.0.0.4:1,10.0.0.5:1 (SkyPilot's job)",
       "SKYPILOT_NODE_RANK=1: run this on the job's first host alone, or sweeps of several hosts disturb each other"},
      {{{"SKYPILOT_NODE_IPS", "10.0.0.4"}, {"SKYPILOT_NUM_GPUS_PER_NODE", "8"}}, "", ""},
      {{{"SM_HOSTS", R"(["algo-1", "algo-2"])"}, {"SM_NUM_GPUS", "4"}, {"SM_CURRENT_HOST", "algo-1"}},
       "algo-1:4,algo-2:4 (SageMaker's job)",
       ""},
      {{{"SM_HOSTS", R"(["algo-1","algo-2"])"}, {"SM_NUM_GPUS", "0"}, {"SM_CURRENT_HOST", "algo-2"}},
       "algo-1:1,algo-2:1 (SageMaker's job)",
       "SM_CURRENT_HOST=algo-2: run this on the job's first host alone, or sweeps of several hosts disturb each other"},
      {{{"SM_HOSTS", R"(["algo-1"])"}, {"SM_NUM_GPUS", "4"}}, "", ""},
      {{{"DSTACK_NODES_IPS", "10.0.0.4\n10.0.0.5"}, {"DSTACK_GPUS_PER_NODE", "2"}, {"DSTACK_NODE_RANK", "0"}},
       "10.0.0.4:2,10.0.0.5:2 (dstack's job)",
       ""},
      {{{"SM_RESOURCE_CONFIG", R"({"current_host": "algo-1", "hosts": ["algo-1", "algo-2"], "network": "eth0"})"}},
       "algo-1:1,algo-2:1 (SageMaker's job)",
       ""},
      {{{"VC_WORKER_HOSTS", "j-worker-0.j,j-worker-1.j"}, {"VC_TASK_INDEX", "0"}},
       "j-worker-0.j:1,j-worker-1.j:1 (Volcano's job)",
       ""},
      {{{"VC_MPIWORKER_HOSTS", "j-w-0.j,j-w-1.j"}}, "j-w-0.j:1,j-w-1.j:1 (Volcano's job)", ""},
      {{{"MLP_WORKER_ALL_HOSTS", "10.0.0.4,10.0.0.5"}, {"MLP_WORKER_GPU", "8"}, {"MLP_ROLE_INDEX", "0"}},
       "10.0.0.4:8,10.0.0.5:8 (Volcengine's job)",
       ""},
      {{{"AZ_BATCH_NODE_LIST", "10.0.0.4;10.0.0.5"}, {"AZUREML_NODE_COUNT", "2"}},
       "10.0.0.4:1,10.0.0.5:1 (Azure Batch's task)",
       ""},
      {{{"AZ_BATCH_HOST_LIST", "10.0.0.4,10.0.0.5"}}, "10.0.0.4:1,10.0.0.5:1 (Azure Batch's task)", ""},
  });
  for (const char* text : {"a;-b", R"({"hosts": 2})", "a b:2", "$(ls)"})
    expect_usage_error(
        [&] {
          allocation_in({{"SM_HOSTS", text}});
        },
        fmt::format("SM_HOSTS='{}' is no list of hosts", text), "-H or --hostfile");
}

TEST(SurroundingJob, WhoseOtherHostsHaveNoNamesSaysThatTheyAreNotUsed) {
  const auto unnamed = [](const char* variable, const auto& number, const char* job) {
    return fmt::format(
        "{} says {}: the other hosts of {} are not used, as no variable has names that ssh reaches; name them with -H "
        "or --hostfile",
        variable, number, job);
  };
  const auto pod = [](Environment more) {
    more.merge(Environment{{"MASTER_ADDR", "job-master-0"}, {"MASTER_PORT", "23456"}, {"RANK", "0"}});
    return more;
  };
  expect_rows({
      {pod({{"WORLD_SIZE", "2"}, {"PET_NNODES", "2"}}), "", unnamed("PET_NNODES", 2, "a job of PyTorch")},
      {pod({{"WORLD_SIZE", "4"}}), "", unnamed("WORLD_SIZE", 4, "a job of PyTorch")},
      {pod({{"WORLD_SIZE", "16"}, {"LOCAL_WORLD_SIZE", "8"}}), "", unnamed("WORLD_SIZE", 16, "a job of PyTorch")},
      {{{"PET_NNODES", "1:4"}, {"PET_RDZV_ENDPOINT", "job-worker-0:23456"}},
       "",
       unnamed("PET_NNODES", 4, "a job of PyTorch")},
      {{{"GROUP_WORLD_SIZE", "2"}, {"PET_NNODES", "2"}}, "", unnamed("GROUP_WORLD_SIZE", 2, "a job of torchrun")},
      {{{"AWS_BATCH_JOB_NUM_NODES", "4"}}, "", unnamed("AWS_BATCH_JOB_NUM_NODES", 4, "a job of AWS Batch")},
      {{{"AZUREML_NODE_COUNT", "2"}}, "", unnamed("AZUREML_NODE_COUNT", 2, "a job of Azure ML")},
      {{{"MA_NUM_HOSTS", "2"}}, "", unnamed("MA_NUM_HOSTS", 2, "a job of ModelArts")},
      {{{"NGC_ARRAY_SIZE", "2"}}, "", unnamed("NGC_ARRAY_SIZE", 2, "a job of Base Command")},
      {{{"NNODES", "4"}, {"NODE_RANK", "0"}}, "", unnamed("NNODES", 4, "a job of PyTorch")},
      {{{"NUM_NODES", "2"}, {"NODE_RANK", "0"}}, "", unnamed("NUM_NODES", 2, "a job of PyTorch")},
      {{{"HOROVOD_SIZE", "8"}, {"HOROVOD_LOCAL_SIZE", "4"}}, "", unnamed("HOROVOD_SIZE", 8, "a job of Horovod")},
      {{{"RAY_ADDRESS", "10.0.0.4:6379"}}, "", unnamed("RAY_ADDRESS", "10.0.0.4:6379", "a cluster of Ray")},
      {{{"LWS_GROUP_SIZE", "3"}}, "", unnamed("LWS_GROUP_SIZE", 3, "a LeaderWorkerSet")},
      {{{"TF_CONFIG", R"({"cluster": {"chief": ["a:2222"], "worker": ["b:2222", "c:2222"]}, "task": {"index": 0}})"}},
       "",
       unnamed("TF_CONFIG", 3, "a job of TensorFlow")},
      {{{"CLUSTER_SPEC", R"({"cluster": {"workerpool0": ["a:2222"], "workerpool1": ["b:2222"]}})"},
        {"TF_CONFIG", R"({"cluster": {"chief": ["a:2222"], "worker": ["b:2222"]}})"}},
       "",
       unnamed("CLUSTER_SPEC", 2, "a job of Vertex AI")},
      // Of one host.
      {pod({{"WORLD_SIZE", "1"}}), "", ""},
      {pod({{"WORLD_SIZE", "-2147483648"}}), "", ""},
      {pod({{"WORLD_SIZE", "4"}, {"MASTER_ADDR", "localhost"}}), "", ""},
      {pod({{"WORLD_SIZE", "4"}, {"MASTER_ADDR", "127.0.1.1"}}), "", ""},
      {pod({{"WORLD_SIZE", "4"}, {"MASTER_ADDR", "::1"}}), "", ""},
      {pod({{"WORLD_SIZE", "8"}, {"LOCAL_WORLD_SIZE", "8"}, {"GROUP_WORLD_SIZE", "1"}}), "", ""},
      {pod({{"WORLD_SIZE", "8"}, {"PET_NNODES", "1"}}), "", ""},
      {{{"WORLD_SIZE", "8"}}, "", ""},
      {{{"PET_NNODES", "1:1"}}, "", ""},
      {{{"AZUREML_NODE_COUNT", "1"}}, "", ""},
      {{{"NNODES", "4"}}, "", ""},
      {{{"HOROVOD_SIZE", "4"}, {"HOROVOD_LOCAL_SIZE", "4"}}, "", ""},
      {{{"TF_CONFIG", R"({"cluster": {"worker": ["localhost:2222", "localhost:2223"]}})"}}, "", ""},
      {{{"TF_CONFIG", R"([["cluster", "a:1"], 2)"}}, "", ""},
      // Of a job that names them.
      {pod({{"WORLD_SIZE", "2"}, {"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_JOB_ID", "7"}}), "n1:1,n2:1 (Slurm's job 7)",
       ""},
  });
}

TEST(SurroundingJob, OfSeveralGroupsOfSlurmSaysThatOneIsUsed) {
  const auto others = [](const char* seen) {
    return fmt::format(
        "{}: hosts of the job's other groups are not used, as Slurm starts ranks in the first alone: ask it for one "
        "group, or name all hosts with -H under 'env -u SLURM_JOBID -u SLURM_JOB_ID', which makes mpirun use ssh",
        seen);
  };
  expect_rows({
      {{{"SLURM_HET_SIZE", "2"},
        {"SLURM_JOB_ID_HET_GROUP_0", "17"},
        {"SLURM_JOB_NODELIST_HET_GROUP_0", "n[1-2]"},
        {"SLURM_TASKS_PER_NODE_HET_GROUP_0", "4(x2)"},
        {"SLURM_JOB_NODELIST_HET_GROUP_1", "g[1-2]"},
        {"SLURM_TASKS_PER_NODE_HET_GROUP_1", "8(x2)"}},
       "n1:4,n2:4 (Slurm's job 17)",
       others("SLURM_JOB_NODELIST_HET_GROUP_1=g[1-2]")},
      {{{"SLURM_HET_SIZE", "3"},
        {"SLURM_JOB_ID", "17"},
        {"SLURM_JOB_NODELIST", "n1,n2"},
        {"SLURM_TASKS_PER_NODE", "1,2"}},
       "n1:1,n2:2 (Slurm's job 17)",
       others("SLURM_HET_SIZE=3")},
      {{{"SLURM_JOB_NODELIST", own_host_name()}, {"SLURM_JOB_NODELIST_HET_GROUP_1", "g1"}},
       "",
       others("SLURM_JOB_NODELIST_HET_GROUP_1=g1")},
      {{{"SLURM_HET_SIZE", "1"}, {"SLURM_JOB_NODELIST", "n1,n2"}}, "n1:1,n2:1 (Slurm's job ?)", ""},
  });
}

TEST(SurroundingJob, OfFewerHostsThanAreExpectedIsRefusedWithItsNote) {
  const HostFlags three{.hosts = {}, .hostfile = {}, .expected = 3};
  for (const auto& [environment, message] : std::vector<std::pair<Environment, std::string>>{
           {{{"PET_NNODES", "3"}}, "--expect-hosts 3: the job has this machine alone; PET_NNODES says 3: "},
           {{{"LSB_MCPU_HOSTS", "l 1 a 4 b 4"}},
            "--expect-hosts 3: the job has a:4,b:4 (LSF's job); l has 1 slot and each other host 4: "},
           {{},
            "--expect-hosts 3: the job has this machine alone; looked at SLURM_JOB_NODELIST, "
            "OMPI_MCA_orte_default_hostfile, PRTE_MCA_prte_default_hostfile, I_MPI_HYDRA_HOST_FILE, HYDRA_HOST_FILE, "
            "OAR_NODEFILE, PJM_O_NODEINF, LSB_DJOB_HOSTFILE, PBS_NODEFILE, COBALT_NODEFILE, PE_HOSTFILE, "
            "LSB_MCPU_HOSTS, CCP_NODES, LSB_HOSTS, SKYPILOT_NODE_IPS, SM_HOSTS, DSTACK_NODES_IPS, "
            "SM_RESOURCE_CONFIG, VC_MPIWORKER_HOSTS, VC_WORKER_HOSTS, MLP_WORKER_ALL_HOSTS, AZ_BATCH_HOST_LIST, "
            "AZ_BATCH_NODE_LIST and FLUX_JOB_NNODES"}})
    expect_error([&, environment = environment] { allocation_in(environment, three); }, ExitCode::environment,
                 StartsWith(message));
}

}  // namespace
}  // namespace hbench::surrounding_job_test

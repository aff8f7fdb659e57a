#include "bench/launch/allocation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>
#include <fstream>
#include <map>

#include "collectives/base/own_host.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::allocation_test {
namespace {

using testing::_;
using Host = AllocatedHost;

TEST(HostList, HasHostsWithTheirSlots) {
  EXPECT_THAT(parse_host_list("a:4,b:4").hosts, ElementsAre(Host{"a", 4}, Host{"b", 4}));
  EXPECT_THAT(parse_host_list("n1.lab-2_x").hosts, ElementsAre(Host{"n1.lab-2_x", 1}));
  EXPECT_THAT(parse_host_list("a,b,a:2").hosts, ElementsAre(Host{"a", 3}, Host{"b", 1}));
  for (const char* text : {"a:4,b:4,", "a:4, b:4", " a:4 ,b:4 , "})
    EXPECT_THAT(parse_host_list(text).hosts, ElementsAre(Host{"a", 4}, Host{"b", 4})) << text;
}

TEST(HostList, IsRefusedWhereAHostOrItsSlotsAreNone) {
  for (const char* text : {"a:0", "a:-1", "a:x", "a:", ":4", "", ",", "a,,b", "a:2,,", "a b:2", "a: 2", "-x:2", "a:2:2",
                           "$(ls)", "a:100001"})
    expect_error([&] { parse_host_list(text); }, ExitCode::usage, HasSubstr(std::string("-H ") + text),
                 "write HOST:SLOTS,HOST:SLOTS, such as -H a:4,b:4");
}

/// A thousand hosts and one more, each with as many slots as there may be.
std::vector<std::string> many_hosts() {
  std::vector<std::string> lines;
  for (int i = 0; i <= 1000; ++i) lines.push_back(fmt::format("n{}:100000", i));
  return lines;
}

TEST(HostFile, IsReadAsOpenMpiReadsIt) {
  EXPECT_THAT(parse_hostfile("# two\n\nn1 slots=4\n  n2:2   # half\r\nn3\nn3\nn4 max_slots=2\n", "f").hosts,
              ElementsAre(Host{"n1", 4}, Host{"n2", 2}, Host{"n3", 2}, Host{"n4", 1}));
  EXPECT_THAT(parse_hostfile("last slots=2", "f").hosts, ElementsAre(Host{"last", 2}));
  EXPECT_THAT(parse_hostfile("a slots = 4 max_slots = 8\nb slots= 2 # two\nc slots =3\n", "f").hosts,
              ElementsAre(Host{"a", 4}, Host{"b", 2}, Host{"c", 3}));
  EXPECT_THAT(parse_hostfile("a cpu=4\nb count=2 max_slots=8\n", "f").hosts, ElementsAre(Host{"a", 4}, Host{"b", 2}));
  EXPECT_THAT(parse_hostfile("\xEF\xBB\xBF"
                             "a slots=4\r\nb slots=2\r\n",
                             "f")
                  .hosts,
              ElementsAre(Host{"a", 4}, Host{"b", 2}));
}

TEST(HostFile, IsRefusedWhereAHostThatIsThereTwiceHasSlots) {
  for (const auto& [text, where] :
       {std::pair{"host-a\nhost-b\nhost-a slots=4\n", "f:3: 'host-a' is there twice, with slots"},
        {"n1 slots=4\nn1\n", "f:2: 'n1' is there twice"},
        {"n1:4\nn1 slots=1 max-slots=8\n", "f:2: 'n1' is there twice"}})
    expect_error([&, text = text] { parse_hostfile(text, "f"); }, ExitCode::usage, HasSubstr(where),
                 "mpirun refuses that: write each host once with all its slots, or a line without slots for each");
}

TEST(Hosts, WithUsersNameTheirCure) {
  const std::string cure = "write 10.0.0.10, and its user into ~/.ssh/config: Host 10.0.0.10, User user1";
  expect_error([] { parse_hostfile("user1@10.0.0.10:2\n", "f"); }, ExitCode::usage,
               "f:1: 'user1@10.0.0.10:2' names a user; only names of hosts are read", cure);
  expect_error([] { parse_host_list("b:4,user1@10.0.0.10:2"); }, ExitCode::usage,
               "-H b:4,user1@10.0.0.10:2: 'user1@10.0.0.10:2' names a user; only names of hosts are read", cure);
  expect_error([] { parse_hostfile("user1@10.0.0.10 slots=2\n", "f"); }, ExitCode::usage,
               "f:1: 'user1@10.0.0.10' names a user; only names of hosts are read", cure);
}

TEST(Hosts, WithAddressesOfIpv6NameTheirCure) {
  const std::string cure = "give the host a name, in /etc/hosts or ~/.ssh/config, and write that";
  for (const char* word : {"fd00::12", "[fd00::11]:8", "[fd00::11]", "2001:db8:0:1:1:1:1:1", "::1"}) {
    expect_error([&] { parse_hostfile(fmt::format("{} slots=8\n", word), "f"); }, ExitCode::usage,
                 fmt::format("f:1: '{}': addresses of IPv6 are not read", word), cure);
    expect_error([&] { parse_host_list(word); }, ExitCode::usage,
                 fmt::format("-H {0}: '{0}': addresses of IPv6 are not read", word), cure);
  }
}

TEST(Hosts, WithPortsNameTheirCure) {
  const auto cure = [](const char* host, int port) {
    return fmt::format(
        "for slots write {0} slots={1} into a --hostfile; for a port Port {1} behind Host {0} into "
        "~/.ssh/config",
        host, port);
  };
  for (const auto& [line, word, host, port] : {std::tuple{"a port=2222 slots=8", "port=2222", "a", 2222},
                                               {"b slots=8 ssh_port=2022", "ssh_port=2022", "b", 2022},
                                               {"10.0.0.4:22", "10.0.0.4:22", "10.0.0.4", 22}})
    expect_error([&, line = line] { parse_hostfile(fmt::format("n1:8\n{}\n", line), "f"); }, ExitCode::usage,
                 fmt::format("f:2: '{}': is this a port? Slots are expected", word), cure(host, port));
  expect_error([] { parse_host_list("a:8,10.0.0.4:22"); }, ExitCode::usage,
               "-H a:8,10.0.0.4:22: '10.0.0.4:22': is this a port? Slots are expected", cure("10.0.0.4", 22));
  EXPECT_THAT(parse_hostfile("10.0.0.4 slots=22\n", "f").hosts, ElementsAre(Host{"10.0.0.4", 22}));
}

TEST(HostFile, IsRefusedWhereAHostHasMoreSlotsThanItMay) {
  for (const char* line : {"n1 slots=8 max_slots=4", "n1 max-slots=4 slots=8", "n1:8 max_slots=4"})
    expect_error([&] { parse_hostfile(line, "f"); }, ExitCode::usage, "f:1: n1 has 8 slots, and 4 at most",
                 "write the slots that are to be used, once");
}

TEST(HostFile, OfAsManyHostsAsThereAreIsReadAtOnce) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += fmt::format("node{:06} slots=8\n", i);
  const std::clock_t began = std::clock();
  const Allocation many = parse_hostfile(text, "f");
  EXPECT_LT(std::clock() - began, (hbench::support::kSanitized ? 20 : 1) * CLOCKS_PER_SEC);
  EXPECT_EQ(many.slots(), 1'600'000);
  EXPECT_EQ(many.in_words(),
            "node000000:8,node000001:8,node000002:8,node000003:8,node000004:8,node000005:8,node000006:8,node000007:8,"
            "node000008:8,node000009:8,node000010:8,node000011:8,node000012:8,node000013:8,node000014:8,node000015:8 "
            "and 199984 more (f)");
  expect_error([] { parse_hostfile(fmt::format("{}\n", fmt::join(many_hosts(), "\n")), "f"); }, ExitCode::usage,
               "the hosts have more than 100000000 slots, with those of 'n1000'", _);
}

TEST(HostFile, IsRefusedWithItsLine) {
  for (const auto& [text, where] : {std::pair{"n1 slots=4\nn2 slot=4\n", "f:2: 'slot=4'"},
                                    {"\nn1:x\n", "f:2: 'n1:x'"},
                                    {"n1 n2\n", "f:1: 'n2'"},
                                    {"# none\n", "f: there is no host in it"}})
    expect_error([&, text = text] { parse_hostfile(text, "f"); }, ExitCode::usage, HasSubstr(where),
                 "write a host a line: NAME slots=4");
}

TEST(HostFile, SaysHowManySlotsAHostMayHave) {
  for (const char* word : {"slots=0", "cpu=-1", "max_slots=x", "count=100001", "slots="})
    expect_error([&] { parse_hostfile(fmt::format("n1\nn2 {}\n", word), "f"); }, ExitCode::usage,
                 fmt::format("f:2: '{}': a host has 1 to 100000 slots", word),
                 "write a host a line: NAME slots=4; leave out hosts that are not to be used");
}

TEST(SlurmNodes, AreExpanded) {
  EXPECT_THAT(parse_slurm_nodes("n[1-3,07],login"), ElementsAre("n1", "n2", "n3", "n07", "login"));
  EXPECT_THAT(parse_slurm_nodes("gpu-[098-101]"), ElementsAre("gpu-098", "gpu-099", "gpu-100", "gpu-101"));
  EXPECT_THAT(parse_slurm_nodes("r[1-2]n[1,3]x"), ElementsAre("r1n1x", "r1n3x", "r2n1x", "r2n3x"));
  EXPECT_THAT(parse_slurm_nodes("a-[1-2, 5], b-[1,4],b-[9]"), ElementsAre("a-1", "a-2", "a-5", "b-1", "b-4", "b-9"));
}

TEST(SlurmNodes, AreRefusedWhereTheyAreNone) {
  for (const char* text : {"n[1-", "n]1[", "n[3-1]", "n[a]", "", "n[1,]", "n[1-2-3]", "a;b", "-x[1-2]", "a [1-2]",
                           "a[1-2] b", "r[1-99999]n[1-99999]"})
    expect_error([&] { parse_slurm_nodes(text); }, ExitCode::usage, HasSubstr(std::string("'") + text + "'"),
                 "run inside a Slurm job, or name the hosts with -H or --hostfile");
}

TEST(SlurmNodes, OfTheLargestNumberAreOne) {
  EXPECT_THAT(parse_slurm_nodes("n[2147483647]"), ElementsAre("n2147483647"));
}

TEST(SlurmNodes, ThatWouldTakeAllMemoryAreRefusedInAShortLine) {
  std::string brackets = "n";
  for (int i = 0; i < 30'000; ++i) brackets += "[1]";
  for (const std::string& text : {brackets, "n[" + std::string(100'000, '0') + "1-900000]",
                                  std::string(100'000, 'n') + "[1-900000]", "n[1-900000]" + std::string(100'000, 'n')})
    expect_error([&] { parse_slurm_nodes(text); }, ExitCode::usage,
                 AllOf(HasSubstr("...' is no list of nodes"),
                       testing::ResultOf([](const std::string& line) { return line.size() < 200; }, true)),
                 HasSubstr("--hostfile"));
}

TEST(SlurmCounts, AreRepeated) {
  EXPECT_THAT(parse_slurm_counts("2(x3),1"), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(parse_slurm_counts("2(x2), 1"), ElementsAre(2, 2, 1));
  for (const char* text : {"2(x", "2(x0)", "x", "", "2(x3", "0",
                           "1(x99999),1(x99999),1(x99999),1(x99999),1(x99999),1(x99999),1(x99999),1(x99999),"
                           "1(x99999),1(x99999),1(x99999)"})
    expect_error([&] { parse_slurm_counts(text); }, ExitCode::usage, HasSubstr("no list of tasks"),
                 "run inside a Slurm job, or name the hosts with -H or --hostfile");
}

using Variables = std::map<std::string, std::string>;

Allocation allocation_in(const Variables& variables, const HostFlags& flags = {}, const std::string& flux = "") {
  const auto variable = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  return allocation_of(flags, variable, [&] { return flux; });
}

TEST(Allocation, IsThisMachineWhereNobodyGivesHosts) {
  EXPECT_TRUE(allocation_in({}).is_local());
  EXPECT_TRUE(allocation_in({{"SLURM_JOB_NODELIST", ""}}).is_local());
}

TEST(Allocation, IsThatOfTheSlurmJob) {
  const Variables job{{"SLURM_JOB_ID", "17"},
                      {"SLURM_JOB_NODELIST", "n[1-2]"},
                      {"SLURM_TASKS_PER_NODE", "4(x2)"},
                      {"SLURM_JOB_CPUS_PER_NODE", "64(x2)"}};
  EXPECT_EQ(allocation_in(job).in_words(), "n1:4,n2:4 (Slurm's job 17)");
  EXPECT_EQ(allocation_in({{"SLURM_JOB_NODELIST", "a,b"}, {"SLURM_JOB_CPUS_PER_NODE", "8,2"}}).in_words(),
            "a:8,b:2 (Slurm's job ?)");
  EXPECT_EQ(allocation_in({{"SLURM_JOB_NODELIST", "a,b"}}).slots(), 2);
  expect_error(
      [] {
        allocation_in({{"SLURM_JOB_NODELIST", "a,b"}, {"SLURM_TASKS_PER_NODE", "2"}});
      },
      ExitCode::usage, "Slurm names 2 nodes and the tasks of 1: 'a,b'", "name the hosts with -H or --hostfile");
}

TEST(Allocation, OfASlurmJobWithFewerTasksThanGpusNamesAHostWithIdleOnes) {
  const auto note_of = [](const char* tasks, const char* variable, const char* gpus) {
    return allocation_in({{"SLURM_JOB_NODELIST", "n[1,2]"}, {"SLURM_TASKS_PER_NODE", tasks}, {variable, gpus}}).note;
  };
  EXPECT_EQ(note_of("1(x2)", "SLURM_GPUS_ON_NODE", "4"),
            "n1 has 1 slot and 4 GPUs, of which only 1 can be used: ask for 4 tasks on each host (Slurm: "
            "--ntasks-per-node=4, PBS Pro: mpiprocs=4)");
  EXPECT_THAT(note_of("8,2", "SLURM_GPUS_ON_NODE", "8"), StartsWith("n2 has 2 slots and 8 GPUs, of which only 2"));
  EXPECT_THAT(note_of("1(x2)", "SLURM_GPUS_PER_NODE", "a100:4"), StartsWith("n1 has 1 slot and 4 GPUs"));
  EXPECT_EQ(note_of("2(x2)", "SLURM_GPUS_ON_NODE", "2"), "");
  EXPECT_EQ(note_of("64(x2)", "SLURM_GPUS_ON_NODE", "8"), "");
  EXPECT_EQ(note_of("1(x2)", "SLURM_GPUS_ON_NODE", "1"), "");
}

TEST(Allocation, IsThatOfTheJobOfOtherSchedulers) {
  const TemporaryFolder folder;
  std::ofstream(folder / "nodes") << "n1\nn1\nn2\nn2\n";
  const std::string file = (folder / "nodes").string();
  EXPECT_EQ(allocation_in({{"PBS_NODEFILE", file}}).in_words(), "n1:2,n2:2 (PBS's job)");
  EXPECT_EQ(allocation_in({{"COBALT_NODEFILE", file}}).in_words(), "n1:2,n2:2 (Cobalt's job)");
  EXPECT_EQ(allocation_in({{"OAR_NODEFILE", file}}).in_words(), "n1:2,n2:2 (OAR's job)");
  EXPECT_EQ(allocation_in({{"PJM_O_NODEINF", file}}).in_words(), "n1:2,n2:2 (PJM's job)");
  EXPECT_EQ(allocation_in({{"CCP_NODES", "2 n1 4 n2 8"}}).in_words(), "n1:4,n2:8 (HPC Pack's job)");
  EXPECT_EQ(allocation_in({{"LSB_DJOB_HOSTFILE", file}}).in_words(), "n1:2,n2:2 (LSF's job)");
  EXPECT_EQ(allocation_in({{"LSB_MCPU_HOSTS", "n1 4 n2 8 "}}).in_words(), "n1:4,n2:8 (LSF's job)");
  const Allocation flux = allocation_in({{"FLUX_JOB_NNODES", "2"}});
  EXPECT_TRUE(flux.is_local());
  EXPECT_EQ(flux.note,
            "`flux hostlist` does not name the hosts of Flux's job: this machine alone is used; give them: -H a:4,b:4");
  for (const char* name : {"FLUX_URI", "FLUX_JOB_ID"}) {
    EXPECT_EQ(allocation_in({{name, "f"}}).note, flux.note);
    EXPECT_EQ(allocation_in({{name, "f"}}, {}, "n1,n2").in_words(), "n1:1,n2:1 (Flux's job)");
  }
  EXPECT_EQ(allocation_in({{"FLUX_JOB_NNODES", "2"}}, {}, "n1,n2").in_words(), "n1:1,n2:1 (Flux's job)");
  EXPECT_EQ(allocation_in({{"FLUX_JOB_NNODES", "1"}}).note, "");
  EXPECT_EQ(allocation_in({{"PBS_NODEFILE", file}}, {.hosts = "a:2", .hostfile = {}}).in_words(), "-H a:2");
  for (const char* hosts : {"n1", "n1 x", "n1 4 -x 2", "n1 4 n2", "3 n1 4 n2 8"})
    expect_error(
        [&] {
          allocation_in({{"LSB_MCPU_HOSTS", hosts}});
        },
        ExitCode::usage, HasSubstr("LSB_MCPU_HOSTS"), "name the hosts with -H or --hostfile");
}

TEST(Allocation, OfOneHostThatIsThisMachineIsNoneUnlessItWasNamed) {
  const std::string name = own_host_name();
  EXPECT_TRUE(allocation_in({{"SLURM_JOB_NODELIST", name}}).is_local());
  EXPECT_FALSE(allocation_in({{"SLURM_JOB_NODELIST", "not-" + name}}).is_local());
  EXPECT_FALSE(allocation_in({}, {.hosts = "localhost:2", .hostfile = {}}).is_local());
}

TEST(Allocation, TakesFlagsBeforeTheEnvironmentAndSlurmBeforeTheDefaultFile) {
  const TemporaryFolder folder;
  std::ofstream(folder / "hosts") << "f slots=3\ng slots=3\n";
  const std::string file = (folder / "hosts").string();
  const Variables both{{"SLURM_JOB_NODELIST", "n1,n2"}, {"OMPI_MCA_orte_default_hostfile", file}};
  EXPECT_EQ(allocation_in(both, {.hosts = "a:2", .hostfile = {}}).in_words(), "-H a:2");
  EXPECT_EQ(allocation_in(both, {.hosts = {}, .hostfile = folder / "hosts"}).in_words(), "f:3,g:3 (" + file + ")");
  EXPECT_EQ(allocation_in(both).hosts.front().name, "n1");
  for (const char* name :
       {"OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile", "I_MPI_HYDRA_HOST_FILE", "HYDRA_HOST_FILE"})
    EXPECT_EQ(allocation_in({{name, file}}).in_words(), "f:3,g:3 (" + file + ")");
  expect_error([&] { allocation_in({}, {.hosts = "a", .hostfile = folder / "hosts"}); }, ExitCode::usage,
               "-H and --hostfile both name hosts", "give one of them");
  expect_error([&] { allocation_in({}, {.hosts = {}, .hostfile = folder / "none"}); }, ExitCode::usage,
               HasSubstr("none"), _);
}

TEST(Allocation, OfFewerHostsThanAreExpectedIsAnError) {
  const HostFlags expecting{.hosts = {}, .hostfile = {}, .expected = 2};
  EXPECT_EQ(allocation_in({{"SLURM_JOB_NODELIST", "n1,n2"}}, expecting).hosts.size(), 2);
  EXPECT_TRUE(allocation_in({}, {.hosts = {}, .hostfile = {}, .expected = 1}).is_local());
  expect_error([&] { allocation_in({}, expecting); }, ExitCode::environment,
               AllOf(HasSubstr("--expect-hosts 2: the job has this machine alone"), HasSubstr("SLURM_JOB_NODELIST"),
                     HasSubstr("PRTE_MCA_prte_default_hostfile"), HasSubstr("FLUX_JOB_NNODES")),
               "see why the engine's list of hosts does not reach this command, or name them with -H or --hostfile");
  expect_error(
      [&] {
        allocation_in({{"LSB_MCPU_HOSTS", "elsewhere 4"}}, expecting);
      },
      ExitCode::environment, "--expect-hosts 2: the job has elsewhere:4 (LSF's job)",
      "see why the engine's list of hosts does not reach this command, or name them with -H or --hostfile");
}

}  // namespace
}  // namespace hbench::allocation_test

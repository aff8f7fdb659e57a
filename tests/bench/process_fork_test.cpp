// Between fork and exec a child of a program of many threads may call nothing that takes a lock: a program of its own,
// because it replaces what does.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "bench/launch/process.hpp"

namespace {

constexpr int kUnsafe = 99;
std::atomic<pid_t> parent = 0;

/// Ends a child that has not executed its program yet.
void expect_parent() {
  if (parent != 0 && getpid() != parent) _exit(kUnsafe);
}

}  // namespace

void* operator new(std::size_t size) {
  expect_parent();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" int setenv(const char*, const char*, int) noexcept {
  expect_parent();
  return 0;
}

namespace hbench::process_fork_test {
namespace {

TEST(ProcessFork, CallsNothingUnsafeBeforeItExecutesTheProgram) {
  parent = getpid();
  std::string said;
  Spawn spawn{.argv = {"sh", "-c", "echo $HBENCH_FORK_TEST"},
              .environment = {{"HBENCH_FORK_TEST", "a value that is too long for a string without an allocation"}}};
  spawn.on_line = [&](std::string_view line) { said = line; };
  EXPECT_EQ(run_process(spawn).code, 0);
  EXPECT_EQ(said, spawn.environment.at("HBENCH_FORK_TEST"));
}

}  // namespace
}  // namespace hbench::process_fork_test

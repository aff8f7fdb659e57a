#include "bench/worker/process_identity.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hbench::process_identity_test {
namespace {

/// A process that waits, and is ended with the object.
class Sleeper {
 public:
  Sleeper() {
    if (pid_ == 0) {
      pause();
      _exit(0);
    }
  }
  ~Sleeper() { end(); }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    ended_ = pid_;
    pid_ = -1;
  }
  pid_t pid() const { return pid_ > 0 ? pid_ : ended_; }

 private:
  pid_t pid_ = fork(), ended_ = -1;
};

TEST(ProcessIdentity, IsOfThisProcessAndKnownHere) {
  const ProcessIdentity own = own_process();
  EXPECT_EQ(own.pid, getpid());
  EXPECT_EQ(own.host, own_host_identity());
  EXPECT_FALSE(own.host.empty());
  EXPECT_GT(own.start_time, 0);
  ASSERT_TRUE(status_of(own).has_value());
  EXPECT_EQ(status_of(own)->state, 'R');
}

TEST(ProcessIdentity, IsNotKnownForAnotherHostAnotherStartOrNoHost) {
  ProcessIdentity other = own_process();
  other.host += "x";
  EXPECT_FALSE(status_of(other).has_value());
  other = own_process();
  other.start_time -= 1;
  EXPECT_FALSE(status_of(other).has_value());
  other = own_process();
  other.host.clear();
  EXPECT_FALSE(status_of(other).has_value());
}

TEST(ProcessIdentity, IsNotKnownOnceTheProcessHasEnded) {
  Sleeper sleeper;
  const ProcessIdentity identity{sleeper.pid(), own_host_identity(), process_status(sleeper.pid())->start_time};
  EXPECT_TRUE(status_of(identity).has_value());
  sleeper.end();
  EXPECT_FALSE(status_of(identity).has_value());
}

TEST(ProcessStatus, IsReadWhateverTheProgramIsCalled) {
  const std::string rest = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20 21 22\n";
  for (const char* name : {"sh", "a b", "a) R 1 2", "(((", "two\nlines"}) {
    const auto status = parse_process_status("42 (" + std::string(name) + ") T" + rest);
    ASSERT_TRUE(status.has_value()) << name;
    EXPECT_EQ(status->state, 'T');
    EXPECT_EQ(status->start_time, 777);
  }
  for (const char* text :
       {"", "42", "42 (sh)", "42 (sh) S 1 2", "42 (sh) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"})
    EXPECT_FALSE(parse_process_status(text).has_value()) << text;
}

}  // namespace
}  // namespace hbench::process_identity_test

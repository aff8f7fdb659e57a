#include "bench/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNoProgram = 127;
constexpr std::size_t kErrorTail = 4096;
constexpr auto kPoliteWait = std::chrono::seconds(3);
constexpr auto kLinger = std::chrono::seconds(10);

std::atomic<bool> interrupt_seen = false;

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw Error(ExitCode::environment, std::string("cannot make a pipe: ") + std::strerror(errno));
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_read() { close_one(read_end); }
  void close_write() { close_one(write_end); }

 private:
  static void close_one(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
};

/// In the child, between fork and exec.
[[noreturn]] void become(const Spawn& spawn, const Pipe& in, const Pipe& out, const Pipe& err, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kNoProgram);  // it died before we asked to be told
  dup2(in.read_end, STDIN_FILENO);
  dup2(out.write_end, STDOUT_FILENO);
  dup2(err.write_end, STDERR_FILENO);
  for (const auto& [name, value] : spawn.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& argument : spawn.argv) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  execvp(argv[0], argv.data());
  _exit(kNoProgram);
}

/// Cuts a stream into lines.
class Lines {
 public:
  explicit Lines(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}
  void add(std::string_view bytes) {
    rest_ += bytes;
    for (std::size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1))
      if (on_line_) on_line_(std::string_view(rest_).substr(0, end));
  }
  void finish() {
    if (!rest_.empty() && on_line_) on_line_(rest_);
    rest_.clear();
  }

 private:
  const std::function<void(std::string_view)>& on_line_;
  std::string rest_;
};

/// Whether the child has ended. It stays a zombie until it is waited for, so that its number, which is also its
/// group's, cannot come to mean another process.
bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

bool ends_within(pid_t child, std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!has_ended(child) && Clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return has_ended(child);
}

/// Ends what is left of the child's process group; how the child ended.
int stop_group(pid_t child) {
  if (!has_ended(child)) {
    kill(-child, SIGTERM);
    kill(-child, SIGCONT);
    ends_within(child, kPoliteWait);
  }
  kill(-child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// A child that is stopped at the latest when it is left, also by an exception.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  ~Child() {
    if (!stopped_) stop_group(pid_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int stop() {
    stopped_ = true;
    return stop_group(pid_);
  }

 private:
  pid_t pid_;
  bool stopped_ = false;
};

/// What goes in and comes out of a child, as far as its pipes are ready.
class Conversation {
 public:
  Conversation(const Spawn& spawn, Pipe& in, Pipe& out, Pipe& err, std::string& error_tail)
      : spawn_(spawn), in_(in), out_(out), err_(err), lines_(spawn.on_line), error_tail_(error_tail) {
    fcntl(in_.write_end, F_SETFL, O_NONBLOCK);
    if (spawn_.input.empty()) in_.close_write();
  }

  bool open() const { return out_.read_end >= 0 || err_.read_end >= 0; }
  Clock::time_point last_word() const { return last_word_; }
  void finish() { lines_.finish(); }

  /// Waits a moment; whether there was anything.
  bool go_on() {
    // poll() passes by negative numbers: pipes that are closed.
    pollfd fds[3] = {{out_.read_end, POLLIN, 0}, {err_.read_end, POLLIN, 0}, {in_.write_end, POLLOUT, 0}};
    if (poll(fds, 3, 100) <= 0) return false;
    if (fds[0].revents != 0) hear();
    if (fds[1].revents != 0) hear_errors();
    if (fds[2].revents != 0) feed();
    return true;
  }

 private:
  std::string_view read_from(Pipe& pipe) {
    const ssize_t count = read(pipe.read_end, buffer_, sizeof buffer_);
    if (count == 0 || (count < 0 && errno != EINTR)) pipe.close_read();
    return {buffer_, count > 0 ? static_cast<std::size_t>(count) : 0};
  }

  void hear() {
    lines_.add(read_from(out_));
    last_word_ = Clock::now();
  }

  void hear_errors() {
    error_tail_ += read_from(err_);
    if (error_tail_.size() > kErrorTail) error_tail_.erase(0, error_tail_.size() - kErrorTail);
  }

  void feed() {
    const ssize_t count = write(in_.write_end, spawn_.input.data() + fed_, spawn_.input.size() - fed_);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count > 0) fed_ += static_cast<std::size_t>(count);
    if (count <= 0 || fed_ == spawn_.input.size()) in_.close_write();  // all is said, or the child does not want it
  }

  const Spawn& spawn_;
  Pipe &in_, &out_, &err_;
  Lines lines_;
  std::string& error_tail_;
  std::size_t fed_ = 0;
  Clock::time_point last_word_ = Clock::now();
  char buffer_[65536];
};

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_seen = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_seen; }

char process_state(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const std::size_t end = text.rfind(')');  // of the program's name, which may hold anything
  return end == std::string::npos || end + 2 >= text.size() ? '\0' : text[end + 2];
}

void kill_processes(const std::vector<pid_t>& pids) {
  for (const pid_t pid : pids)
    if (pid > 1) kill(pid, SIGKILL);
}

Exit run_process(const Spawn& spawn) {
  signal(SIGPIPE, SIG_IGN);
  Pipe in, out, err;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw Error(ExitCode::environment, std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) become(spawn, in, out, err, parent);
  setpgid(child, child);
  Child guard(child);
  in.close_read();
  out.close_write();
  err.close_write();

  Exit exit;
  Conversation talk(spawn, in, out, err, exit.error_tail);
  bool left_alone = false;  // its children must not hold us by a pipe that they keep open
  while (talk.open() && !exit.silent && !exit.interrupted && !left_alone) {
    const bool ended = has_ended(child);
    if (ended) kill(-child, SIGKILL);
    left_alone = !talk.go_on() && ended;
    exit.interrupted = interrupt_seen;
    exit.silent = spawn.silence.value > 0 &&
                  std::chrono::duration<double>(Clock::now() - talk.last_word()).count() > spawn.silence.value;
  }
  if (exit.silent && spawn.on_silence) spawn.on_silence();
  if (!exit.silent && !exit.interrupted) ends_within(child, kLinger);  // it may have closed its output and stayed
  const int status = guard.stop();
  talk.finish();
  exit.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit;
}

}  // namespace hbench

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
#include <thread>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNoProgram = 127;
constexpr std::size_t kErrorTail = 4096;
constexpr auto kPoliteWait = std::chrono::seconds(3);

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

/// Waits for the child at most `patience`; whether it has ended.
bool ended_within(pid_t child, std::chrono::milliseconds patience, int& status) {
  const auto deadline = Clock::now() + patience;
  do {
    if (waitpid(child, &status, WNOHANG) == child) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } while (Clock::now() < deadline);
  return false;
}

/// Ends the child's whole process group.
int stop(pid_t child) {
  int status = 0;
  kill(-child, SIGTERM);
  kill(-child, SIGCONT);
  if (!ended_within(child, kPoliteWait, status)) {
    kill(-child, SIGKILL);
    waitpid(child, &status, 0);
  }
  kill(-child, SIGKILL);
  return status;
}

void feed(Pipe& in, const std::string& input) {
  std::size_t sent = 0;
  while (sent < input.size()) {
    const ssize_t count = write(in.write_end, input.data() + sent, input.size() - sent);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;  // the child does not want it
    sent += static_cast<std::size_t>(count);
  }
  in.close_write();
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_seen = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_seen; }

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
  in.close_read();
  out.close_write();
  err.close_write();

  Exit exit;
  Lines lines(spawn.on_line);
  auto last_word = Clock::now();
  feed(in, spawn.input);
  bool open = true;
  while (open && !exit.silent && !exit.interrupted) {
    pollfd fds[2] = {{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}};
    poll(fds, 2, 100);
    char buffer[65536];
    for (int i = 0; i < 2; ++i) {
      Pipe& pipe = i == 0 ? out : err;
      if (pipe.read_end < 0 || fds[i].revents == 0) continue;
      const ssize_t count = read(pipe.read_end, buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        pipe.close_read();
        continue;
      }
      const std::string_view bytes(buffer, static_cast<std::size_t>(count));
      if (i == 0) {
        last_word = Clock::now();
        lines.add(bytes);
      } else {
        exit.error_tail += bytes;
        if (exit.error_tail.size() > kErrorTail) exit.error_tail.erase(0, exit.error_tail.size() - kErrorTail);
      }
    }
    open = out.read_end >= 0 || err.read_end >= 0;
    exit.interrupted = interrupt_seen;
    exit.silent = spawn.silence.value > 0 &&
                  std::chrono::duration<double>(Clock::now() - last_word).count() > spawn.silence.value;
  }
  int status = 0;
  if (exit.silent || exit.interrupted)
    status = stop(child);
  else if (!ended_within(child, std::chrono::seconds(10), status))
    status = stop(child);  // it closed its output and stayed
  lines.finish();
  exit.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  exit.started = !(WIFEXITED(status) && WEXITSTATUS(status) == kNoProgram);
  return exit;
}

}  // namespace hbench

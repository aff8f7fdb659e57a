#include "bench/launch/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bench/launch/installation.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kErrorPart = 4096;
constexpr auto kPoliteWait = std::chrono::seconds(3);
constexpr auto kLinger = std::chrono::seconds(10);
/// No line that is read is as long; what a longer one has more is lost.
constexpr std::size_t kMostLine = std::size_t{16} << 20;

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

/// What execve() takes, made before the fork: other threads may hold the allocator's lock, or the environment's.
class Program {
 public:
  /// \pre `spawn` outlives it.
  explicit Program(const Spawn& spawn) : file_(find_program(spawn.argv.front(), search_path(spawn))) {
    for (const std::string& argument : spawn.argv) argv_.push_back(const_cast<char*>(argument.c_str()));
    argv_.push_back(nullptr);
    for (char** variable = environ; *variable != nullptr; ++variable)
      if (!spawn.environment.contains(name_of(*variable))) environment_.push_back(*variable);
    for (const auto& [name, value] : spawn.environment) added_.push_back(name + "=" + value);
    for (std::string& variable : added_) environment_.push_back(variable.data());
    environment_.push_back(nullptr);
  }

  /// Returns when there is no such program.
  void execute() const { execve(file_.c_str(), argv_.data(), environment_.data()); }

 private:
  static std::string_view search_path(const Spawn& spawn) {
    if (const auto given = spawn.environment.find("PATH"); given != spawn.environment.end()) return given->second;
    const char* path = std::getenv("PATH");
    return path != nullptr ? path : "/usr/bin:/bin";
  }
  static std::string name_of(std::string_view variable) { return std::string(variable.substr(0, variable.find('='))); }

  std::string file_;
  std::vector<char*> argv_, environment_;
  std::vector<std::string> added_;
};

/// Leads the group of `program`, a child, and ends with it; where `parent` dies, at which SIGTERM comes, it ends the
/// group. Like `become`, calls nothing but what signal-safety(7) lists, and Linux itself.
[[noreturn]] void watch_over(pid_t program, pid_t parent, const sigset_t& awaited) {
  // Else who reads the program's output would wait for this process, too.
  if (syscall(SYS_close_range, 0U, ~0U, 0U) != 0)
    for (int descriptor = 0; descriptor < 65536; ++descriptor) close(descriptor);
  while (getppid() == parent) {
    int status = 0;
    if (waitpid(program, &status, WNOHANG) != 0)
      _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    sigtimedwait(&awaited, nullptr, nullptr);
  }
  kill(0, SIGTERM);
  kill(0, SIGCONT);
  const timespec pause{.tv_sec = 0, .tv_nsec = 10'000'000};
  for (std::chrono::milliseconds waited{0}; waited < kPoliteWait && waitpid(program, nullptr, WNOHANG) == 0;
       waited += std::chrono::milliseconds(10))
    nanosleep(&pause, nullptr);
  kill(0, SIGKILL);
  _exit(0);
}

/// In the child, between fork and exec: calls nothing but what signal-safety(7) lists, and prctl().
[[noreturn]] void become(const Program& program, const Pipe& in, const Pipe& out, const Pipe& err, pid_t parent,
                         bool watched) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kNoProgram);  // it died before prctl asked for a signal at its death
  if (watched) {                               // this process stays between the two, and its child becomes the program
    sigset_t awaited, before;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, SIGCHLD);
    sigprocmask(SIG_BLOCK, &awaited, &before);
    const pid_t watcher = getpid(), program_of_it = fork();
    if (program_of_it > 0) watch_over(program_of_it, parent, awaited);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (program_of_it < 0 || getppid() != watcher) _exit(kNoProgram);
  }
  dup2(in.read_end, STDIN_FILENO);
  dup2(out.write_end, STDOUT_FILENO);
  dup2(err.write_end, STDERR_FILENO);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  program.execute();
  _exit(kNoProgram);
}

/// Cuts a stream into lines.
class Lines {
 public:
  explicit Lines(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}
  void add(std::string_view bytes) {
    for (std::size_t end; (end = bytes.find('\n')) != bytes.npos; bytes.remove_prefix(end + 1)) {
      extend(bytes.substr(0, end));
      if (on_line_) on_line_(rest_);
      rest_.clear();
    }
    extend(bytes);
  }
  void finish() {
    if (!rest_.empty() && on_line_) on_line_(rest_);
    rest_.clear();
  }

 private:
  void extend(std::string_view bytes) { rest_ += bytes.substr(0, kMostLine - rest_.size()); }

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

/// All that a process has started, and what that has started, in whatever groups.
std::vector<ProcessIdentity> descendants_of(pid_t process) {
  std::vector<ProcessIdentity> all{{process, own_host_identity(), 0}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::error_code ended;
    const std::string tasks = fmt::format("/proc/{}/task", all[i].pid);
    for (const auto& task : std::filesystem::directory_iterator(tasks, ended)) {
      std::ifstream children(task.path() / "children");
      for (pid_t child = 0; children >> child;)
        if (const auto status = process_status(child)) all.push_back({child, own_host_identity(), status->start_time});
    }
  }
  all.erase(all.begin());
  return all;
}

/// Ends what is left of the child's process group, and, of a child that has not ended, all that it has started: a
/// launcher's ssh is in a group of its own. How the child ended.
int stop_group(pid_t child) {
  std::vector<ProcessIdentity> started;
  if (!has_ended(child)) {
    started = descendants_of(child);
    kill(-child, SIGTERM);
    kill(-child, SIGCONT);
    ends_within(child, kPoliteWait);
  }
  kill(-child, SIGKILL);
  for (const ProcessIdentity& each : started) kill_process(each);
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

/// A child's standard streams: feeds its input and reads its output, as far as the pipes are ready.
class ChildStreams {
 public:
  ChildStreams(const Spawn& spawn, Pipe& in, Pipe& out, Pipe& err, Exit& exit)
      : spawn_(spawn), in_(in), out_(out), err_(err), lines_(spawn.on_line), exit_(exit) {
    fcntl(in_.write_end, F_SETFL, O_NONBLOCK);
    if (spawn_.input.empty()) in_.close_write();
  }

  bool open() const { return out_.read_end >= 0 || err_.read_end >= 0; }
  Clock::time_point last_output() const { return last_output_; }
  std::size_t received() const { return received_; }
  void finish() { lines_.finish(); }

  /// Waits for at most 100 ms; whether a pipe was ready.
  bool poll_once() {
    // poll() ignores negative descriptors: pipes that are closed.
    pollfd fds[3] = {{out_.read_end, POLLIN, 0}, {err_.read_end, POLLIN, 0}, {in_.write_end, POLLOUT, 0}};
    if (poll(fds, 3, 100) <= 0) return false;
    if (fds[0].revents != 0) read_output();
    if (fds[1].revents != 0) read_errors();
    if (fds[2].revents != 0) feed();
    return true;
  }

 private:
  std::string_view read_from(Pipe& pipe) {
    const ssize_t count = read(pipe.read_end, buffer_, sizeof buffer_);
    if (count == 0 || (count < 0 && errno != EINTR)) pipe.close_read();
    return {buffer_, count > 0 ? static_cast<std::size_t>(count) : 0};
  }

  void read_output() {
    const std::string_view bytes = read_from(out_);
    received_ += bytes.size();
    lines_.add(bytes);
    last_output_ = Clock::now();
  }

  void read_errors() {
    std::string &head = exit_.error_head, &tail = exit_.error_tail;
    tail += read_from(err_);
    if (tail.size() <= kErrorPart) return;
    const std::size_t excess = tail.size() - kErrorPart, room = kErrorPart - head.size();
    head.append(tail, 0, std::min(excess, room));
    if (excess > room) head.back() = '\n';  // what is between the two is lost
    tail.erase(0, excess);
  }

  void feed() {
    const ssize_t count = write(in_.write_end, spawn_.input.data() + fed_, spawn_.input.size() - fed_);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (count > 0) fed_ += static_cast<std::size_t>(count);
    if (count <= 0 || fed_ == spawn_.input.size()) in_.close_write();  // all is written, or the child has closed it
  }

  const Spawn& spawn_;
  Pipe &in_, &out_, &err_;
  Lines lines_;
  Exit& exit_;
  std::size_t fed_ = 0, received_ = 0;
  Clock::time_point last_output_ = Clock::now();
  char buffer_[65536];
};

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_seen = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before {};
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;  // nohup
  sigaction(SIGHUP, &action, nullptr);
}

bool interrupted() { return interrupt_seen; }

void kill_process(const ProcessIdentity& process) {
  if (process.pid <= 1) return;
  // The descriptor is opened before the identity is compared: its process cannot change in between, its number can.
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0));
  const bool unsupported = descriptor < 0 && errno != ESRCH;  // before Linux 5.3, or a container's filter
  if (status_of(process)) {
    if (descriptor >= 0) syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, nullptr, 0);
    if (unsupported) kill(process.pid, SIGKILL);
  }
  if (descriptor >= 0) close(descriptor);
}

Exit run_process(const Spawn& spawn) {
  signal(SIGPIPE, SIG_IGN);
  Pipe in, out, err;
  const Program program(spawn);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw Error(ExitCode::environment, std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) become(program, in, out, err, parent, spawn.group_ends_with_us);
  setpgid(child, child);
  Child guard(child);
  in.close_read();
  out.close_write();
  err.close_write();

  Exit exit;
  ChildStreams streams(spawn, in, out, err, exit);
  bool left_alone = false;  // its children must not hold us by a pipe that they keep open
  const auto is_over = [](Seconds limit, Clock::time_point since) {
    return limit.value > 0 && seconds_since(since) > limit.value;
  };
  const Clock::time_point begun = Clock::now();
  while (streams.open() && !exit.timed_out && !exit.interrupted && !exit.too_much && !left_alone) {
    const bool ended = has_ended(child);
    if (ended) kill(-child, SIGKILL);
    left_alone = !streams.poll_once() && ended;
    exit.interrupted = interrupt_seen && !spawn.despite_interrupts;
    exit.timed_out = is_over(spawn.output_timeout, streams.last_output()) || is_over(spawn.time_limit, begun);
    exit.too_much = spawn.most_output > 0 && streams.received() > spawn.most_output;
  }
  if (exit.timed_out && spawn.on_timeout) spawn.on_timeout();
  if (!exit.timed_out && !exit.interrupted && !exit.too_much)
    ends_within(child, kLinger);  // it may have closed its output and stayed
  const int status = guard.stop();
  streams.finish();
  exit.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit;
}

}  // namespace hbench

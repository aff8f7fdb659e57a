#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

namespace hbench {
namespace {

namespace fs = std::filesystem;

/// The file without what was in it, open for writing.
int emptied(const fs::path& file) { return open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600); }

/// Starts a program in `folder`; what it says goes into files beside it, which are there when this returns.
pid_t start(const std::vector<std::string>& argv, const Workplace& workplace,
            const std::map<std::string, std::string>& environment) {
  const int out = emptied(workplace / ".out"), err = emptied(workplace / ".err");
  const pid_t child = fork();
  if (child != 0) {
    close(out);
    close(err);
    return child;
  }
  if (chdir(workplace.folder().path().c_str()) != 0) _exit(126);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  setenv("HBENCH", HBENCH_PROGRAM, 1);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

Outcome outcome_of(pid_t child, const Workplace& workplace) {
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), bytes_of(workplace / ".out"),
          bytes_of(workplace / ".err")};
}

std::vector<std::string> command(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv{HBENCH_PROGRAM};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

bool is_below(pid_t pid, pid_t ancestor) {
  for (pid_t above = parent_of(pid); above > 1; above = parent_of(above))
    if (above == ancestor) return true;
  return false;
}

/// Whether this process is `hbench-worker worker`, and no longer on its way into that program.
bool is_worker(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid));
  std::string program, verb;
  return std::getline(file, program, '\0') && std::getline(file, verb, '\0') && program == HBENCH_WORKER_PROGRAM &&
         verb == "worker";
}

/// Of a process that Open MPI has started; numbers of processes begin anew now and then.
int rank_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid));
  constexpr std::string_view kName = "OMPI_COMM_WORLD_RANK=";
  for (std::string variable; std::getline(file, variable, '\0');)
    if (variable.starts_with(kName)) return std::stoi(variable.substr(kName.size()));
  return 0;
}

/// In the order of their ranks.
std::vector<pid_t> workers_below(pid_t ancestor) {
  std::vector<std::pair<int, pid_t>> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const pid_t pid = std::stoi(name);
    if (is_worker(pid) && is_below(pid, ancestor)) found.emplace_back(rank_of(pid), pid);
  }
  std::ranges::sort(found);
  std::vector<pid_t> pids;
  for (const auto& [rank, pid] : found) pids.push_back(pid);
  return pids;
}

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

}  // namespace

Outcome Workplace::run(const std::vector<std::string>& arguments,
                       const std::map<std::string, std::string>& environment) const {
  return outcome_of(start(command(arguments), *this, environment), *this);
}

Outcome Workplace::shell(const std::string& script) const {
  return outcome_of(start({"/bin/sh", "-c", script}, *this, {}), *this);
}

Sweeping::Sweeping(const Workplace& workplace, const std::vector<std::string>& arguments,
                   const std::map<std::string, std::string>& environment)
    : workplace_(workplace), pid_(start(command(arguments), workplace, environment)) {}

Sweeping::~Sweeping() {
  if (ended_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::vector<pid_t> Sweeping::workers(std::size_t count) {
  while (lives(pid_)) {
    const std::vector<pid_t> found = workers_below(pid_);
    if (found.size() == count) return found;
    nap();
  }
  return {};
}

Outcome Sweeping::wait() {
  ended_ = true;
  return outcome_of(pid_, workplace_);
}

pid_t parent_of(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(stat, text);
  const std::size_t end = text.rfind(')');
  return end == std::string::npos ? 0 : std::stoi(text.substr(end + 4));
}

bool lives(pid_t pid) {
  std::ifstream stat(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(stat, text);
  const std::size_t end = text.rfind(')');
  return end != std::string::npos && text.at(end + 2) != 'Z';
}

std::size_t bytes_written(pid_t pid) {
  std::ifstream io(fmt::format("/proc/{}/io", pid));
  std::size_t bytes = 0;
  for (std::string key; io >> key >> bytes;)
    if (key == "wchar:") return bytes;
  return 0;
}

bool all_die(const std::vector<pid_t>& pids) {
  for (int i = 0; i < 1500 && std::ranges::any_of(pids, lives); ++i) nap();
  return std::ranges::none_of(pids, lives);
}

bool can_mount(const Workplace& workplace) {
  return workplace.shell("mkdir m && unshare -rm mount -t tmpfs none m && rmdir m").code == 0;
}

nlohmann::json exported(const Workplace& workplace) {
  const Outcome outcome = workplace.run({"export", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

void expect_mistake(const Outcome& outcome, int code, std::string_view message, std::string_view hint) {
  EXPECT_EQ(outcome.code, code);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), hint.empty() ? 1 : 2) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("hbench: ")) << outcome.err;
  EXPECT_THAT(outcome.err.substr(0, outcome.err.find('\n')), HasSubstr(message));
  EXPECT_THAT(outcome.err.substr(outcome.err.find('\n') + 1), HasSubstr(hint));
}

}  // namespace hbench

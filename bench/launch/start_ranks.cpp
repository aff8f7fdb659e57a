#include "bench/launch/start_ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

#include "analysis/records/machine_facts.hpp"
#include "bench/launch/job_outcome.hpp"
#include "bench/launch/launcher.hpp"
#include "bench/launch/process.hpp"
#include "bench/worker/process_identity.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/own_host.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// A launcher about to be started: its command line and environment, and folders for its files that live as long as
/// this. What users have set themselves for the launcher stays, except TMPDIR, below which the folders are.
class JobSpawn {
 public:
  /// \param job without `as_root` and `forwarded`, which follow from `here` and the environment. \param environment of
  /// every process, added to ours. \throws Error (environment) when the launcher is missing, may not open the files
  /// that it needs, or has no folder for its own.
  JobSpawn(std::string_view launcher, Job job, const std::map<std::string, std::string>& environment, const Host& here);

  /// With `argv` and `environment`; what is done with its output is the caller's.
  Spawn spawn;

 private:
  std::optional<JobFolders> folders_;
};

void add_unless_set(std::map<std::string, std::string>& environment,
                    const std::map<std::string, std::string>& variables) {
  for (const auto& [name, value] : variables)
    if (name == "TMPDIR" || std::getenv(name.c_str()) == nullptr) environment.emplace(name, value);
}

/// Variables that ranks on other hosts need beside those of the job: no launcher but Open MPI's own names are passed on
/// by itself.
std::vector<std::string> forwarded_variables(const std::map<std::string, std::string>& of_the_job) {
  constexpr std::array<std::string_view, 5> kBeginnings{"HBENCH_", "NCCL_", "UCX_", "FI_", "LD_LIBRARY_PATH="};
  std::set<std::string> names;
  for (const auto& [name, value] : of_the_job) names.insert(name);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (std::ranges::any_of(kBeginnings, [&](std::string_view begin) { return text.starts_with(begin); }))
      names.emplace(text.substr(0, text.find('=')));
  }
  return {names.begin(), names.end()};
}

/// A launcher with too few open files may hang.
void require_open_files(const Launcher& launcher, int processes, const Host& here) {
  if (launcher.open_files == nullptr) return;
  const int needed = launcher.open_files(processes);
  if (here.open_files >= static_cast<std::uint64_t>(needed)) return;
  throw Error(ExitCode::environment,
              fmt::format("{} needs {} open files for {} ranks; the limit is {}", launcher.name, needed, processes,
                          here.open_files),
              fmt::format("raise it with 'ulimit -n {}', or start fewer ranks", needed));
}

constexpr std::string_view kNoNetwork = ": it is down, or a firewall or --network-interface keeps it from this machine";

/// Why a host did not answer.
std::string failure_of(const Exit& exit, const std::string& host, Seconds timeout) {
  const std::string words = launcher_message(without_rank_tags(exit.error_head + exit.error_tail));
  if (exit.timed_out) {
    const std::string_view alone = host.empty() ? "" : kNoNetwork;
    return fmt::format("no answer within {:.0f} s{}", timeout.value, words.empty() ? std::string(alone) : ": " + words);
  }
  if (exit.code == 0 || !words.empty()) return exit.code == 0 ? "" : words;
  return exit.code == kNoProgram ? "no such program" : fmt::format("exit code {} without a message", exit.code);
}

HostAnswer ask(const std::string& name, Spawn& spawn, Seconds timeout) {
  HostAnswer answer{.host = name};
  RankLines lines([&](std::string_view line) { answer.lines.emplace_back(line), answer.at = wall_clock().value; });
  spawn.output_timeout = timeout;
  spawn.on_line = [&](std::string_view text) { lines.add(text); };
  try {
    answer.failure = failure_of(run_process(spawn), name, timeout);
  } catch (const Error& error) {
    answer.failure = error.what();
  }
  return answer;
}

void record(RankReports& reports, const WorkerLine& line) {
  if (const auto* hello = std::get_if<HelloLine>(&line)) reports.processes[hello->rank] = hello->process;
  if (const auto* failure = std::get_if<FailureLine>(&line)) reports.failures.push_back(*failure);
}

/// Kills what is left of the ranks, however the job is left.
class RankGuard {
 public:
  explicit RankGuard(const RankReports& reports) : reports_(reports) {}
  ~RankGuard() {
    for (const auto& [rank, process] : reports_.processes) kill_process(process);
  }
  RankGuard(const RankGuard&) = delete;
  RankGuard& operator=(const RankGuard&) = delete;

 private:
  const RankReports& reports_;
};

JobSpawn::JobSpawn(std::string_view name, Job job, const std::map<std::string, std::string>& environment,
                   const Host& here) {
  const Launcher& launcher = find_entry(launchers(), name, "launcher");
  const auto path = environment.find("PATH");
  if (const Availability there = launcher.availability(path == environment.end() ? here.path : path->second);
      !there.available)
    throw there.error("cannot start ranks");
  require_open_files(launcher, job.processes, here);
  job.as_root = here.as_root;
  job.forwarded = forwarded_variables(environment);
  spawn.argv = launcher.argv(job);
  spawn.environment = environment;
  if (launcher.environment == nullptr) return;
  folders_.emplace();
  add_unless_set(spawn.environment, launcher.environment(folders_->paths()));
}

namespace fs = std::filesystem;

/// `hbench-HOST-`: hosts and containers may share a folder, and look after their own. Short, because libraries put
/// sockets below it, whose paths may have 107 characters.
std::string prefix() { return fmt::format("hbench-{}-", digest_text(own_host_identity()).substr(0, 8)); }

/// The process in `PID-START_TIME-...`; number 0 when there is none.
ProcessIdentity maker_of(std::string_view text) {
  ProcessIdentity maker{0, own_host_identity(), 0};
  const char* const end = text.data() + text.size();
  const auto [after_pid, bad_pid] = std::from_chars(text.data(), end, maker.pid);
  if (bad_pid != std::errc() || after_pid == end || *after_pid != '-') return {};
  const auto [after_start, bad_start] = std::from_chars(after_pid + 1, end, maker.start_time);
  if (bad_start != std::errc() || after_start == end || *after_start != '-') return {};
  return maker;
}

void remove_folder(const fs::path& folder) {
  std::error_code ignored;
  if (!folder.empty()) fs::remove_all(folder, ignored);
}

/// What processes that have ended made below `base`. Other users' cannot be removed, and are not.
void remove_abandoned(const fs::path& base) {
  if (own_host_identity().empty()) return;
  const std::string begin = prefix();
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(base, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(begin)) continue;
    const ProcessIdentity maker = maker_of(std::string_view(name).substr(begin.size()));
    if (maker.pid > 0 && !status_of(maker)) remove_folder(entry.path());
  }
}

/// Empty, with errno, when it cannot be made.
fs::path make_folder(const fs::path& base) {
  remove_abandoned(base);
  const ProcessIdentity own = own_process();
  std::string name = (base / fmt::format("{}{}-{}-XXXXXX", prefix(), own.pid, own.start_time)).string();
  return mkdtemp(name.data()) != nullptr ? fs::path(name) : fs::path();
}

}  // namespace

const std::string* HostAnswer::json_line() const {
  const auto found = std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with('{'); });
  return found == lines.end() ? nullptr : &*found;
}

std::vector<HostAnswer> ask_hosts(const Allocation& allocation, const HostQuestion& question, const Host& here) {
  std::vector<std::string> hosts;
  for (const AllocatedHost& host : allocation.hosts) hosts.push_back(host.name);
  if (hosts.empty()) hosts.emplace_back();
  std::deque<JobSpawn> jobs;  // with folders of their own: launchers that share one race to make what they put there
  for (const std::string& host : hosts)
    jobs.emplace_back(host.empty() ? "local" : allocation.launcher,
                      Job{.worker = question.program,
                          .host_of_rank = host.empty() ? std::vector<std::string>() : std::vector<std::string>{host},
                          .network = question.network},
                      question.environment, here);
  std::vector<HostAnswer> answers(hosts.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&, i] { answers[i] = ask(hosts[i], jobs[i].spawn, question.timeout); });
  threads.clear();
  return answers;
}

JobOutcome start_ranks(const RankStart& start, const Host& host, RankReports& reports,
                       const std::function<void(const WorkerLine&)>& on_line) {
  JobSpawn job(start.launcher,
               {.processes = start.processes,
                .oversubscribed = start.processes > host.cores,
                .worker = start.worker,
                .host_of_rank = start.host_of_rank,
                .network = start.network},
               start.environment, host);
  Spawn& spawn = job.spawn;
  spawn.argv.insert(spawn.argv.begin(), start.before.begin(), start.before.end());
  spawn.output_timeout = start.timeout;
  RankLines lines([&](std::string_view text) {
    const auto line = parse_worker_line(text);
    if (!line) return;
    record(reports, *line);
    on_line(*line);
  });
  spawn.on_line = [&](std::string_view text) { lines.add(text); };
  spawn.on_timeout = [&] { record_process_states(reports); };
  const RankGuard guard(reports);  // ends before the folders of `job` do
  Exit exit = run_process(spawn);
  if (exit.interrupted) return {};
  exit.error_head = without_rank_tags(exit.error_head);
  exit.error_tail = without_rank_tags(exit.error_tail);
  JobOutcome outcome = job_outcome(reports, exit, start.processes, start.timeout);
  outcome.reason = with_hosts(outcome.reason, start.host_of_rank);
  return outcome;
}

JobFolders::JobFolders(const fs::path& temporary, const fs::path& shared_memory) {
  paths_.temporary = make_folder(temporary);
  if (paths_.temporary.empty())
    throw Error(
        ExitCode::environment,
        fmt::format("cannot make a folder for the launcher in {}: {}", temporary.string(), std::strerror(errno)),
        "set TMPDIR to a folder that you may write");
  const fs::path probe = paths_.temporary / "probe";
  const std::string why = write_file(probe, "probe");
  std::error_code ignored;
  fs::remove(probe, ignored);
  if (!why.empty()) {
    remove_folder(paths_.temporary);
    throw Error(ExitCode::environment, fmt::format("cannot write into {}: {}", temporary.string(), why),
                "set TMPDIR to a folder on a disk with room");
  }
  paths_.shared_memory = make_folder(shared_memory);
  start_cleaner();
}

JobFolders::JobFolders() : JobFolders(temporary_base(), "/dev/shm") {}

JobFolders::~JobFolders() {
  stop_cleaner();
  remove_folder(paths_.temporary);
  remove_folder(paths_.shared_memory);
}

/// A shell in a session of its own, so that no Ctrl-C and no end of a process group reaches it. Without one, killed
/// jobs' folders wait for the next hbench.
void JobFolders::start_cleaner() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  std::vector<std::string> words{"sh", "-c", "read line || rm -rf -- \"$@\"", "hbench-cleaner", paths_.temporary};
  if (!paths_.shared_memory.empty()) words.push_back(paths_.shared_memory);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  const bool started = posix_spawn(&cleaner_, "/bin/sh", &files, &attributes, argv.data(), environ) == 0;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  close(ends[0]);
  if (started)
    cleaner_input_ = ends[1];
  else
    close(ends[1]);
}

void JobFolders::stop_cleaner() {
  if (cleaner_input_ < 0) return;
  [[maybe_unused]] const ssize_t sent = send(cleaner_input_, "\n", 1, MSG_NOSIGNAL);
  close(cleaner_input_);
  waitpid(cleaner_, nullptr, 0);
}

}  // namespace hbench

#include "bench/launch/job_folders.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <vector>

#include "bench/worker/process_identity.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

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

JobFolders::JobFolders(const fs::path& temporary, const fs::path& shared_memory) {
  paths_.temporary = make_folder(temporary);
  if (paths_.temporary.empty())
    throw Error(
        ExitCode::environment,
        fmt::format("cannot make a folder for the launcher in {}: {}", temporary.string(), std::strerror(errno)),
        "set TMPDIR to a folder that you may write");
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

#pragma once

/// The program as people run it: a folder of its own, an exit code, and what it said.

#include <sys/types.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace hbench {

/// How a run of the program ended.
struct Outcome {
  int code = 0;  ///< 128 + signal when a signal ended it
  std::string out, err;
};

/// A folder in which the program runs.
class Workplace {
 public:
  const TemporaryFolder& folder() const { return folder_; }
  std::filesystem::path operator/(std::string_view name) const { return folder_ / name; }

  /// Runs `hbench <arguments>` here; `environment` is added to ours.
  Outcome run(const std::vector<std::string>& arguments,
              const std::map<std::string, std::string>& environment = {}) const;
  /// Runs a shell's script here, in which $HBENCH is the program.
  Outcome shell(const std::string& script) const;

 private:
  TemporaryFolder folder_;
};

/// A sweep, or another verb that starts workers, under way; ended by force with the object.
class Sweeping {
 public:
  /// `environment` is added to ours.
  Sweeping(const Workplace& workplace, const std::vector<std::string>& arguments,
           const std::map<std::string, std::string>& environment = {});
  ~Sweeping();
  Sweeping(const Sweeping&) = delete;
  Sweeping& operator=(const Sweeping&) = delete;

  pid_t pid() const { return pid_; }
  /// Waits until `count` workers of one launch have begun to work, and gives their processes by rank; none
  /// when the sweep ends before.
  std::vector<pid_t> workers(std::size_t count);
  /// Waits for the end.
  Outcome wait();

 private:
  const Workplace& workplace_;
  pid_t pid_ = -1;
  bool ended_ = false;
};

/// The parent of a process, 0 when it is gone.
pid_t parent_of(pid_t pid);
/// Whether a process is there and no zombie.
bool lives(pid_t pid);
/// All that a process has written by now.
std::size_t bytes_written(pid_t pid);
/// Waits until none of them is.
bool all_die(const std::vector<pid_t>& pids);

/// Whether file systems of one's own may be mounted here; they need no rights in a namespace of one's own.
bool can_mount(const Workplace& workplace);

/// The points that `hbench export --json` gives.
nlohmann::json exported(const Workplace& workplace);

/// A message of one line and a hint of another on standard error, nothing on standard output.
void expect_mistake(const Outcome& outcome, int code, std::string_view message, std::string_view hint);

}  // namespace hbench

#pragma once

/// The family of engines that give hosts to a sweep: Slurm, Kubernetes, Spark ... Submission is rendering: the same
/// `hbench sweep --resume` runs inside, with mpirun as its launcher, and knows its hosts from the engine's environment.
/// Also what is done with an engine's commands: a job is submitted, and followed to its end.

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/library.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

/// A flag of one engine, such as `--partition`.
struct EngineOption {
  std::string_view name;      ///< without dashes
  std::string_view summary;   ///< for `hbench submit --help`
  std::string_view standard;  ///< its value where nobody gives one; empty: the engine's own
  bool repeated = false;      ///< may be given several times; its values are lines of one text
};

/// What is to run, and on how much.
struct Submission {
  using Options = std::map<std::string, std::string, std::less<>>;

  std::string job = "hbench";      ///< its name in the engine: lower-case letters, digits and dashes
  std::vector<std::string> sweep;  ///< arguments of `hbench sweep`, as typed, without --db and --report
  int nodes = 1;
  int ranks_per_node = 1;                ///< slots of a node
  int gpus_per_node = 0;                 ///< 0: ranks run on CPU cores
  Seconds time_limit{0};                 ///< of the whole job; 0: the engine's own
  std::filesystem::path program;         ///< hbench, as hosts find it
  std::filesystem::path folder;          ///< absolute; results are here when the job has ended: database, report, logs
  Options options;                       ///< of the engine, by name; every one it has is set
  std::filesystem::path directory = {};  ///< absolute; relative paths among the sweep's arguments begin here

  /// What was given for an option of the engine, or its standard. \pre the engine has it
  const std::string& option(std::string_view name) const { return options.find(name)->second; }
  /// Arguments of the sweep that keeps its results in this folder, as hosts see it, and goes on with what is there.
  std::vector<std::string> sweep_into(const std::filesystem::path& where) const;
  /// `--expect-hosts N` for a sweep that reads its hosts from the engine's environment; nothing for one host.
  std::vector<std::string> expected_hosts() const;
};

/// How a submitted job is.
struct JobState {
  enum class Phase { waiting, running, done, failed } phase = Phase::waiting;
  std::string words;  ///< in the engine's own words: `PENDING (Resources)`
  /// Of a job that has ended: the sweep's, or what stands for it where the engine ended the job; empty: the engine does
  /// not tell.
  std::optional<int> exit_code = std::nullopt;
};

/// One entry of the family.
struct Engine {
  std::string_view name;
  std::string_view summary;
  std::span<const EngineOption> options;
  /// Looks for the engine's commands on `path` (the PATH variable).
  Availability (*availability)(std::string_view path);
  /// Why it cannot be submitted so, for a person; empty where it can. Pure.
  std::string (*refuses)(const Submission& submission);
  /// The batch script, MPIJob or command, as `--dry-run` prints it. Pure.
  std::string (*render)(const Submission& submission);
  /// The command that submits what was rendered, which is in `file`. Pure.
  std::vector<std::string> (*submit)(const Submission& submission, const std::filesystem::path& file);
  /// The job's name in later commands, from what that command printed; empty where it cannot be found. Pure.
  std::string (*job_of)(const Submission& submission, std::string_view printed);
  /// The command that prints how a job is, and what it says. Pure. Null: the command of `submit` ends with the job.
  std::vector<std::string> (*ask)(const Submission& submission, const std::string& job);
  JobState (*state)(std::string_view printed);
  /// The commands that bring the results into `Submission::folder`, one after the other; empty where they are there.
  std::vector<std::vector<std::string>> (*fetch)(const Submission& submission, const std::string& job);
  /// The command that ends the job, for a person to copy. Pure. Null: whoever ends the command of `submit` ends the
  /// job.
  std::vector<std::string> (*cancel)(const Submission& submission, const std::string& job) = nullptr;
  /// What the sweep writes while it runs, where this machine sees that file. Pure. Null: it sees none.
  std::filesystem::path (*log)(const Submission& submission, const std::string& job) = nullptr;
  /// The same, among what `fetch` brings. Pure. Null: `log` has named it.
  std::filesystem::path (*fetched_log)(const Submission& submission) = nullptr;
  /// GPUs of each host as the engine's options say, where `--gpus-per-node` is not given; 0: they do not. Pure. Null:
  /// no option does.
  int (*gpus_per_node)(const Submission::Options& options) = nullptr;
};

/// The table, in the order in which `hbench list engines` prints it.
std::span<const Engine* const> engines();

/// A time as sbatch takes it: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes`
/// or `days-hours:minutes:seconds`. None where a text is none of these, and for 0. Pure.
std::optional<Seconds> slurm_time(std::string_view text);

/// Runs one command of an engine to its end and gives what it printed. `line` gets each line as it comes; may be null.
/// \throws Error (environment) with the command's own words where it fails.
std::string run_engine_command(const std::vector<std::string>& argv,
                               const std::function<void(std::string_view line)>& line = nullptr);

/// Submits what was rendered into `file`; the job's name. \pre `engine.ask` is not null.
/// \throws Error (environment) with the engine's own words.
std::string submit_job(const Engine& engine, const Submission& submission, const std::filesystem::path& file);

/// What is said while a job is followed.
struct FollowHooks {
  std::function<void(const std::string& words)> state;  ///< whenever it is another
  std::function<void(std::string_view line)> wrote;     ///< a line of the job's log
};

/// How often an engine is asked, and how long it may give no answer.
struct Patience {
  Seconds longest_pause{10};  ///< pauses begin at half a second, and grow
  Seconds no_answer{300};     ///< its controller may be restarted meanwhile
};

/// Follows a job until it has ended or Ctrl-C is seen (`interrupted`); the last state. \pre `engine.ask` is not null.
/// \throws Error (environment) where the engine does not say for long how the job is; the job goes on.
JobState follow_job(const Engine& engine, const Submission& submission, const std::string& job,
                    const FollowHooks& hooks, const Patience& patience = {});

/// Returns the last lines of what a sweep wrote that could not be followed.
std::vector<std::string> end_of_log(const std::filesystem::path& log);

}  // namespace hbench

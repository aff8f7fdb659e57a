#pragma once

/// What `hbench submit` does with an engine's commands: submits a job, and follows it to its end.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/submit/engine.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

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

#pragma once

/// One launch of a command that measures something: a shell's command and what it prints, or an experiment file of
/// hbench. For `hbench track pair`, `hbench track bisect`, and the commands of `hbench.toml`.
///
/// The flags by which a number is found in what a program prints: `--pattern`, `--unit`, `--better`, `--take`; also
/// keys of a `[[command]]` in `hbench.toml`.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/import/number_pattern.hpp"
#include "analysis/records/records.hpp"
#include "bench/command/arguments.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

struct MeasuredCommand {
  std::string name;       ///< what messages call it: `--base`, `hbench.toml:3: run`
  std::string text = {};  ///< for `sh -c`; or a file that ends with .toml, as `hbench track run --file` takes it
  std::filesystem::path folder = {};  ///< in which it is run; empty: this one
  /// How its output is read; null: by the first of `import_formats()` that recognises it.
  std::shared_ptr<const NumberPattern> pattern = {};
  std::optional<BetterValue> better = {};  ///< of values whose unit does not say it
};

/// How one launch of a command ended.
struct CommandLaunch {
  std::vector<CaseResult> cases = {};                   ///< launch 0 of each; empty where it failed
  std::map<std::string, std::string> environment = {};  ///< facts that its output tells
  std::vector<std::string> left_out = {};               ///< what it printed and is no case, and why, in sentences
  ExitCode code = ExitCode::good;
  std::string reason = {};  ///< why it failed, in one sentence
  std::string said = {};    ///< the last lines that it wrote where it failed, or what to do about it
};

/// Runs the command in a process group of its own, of which nothing outlives the call, nor this process; stops it when
/// it takes longer than `timeout`, or prints more than 16 MiB (then the code is `usage`), and on Ctrl-C
/// (`interrupted()`: then the launch means nothing). A command that is not found, and
/// output that is not understood, are failures with the code `usage`. Of an experiment file every case is launched
/// once.
CommandLaunch launch_command(const MeasuredCommand& command, Seconds timeout);

/// Runs a command for its effect, such as a build, in the same way, except that it may take long and print much: it is
/// stopped when it prints nothing for `timeout`. What it prints is only kept where it fails.
CommandLaunch run_command(const MeasuredCommand& command, Seconds timeout);

struct PatternOptions {
  std::string expression, unit, better, take = "only";

  void add_options(Arguments& app);
  /// Gives a command how its output is read; the benchmark of a pattern is called `name`. \throws Error (usage).
  void apply(const std::string& name, MeasuredCommand& command) const;
  /// Returns what was given as words of a shell, each with a blank before it.
  std::string in_shell() const;
};

}  // namespace hbench

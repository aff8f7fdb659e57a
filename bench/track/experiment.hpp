#pragma once

/// What a project tracks, as its file lists it: cases that are planned once, and launched when they are asked for.

#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/command/verb.hpp"
#include "bench/sweep/launch_follower.hpp"
#include "bench/sweep/request.hpp"

namespace hbench {

/// Which launches of which cases.
struct Launching {
  std::set<std::string> questions;  ///< of the cases; empty: of all
  int first = 0;                    ///< number of the first launch
  int count = 5;
};

/// One planned entry of the file.
class Experiment {
 public:
  virtual ~Experiment() = default;
  /// Gives its cases the machine of the run, which gets it in words.
  /// \pre `run` lives as long as launches are asked for.
  virtual void place(Run& run) = 0;
  /// The cases that are known: of a command (`[[command]]`) those that it has printed.
  virtual std::vector<const Case*> cases() const = 0;
  /// Cases of an earlier run of the file, for an entry that knows its own only by launching. Call `place` first.
  virtual void remember(const std::vector<CaseResult>& /*earlier*/) {}
  /// What the plan leaves out, and why.
  virtual const std::vector<Refusal>& refused() const = 0;
  virtual bool uses_gpu() const = 0;
  /// About how long it takes.
  virtual double seconds(const Launching& launching) const = 0;
  /// Ends early on Ctrl-C. The worst code of a launch. \throws Error (environment) where nothing can be launched.
  virtual ExitCode launch(const Launching& launching, const LaunchFollower& follower) = 0;
};

/// An entry of the file, as its kind gets it: its keys as flags, and where it stands.
struct ExperimentCall : Call {
  std::string name;              ///< of the entry
  std::string place;             ///< `hbench.toml:12`
  std::filesystem::path folder;  ///< that the file is in; empty: the current one
};

/// How an entry of the file is read: as the verb of the same name reads its flags.
struct ExperimentKind {
  std::string_view name;       ///< of the table in the file: `sweep`
  std::string_view arguments;  ///< keys whose values are arguments without a flag: `collective`
  /// Flags that have no meaning here, for which the file or the run has other places.
  std::span<const std::string_view> refused;
  /// Whether a value may be a list, which its flag takes with commas.
  bool takes_lists = true;
  /// Null where it was asked for help. \throws Error (usage) as the verb.
  std::unique_ptr<Experiment> (*plan)(const ExperimentCall& call);
};

/// The name of the kind whose entries are programs of the project.
inline constexpr std::string_view kCommandKind = "command";

/// One file each, listed in `experiment.cpp`.
std::span<const ExperimentKind* const> experiment_kinds();

}  // namespace hbench

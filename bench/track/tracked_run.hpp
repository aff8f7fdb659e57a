#pragma once

/// The experiments of a project on this machine: planned, and launched into a run of a database.
///
/// How a check leaves the program: the flags that `hbench track check` and `hbench track pair` share.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/store/store.hpp"
#include "analysis/track/check.hpp"
#include "analysis/track/report.hpp"
#include "bench/command/common_options.hpp"
#include "bench/output/document_output.hpp"
#include "bench/track/project.hpp"
#include "reports/rows/row.hpp"

namespace hbench {

/// Those of one gate.
class TrackedRun {
 public:
  /// \throws Error (usage) with the line of the file.
  TrackedRun(const Project& project, const Gate& gate);

  /// Gives the cases the machine of the run, whose facts it fills in.
  void place(Run& run);
  /// Cases of an earlier run: those of commands are known by them before a launch.
  void remember(const std::vector<CaseResult>& earlier);
  std::vector<const Case*> cases() const;
  bool uses_gpu() const;
  /// Returns the estimated time of the launches of all cases that `launching` asks for.
  double seconds(const Launching& launching) const;
  /// The same for people: `40 s`, `3 min`.
  std::string time_in_words(const Launching& launching) const;
  /// The plan, in lines.
  std::string in_words(const Launching& launching) const;

  /// Launches into a run, which begins with its first case where it is not stored yet; what is over is stored at once.
  /// The worst code of a launch, and `interrupted` after Ctrl-C. \throws Error (environment), and (usage) where a
  /// command prints what nothing understands.
  ExitCode launch(Store& store, Run& run, const Launching& launching, Verbosity verbosity);

 private:
  struct Entry {
    std::string name;
    std::unique_ptr<Experiment> experiment;
  };
  std::vector<Entry> entries_;
};

/// What `hbench track run --json` prints of a run.
struct StoredRun {
  std::int64_t id = 0;
  std::string database;
  std::size_t cases = 0;
  int launches = 0;  ///< of each case
  std::map<std::string, std::string> labels;
  ExitCode code = ExitCode::good;
};
std::string stored_run_json(const StoredRun& stored, Form form = Form::values);

/// Returns the launches that would confirm what a report sees; of no case where nothing lacks any.
Launching confirming_launches(const TrackReport& report);

/// Measures these launches here and now, and adds them to the run. Returns why it cannot be done here, in words; empty
/// where it was done. \throws Error as `TrackedRun`.
std::string confirm_here(TrackedRun& tracked, Store& store, const Run& head, Launching wanted, Verbosity verbosity);

/// `--fail-on`, `--junit`, `--gitlab`, `--github` and those of `DocumentOutput`. Stays where it is from `add_options`
/// on.
class TrackOutput {
 public:
  void add_options(Arguments& app);
  /// Before long work. \throws Error (usage, environment).
  void check();
  /// Whether an inconclusive case is a failure, where `--fail-on` says so.
  std::optional<bool> fails_on_inconclusive() const { return fail_on_; }
  /// Prints or writes the report in all forms that were asked for. \throws Error (environment).
  void deliver(const TrackReport& report) const;

 private:
  DocumentOutput document_;
  std::optional<bool> fail_on_;
  std::filesystem::path junit_, gitlab_;
  bool github_ = false;
};

}  // namespace hbench

#pragma once

/// The results database: the only place with SQL.
///
/// Append-only; ranks never write, their parent process does. Several processes may append at once. The schema is
/// documented in `analysis/store/README.md` because people will open the file with `sqlite3`.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/records/judgements.hpp"
#include "analysis/records/records.hpp"

namespace hbench {

/// Where a whole run is.
struct AddedRun {
  std::int64_t id = 0;
  bool is_new = false;  ///< else it was there, and nothing was added
};

/// An open database. Movable, not thread-safe.
class Store {
 public:
  enum class Mode { read_write, read_only };

  /// Opens `file`; read_write creates it when absent and migrates an older schema; read_only reads an older
  /// schema as it is.
  /// \throws Error: usage when the file is no hbench database, was written by a newer hbench, or does not
  /// exist (read_only); environment when the folder is read-only, the disk full or the file locked;
  /// wrong_data when the file is damaged.
  /// Locks of other processes are waited for as long as `patience`.
  explicit Store(const std::filesystem::path& file, Mode mode = Mode::read_write,
                 std::chrono::milliseconds patience = std::chrono::seconds(5));
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// Records the start of a run; its id. \throws Error (environment).
  std::int64_t begin_run(const Run& run);
  /// A run with all its answers in one transaction, unless there is one with its UUID. \pre it has a UUID. \throws as
  /// `append`.
  AddedRun add_run(const Run& run, const std::vector<CaseResult>& results);
  /// Appends one finished case with all its samples in one transaction: after a crash it is there whole,
  /// or not at all. Its id. \throws Error (environment) when the disk is full, (wrong_data) for a value that is NaN.
  std::int64_t append(std::int64_t run, const CaseResult& result);
  /// Adds further launches to a case that `append` gave this id, in one transaction: a case whose launches take turns
  /// with those of others is stored as far as it is. \throws as `append`.
  void add(std::int64_t case_id, const std::vector<Sample>& samples, const std::vector<TracedStep>& traced = {});
  /// Adds further launches to the cases that the run has and that are done, and appends the others and what has failed,
  /// all in one transaction: a launch of a program may print thousands of figures. \throws as `append`.
  void extend(std::int64_t run, const std::vector<CaseResult>& additions);
  /// Appends many cases in one transaction (simulated and published points are quick and many).
  void append(std::int64_t run, const std::vector<CaseResult>& results);

  /// A run may be accepted again, for another reason. \pre there is such a run. \throws Error (environment).
  void accept(const Acceptance& acceptance);
  /// In the order in which they were given; none in a database of a schema before 7.
  std::vector<Acceptance> acceptances() const;
  /// Gives runs a name, instead of those that had it. \pre there are such runs. \throws Error (environment).
  void freeze(const FrozenBaseline& frozen);
  /// Whether there was such a name, which is forgotten; its runs stay.
  bool unfreeze(const std::string& name);
  /// In the order of their names; none in a database of a schema before 8.
  std::vector<FrozenBaseline> frozen() const;
  /// Keeps what was said of a run. It with its number and those of its verdicts. \throws Error (environment).
  StoredJudgement keep(const StoredJudgement& judgement);
  /// All that was said of a run, oldest first.
  std::vector<StoredJudgement> judgements(std::int64_t run) const;

  /// `answer_key` of the cases that are done (not of the failed ones): what `--resume` need not repeat.
  std::set<std::string> finished() const;
  /// The newest answer of these runs to each question at each place, oldest run first; a failed one gives way to a done
  /// one, and one of a trial (`is_trial`) to any other. The newest is of the run that started last, also where an older
  /// one was merged after it. \throws Error (wrong_data) for a damaged file.
  std::vector<CaseResult> results(const RunFilter& of = {}) const;
  /// What `append` gave the case with this question and place in a run; nothing where the run has none that is done.
  std::optional<std::int64_t> find(std::int64_t run, const Case& asked) const;
  /// The traced steps of a case that `append` gave this id, by launch; none in a database of a schema before 8.
  std::vector<TracedStep> traced(std::int64_t case_id) const;
  /// Every answer of one run, failed ones too, in the order in which they came.
  std::vector<CaseResult> of_run(std::int64_t run) const;
  /// All answers to a question at a place (`Case::question`, `Case::place`), failed ones too, by run as `runs`.
  std::vector<CaseResult> history(const std::string& question, const std::string& place) const;
  /// Every timed process without communication that is done, oldest first: what efficiencies are relative to. Older
  /// answers than those of `results` are among them, for cases that the same older code answered.
  std::vector<CaseResult> baselines() const;
  /// In the order in which they were stored, whatever the clock was.
  std::vector<Run> runs() const;

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace hbench

#pragma once

/// What a project tracks: the file `hbench.toml` in its repository. A table for each experiment, whose keys are the
/// flags of the verb of the same name; `[[command]]` is a program of the project.

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/store/store.hpp"
#include "analysis/track/judge.hpp"
#include "analysis/track/report.hpp"
#include "bench/command/common_options.hpp"
#include "bench/track/experiment.hpp"

namespace hbench {

/// The file that the actions of `hbench track` look for in the folder that they are called in.
inline constexpr const char* kProjectFile = "hbench.toml";

/// One entry of the file, not planned yet.
struct ExperimentEntry {
  const ExperimentKind* kind = nullptr;
  std::string name;  ///< unique
  std::vector<std::string> arguments;
  std::string place;  ///< `hbench.toml:12`
  std::uint32_t line = 0;
  std::map<std::string, std::string> places;  ///< of its keys, by flag, and of its values

  /// The entry as its kind gets it. \param folder that the file is in.
  ExperimentCall call(const std::filesystem::path& folder) const;
  /// \param folder that the file is in. \throws Error (usage) that names the line.
  std::unique_ptr<Experiment> plan(const std::filesystem::path& folder) const;
};

/// Some of the experiments, judged together.
struct Gate {
  std::string name;
  std::vector<std::string> experiments;  ///< names; empty: all
  TrackRule rule;
  bool fail_on_inconclusive = false;
};

struct Project {
  std::filesystem::path file, database;
  std::string baseline = "main";  ///< as `--baseline` takes it
  Gate all;                       ///< the rule where no gate is asked for
  std::vector<ExperimentEntry> experiments;
  std::vector<Gate> gates;
  std::vector<TrackLimit> limits;

  /// \throws Error (usage) for a gate that the file does not have. `""` is `all`.
  const Gate& gate(const std::string& name) const;
  /// Those of a gate, in the file's order.
  std::vector<const ExperimentEntry*> experiments_of(const Gate& gate) const;
};

/// \throws Error (usage) with file and line. The database is relative to the file's folder.
Project parse_project(std::string_view text, const std::filesystem::path& file);

/// The database where neither a flag nor a file names one.
inline constexpr const char* kUsualDatabase = "hbench.db";

/// `--file`.
inline void add_project_file(Arguments& app, std::filesystem::path& file, Help help) {
  app.add_option("--file", file, help);
}
/// `--build`: a shell's command.
inline void add_build(Arguments& app, std::string& build, Help help) { app.add_option("--build", build, help); }
/// `--case` and `--label` of a history; `baseline_of` takes the label.
inline void add_history_options(Arguments& app, std::string& match, std::string& label) {
  add_case(app, match, "only cases with this in their names");
  app.add_option("--label", label,
                 "only runs with it: a branch, or such as release=2.1 (default: the file's, or main)");
}
/// `--file` and `--db`, the same in every action, and `--gate` where it is asked for.
void add_project_options(Arguments& app, std::filesystem::path& file, std::filesystem::path& database,
                         std::string* gate = nullptr);

/// What `--db` named; else the file's database, or `hbench.db` where there is no file.
std::filesystem::path database_of(const std::optional<Project>& project, const std::filesystem::path& named);
/// Opens it to be written where it can be, since verdicts are kept and launches added; else to be read, and says why in
/// `read_only`. \throws Error as `Store`.
Store open_to_keep(const std::filesystem::path& database, std::string& read_only);
/// What `--baseline` or `--label` named; else the file's, or `main`.
std::string baseline_of(const std::optional<Project>& project, const std::string& named);

/// The file that a flag named or, where it did not (empty), the one of this folder, if there is one.
/// \throws Error (usage) as `parse_project`, and for a named file that is not there.
std::optional<Project> find_project(const std::filesystem::path& named);

/// `3%` or `0.03`. \throws Error (usage) that names `flag` for what is not from 0.001 to 1.
double parse_share(const std::string& text, std::string_view flag);
/// `--least-effect`; `standard` says what it is where it is not given.
inline void add_least_effect(Arguments& app, std::optional<double>& effect,
                             const std::string& standard = "the file's, or 3%") {
  app.add_parsed("--least-effect", effect, parse_share, "the least change that counts (default: " + standard + ")");
}
/// `--no-confirm`.
void add_no_confirm(Arguments& app, bool& unconfirmed);

}  // namespace hbench

#pragma once

/// Labels of runs, as they are typed.
///
/// Values of flags that several verbs have.

#include <fmt/format.h>

#include <climits>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/command/arguments.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

struct ImportHints;

inline constexpr const char* kLabelHelp =
    "KEY=VALUE to keep with the results, such as branch=main; commit=HASH names the measured code (repeatable)";

/// Adds `--label`, which may be given several times. `labels` outlives the parsing, which throws Error (usage) for what
/// is no pair, a key of other characters than letters, digits, `.`, `-` and `_`, an empty or unprintable value, and a
/// key that is given twice.
void add_labels(Arguments& arguments, std::map<std::string, std::string>& labels, const char* help = kLabelHelp);

/// The value of a flag among those for another verb (`Arguments::pass_on`); none where it is not given.
std::optional<std::string> passed_value(const std::vector<std::string>& flags, std::string_view flag);
/// Adds to them those of `usual` that are not given, with their values.
void add_usual(std::vector<std::string>& flags, std::initializer_list<std::pair<const char*, const char*>> usual);

/// `30s`, `500ms`: above 0. \throws Error (usage) that names the flag.
Seconds time_flag(const std::string& text, std::string_view flag);
/// `4h`, `90min`, `2d`: above 0. \throws Error (usage) that names the flag.
Seconds long_time_flag(std::string_view text, std::string_view flag);

/// A finite number above 0, of samples per second. (CLI11's PositiveNumber takes NaN, and its message prints the
/// largest double in full.)
Check positive_rate();

inline constexpr const char* kWorkloadHelp =
    "models and timelines, a timeline file of your own, or a transformer by its numbers: "
    "transformer:layers=12,hidden=768,... (comma list)";

/// Adds `--workload`: a comma list of names, files, and transformers by their numbers, whose commas are their own.
void add_workloads(Arguments& app, std::vector<std::string>& workloads, const char* help = kWorkloadHelp);

using Help = const std::string&;
inline constexpr int kMillion = 1'000'000;

/// Each adds the flag that its name says, which means the same in every verb; what it sets outlives the parsing.
inline Option* add_json(Arguments& app, bool& json) { return app.add_flag("--json", json, "print it as JSON"); }
inline Option* add_wide(Arguments& app, bool& wide) {
  return app.add_flag("--wide", wide, "all columns of every table, however wide");
}
inline Option* add_all(Arguments& app, bool& all, Help help) { return app.add_flag("--all", all, help); }
inline void add_force(Arguments& app, bool& force) { app.add_flag("--force", force, "also where there is one"); }
inline Option* add_dry_run(Arguments& app, bool& dry_run, Help help = "print the plan and its estimate, run nothing") {
  return app.add_flag("--dry-run", dry_run, help);
}
/// `--format`: of what is printed on standard output.
inline Option* add_format(Arguments& app, std::string& format, Help help, Check rule = {}) {
  return app.add_option("--format", format, help, std::move(rule));
}
/// `--as`: of the files that are read.
inline void add_file_format(Arguments& app, std::string& format) {
  app.add_option("--as", format, "the format of all files (default: what each looks like)");
}
/// Returns a line of help.
inline std::string format_line(std::string_view name, std::string_view summary) {
  return fmt::format("  {:17} {}\n", name, summary);
}
/// Returns such a line for each of the formats.
std::string format_lines(const auto& formats) {
  std::string text;
  for (const auto* format : formats) text += format_line(format->name, format->summary);
  return text;
}
/// `--out`: a file, of which the end of the name says what is written.
inline void add_out(Arguments& app, std::filesystem::path& file, Help help, const char* names = "--out") {
  app.add_option(names, file, help)->writes();
}
inline void add_database(Arguments& app, std::filesystem::path& file, Help help = "results database") {
  app.add_option("--db", file, help);
}
/// `--profile`: one cluster.
inline void add_profile(Arguments& app, std::string& name, Help help) { app.add_option("--profile", name, help); }
/// `--profile`: a comma list of clusters.
inline void add_profiles(Arguments& app, std::vector<std::string>& names, Help help) {
  app.add_list("--profile", names, help);
}
/// `--case`: a part of the names of cases.
inline void add_case(Arguments& app, std::string& match, Help help) { app.add_option("--case", match, help); }
/// `--better`: of values whose unit does not say it.
inline void add_better(Arguments& app, std::string& better, Help help) {
  app.add_option("--better", better, help, one_of({"lower", "higher"}));
}
/// `--run`: the number of a run in a database.
inline void add_run(Arguments& app, int& run, Help help) { app.add_option("--run", run, help, in_range(1, INT_MAX)); }
inline void add_launches(Arguments& app, int& count, Help help) {
  app.add_option("--launches", count, help, in_range(1, 1000));
}
inline void add_steps(Arguments& app, int& count, Help help) {
  app.add_option("--steps", count, help, in_range(1, kMillion));
}
inline void add_batch(Arguments& app, int& count, Help help) {
  app.add_option("--batch", count, help, in_range(1, kMillion));
}
inline void add_timeout(Arguments& app, Seconds& timeout, Help help, const char* standard) {
  app.add_parsed("--timeout", timeout, time_flag, help, standard);
}
/// `-b,--minbytes` and `-e,--maxbytes`, with their defaults; `what` ends their help.
void add_sizes(Arguments& app, std::int64_t& least, std::int64_t& most, const std::string& what, const char* from,
               const char* to);
/// `--collective`, `--ranks` and `--nodes`: of measured collectives, where their files leave them open.
void add_import_hints(Arguments& app, ImportHints& hints);

/// How much of its work a verb shows on standard error; answers and errors are printed by all three.
enum class Verbosity {
  quiet,    ///< nothing
  usual,    ///< a live line on a terminal, elsewhere a line each ten seconds
  verbose,  ///< each piece of work on a line of its own, with the time since the start
};

/// Adds `-q,--quiet` and `-v,--verbose`, of which one may be given. `value` outlives the parsing.
void add_verbosity(Arguments& arguments, Verbosity& value);

}  // namespace hbench

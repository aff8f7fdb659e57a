#include <fmt/format.h>

#include <array>
#include <chrono>
#include <climits>

#include "bench/command/arguments.hpp"
#include "bench/command/common_options.hpp"
#include "bench/database/database.hpp"

namespace hbench {
namespace {

constexpr const char* kDefault = "hbench.db";

ExitCode run_merge(const Call& call) {
  std::vector<std::string> others;
  std::filesystem::path database = kDefault;
  bool json = false;
  Arguments app("Appends the runs of other databases that are not there yet, with all that they hold.",
                "hbench db merge");
  app.footer(
      "Examples:\n  hbench db merge nightly.db\n  hbench db merge node1.db node2.db --db cluster.db\n"
      "A run is recognised by its UUID: what was merged before is not merged again; what was pruned comes back. A run "
      "that "
      "was merged before it ended gets its rest. Other databases may be of older versions of hbench, and are only "
      "read. An interrupted merge is finished by the same command.");
  app.add_option("OTHER", others, "results databases to take runs from");
  add_database(app, database, "results database that gets them; made when it is absent");
  add_json(app, json);
  if (app.parse(call)) return ExitCode::good;
  if (others.empty()) throw Error(ExitCode::usage, "no database to merge", "hbench db merge other.db --db hbench.db");
  std::vector<Merged> all;
  for (const std::string& other : others) {
    all.push_back({.file = other, .result = merge_database(other, database)});
    if (!json) fmt::print("{}", merge_text(all.back()));
  }
  if (json) fmt::print("{}", merge_json(database.string(), all));
  return ExitCode::good;
}

ExitCode run_check(const Call& call) {
  std::filesystem::path database = kDefault;
  bool json = false;
  Arguments app("Checks whether a database is whole and holds what it may; changes nothing.", "hbench db check");
  app.footer(
      "Examples:\n  hbench db check\n  hbench db check --db nightly.db --json\n"
      "A line for each check: the file, how it is (pass, note, error), and what was found. A note is harmless and "
      "should "
      "be known.\n"
      "Exit code: 0 where nothing is wrong, 4 where something is, 2 for a file that is no results database.");
  add_database(app, database);
  add_json(app, json);
  if (app.parse(call)) return ExitCode::good;
  const std::vector<DatabaseFinding> findings = check_database(database);
  fmt::print("{}", json ? check_json(database.string(), findings) : check_text(database.string(), findings));
  return std::ranges::any_of(findings, [](const auto& each) { return each.severity == Severity::error; })
             ? ExitCode::wrong_data
             : ExitCode::good;
}

ExitCode run_prune(const Call& call) {
  std::filesystem::path database = kDefault;
  std::string age;
  PruneRule rule{.keep = 1};
  bool dry_run = false, json = false;
  Arguments app("Removes whole runs that are old, with their cases and samples.", "hbench db prune");
  app.footer(
      "Examples:\n  hbench db prune --older-than 90d --keep 30 --dry-run\n"
      "  hbench db prune --keep 100 --label branch=main\n"
      "A run goes that meets all conditions; --older-than or --keep is needed. All go at once, or none. Answers that "
      "were relative to a baseline of a pruned run have none afterwards. `hbench db vacuum` makes the file smaller.");
  add_database(app, database);
  app.add_option("--older-than", age, "runs that started longer ago: 36h, 90d, 12w");
  app.add_option("--keep", rule.keep, "number of the newest runs (of those with the labels) that are never removed",
                 in_range(1, INT_MAX));
  add_labels(app, rule.labels, "KEY=VALUE: only runs with this label (repeatable: with all of them)");
  add_dry_run(app, dry_run, "remove nothing, only say what would go");
  add_json(app, json);
  if (app.parse(call)) return ExitCode::good;
  if (app.count("--older-than") + app.count("--keep") == 0)
    throw Error(ExitCode::usage, "which runs are to go is not said",
                "add --older-than 90d or --keep 100; with --dry-run nothing is removed");
  if (!age.empty())
    rule.before =
        time_before(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()), age, "--older-than");
  const PruneResult result = prune_database(database, rule, dry_run);
  fmt::print("{}",
             json ? prune_json(database.string(), result, dry_run) : prune_text(database.string(), result, dry_run));
  return ExitCode::good;
}

ExitCode run_vacuum(const Call& call) {
  std::filesystem::path database = kDefault;
  Arguments app("Writes a database anew without the space of what was removed.", "hbench db vacuum");
  app.footer(
      "Examples:\n  hbench db vacuum\n  hbench db vacuum --db nightly.db\n"
      "Meanwhile the disk needs room for a copy, and others wait.");
  add_database(app, database);
  if (app.parse(call)) return ExitCode::good;
  fmt::print("{}", vacuum_text(database.string(), vacuum_database(database)));
  return ExitCode::good;
}

constexpr std::array kActions{Action{"merge", "brings the runs of other databases", run_merge},
                              Action{"check", "says whether a database is whole", run_check},
                              Action{"prune", "removes old runs", run_prune},
                              Action{"vacuum", "gives the space of removed runs to the disk", run_vacuum}};

ExitCode run_db(const Call& call) {
  return run_action(call,
                    {.verb = "hbench db",
                     .description = "Merges, checks, prunes and shrinks results databases.",
                     .kind = "action on databases",
                     .footer = "Examples:\n  hbench db merge nightly.db --db all.db\n  hbench db check\n"
                               "  hbench db prune --older-than 90d --keep 30 --dry-run\n  hbench db vacuum\n"
                               "hbench db merge --help and so on say more."},
                    kActions);
}

}  // namespace

extern const Verb kDb;
constinit const Verb kDb{
    .name = "db", .summary = "merge, check, prune and shrink results databases", .place = 14, .run = run_db};

}  // namespace hbench

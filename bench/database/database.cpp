#include "bench/database/database.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "analysis/records/words.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr std::array kHours{Unit{"h", 1}, Unit{"d", 24}, Unit{"w", 7 * 24}};
constexpr int kMostHours = 100 * 365 * 24;

std::int64_t sum(const PruneResult& result, std::int64_t PrunedRun::*part) {
  std::int64_t all = 0;
  for (const PrunedRun& each : result.runs) all += each.*part;
  return all;
}

std::string labels_of(const Run& run) {
  return run.labels.empty() ? "" : one_line(fmt::format(" ({})", labels_text(run.labels)));
}

}  // namespace

// How a file of SQLite begins: sqlite.org/fileformat2.html, 1.3.
bool is_database(const std::filesystem::path& file) {
  constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  std::string begin(kMagic.size(), ' ');
  std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kMagic;
}

std::vector<ImportFile> read_outputs(const std::vector<std::string>& names) {
  std::vector<ImportFile> files;
  for (const std::string& name : names) {
    if (is_database(name)) continue;
    std::error_code ignored;
    for (const ImportFile& file : files)
      if (std::filesystem::equivalent(file.name, name, ignored))
        throw Error(ExitCode::usage, fmt::format("{} is given twice", name), "each file is one launch: give each once");
    files.push_back({.name = name, .text = read_file(name)});
  }
  return files;
}

std::string time_before(std::chrono::sys_seconds now, std::string_view age, std::string_view flag) {
  const auto [number, name] = parse_leading_number<int>(age).value_or(std::pair(0, age));
  const double hours = number * scale_of(name, kHours).value_or(0);
  if (hours <= 0 || hours > kMostHours)
    throw Error(ExitCode::usage, fmt::format("{} {} is no age", flag, age),
                "write a whole number and h, d or w, such as 36h, 90d or 12w");
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", now - std::chrono::hours(static_cast<int>(hours)));
}

std::string merge_text(const Merged& merged) {
  const MergeResult& result = merged.result;
  if (result.added + result.grown == 0)
    return fmt::format("{}: nothing new; {} {} there\n", merged.file, counted(result.known, "run"),
                       result.known == 1 ? "was" : "were");
  std::string text = fmt::format("{}: {} came", merged.file, counted(result.added, "run"));
  if (result.grown > 0) text += fmt::format(", and the rest of {} that was not whole", counted(result.grown, "run"));
  return fmt::format("{}, with {} and {}; {} {} there\n", text, counted(result.cases, "case"),
                     counted(result.samples, "sample"), result.known, result.known == 1 ? "was" : "were");
}

std::string merge_json(const std::string& db, const std::vector<Merged>& all, Form form) {
  return object_text(form, "hbench db merge --json", all, [&](Row& row, const std::vector<Merged>&) {
    row.field("db", db);
    row.rows("merged", all, [](Row& of, const Merged& merged) {
      of.field("file", merged.file);
      of.field("runs_added", merged.result.added);
      of.field("runs_completed", merged.result.grown, "merged before they ended, of which the rest came");
      of.field("runs_known", merged.result.known, "that were there");
      of.field("cases", merged.result.cases, "that came");
      of.field("samples", merged.result.samples, "that came");
    });
  });
}

std::string check_text(const std::string& db, const std::vector<DatabaseFinding>& findings) {
  std::string text;
  for (const DatabaseFinding& finding : findings)
    text += fmt::format("{}: {}: {}: {}\n", db, to_string(finding.severity), finding.check, finding.what);
  const auto count = [&](Severity severity) {
    return std::ranges::count(findings, severity, &DatabaseFinding::severity);
  };
  return text + fmt::format("{}: errors {}, notes {}\n", db, count(Severity::error), count(Severity::note));
}

std::string check_json(const std::string& db, const std::vector<DatabaseFinding>& findings, Form form) {
  return object_text(form, "hbench db check --json", findings, [&](Row& row, const auto&) {
    row.field("db", db);
    row.rows("checks", findings, [](Row& of, const DatabaseFinding& finding) {
      of.field("check", finding.check);
      of.field("health", to_string(finding.severity), "pass, note or error");
      of.field("what", finding.what);
    });
  });
}

std::string prune_text(const std::string& db, const PruneResult& result, bool dry_run) {
  std::string text;
  for (const auto& [run, cases, samples] : result.runs)
    text += fmt::format("run {} of {}{}: {}, {}\n", run.id, one_line(run.started_at), labels_of(run),
                        counted(cases, "case"), counted(samples, "sample"));
  text +=
      fmt::format("{}: {}{}, {}, {}, {} of the file{}\n", one_line(db), dry_run ? "would remove " : "removed ",
                  counted(std::ssize(result.runs), "run"), counted(sum(result, &PrunedRun::cases), "case"),
                  counted(sum(result, &PrunedRun::samples), "sample"), format(Bytes(static_cast<double>(result.bytes))),
                  dry_run            ? ""
                  : result.bytes > 0 ? "; hbench db vacuum gives them to the disk"
                                     : "");
  return text;
}

std::string prune_json(const std::string& db, const PruneResult& result, bool dry_run, Form form) {
  return object_text(form, "hbench db prune --json", result, [&](Row& row, const PruneResult&) {
    row.field("db", db);
    row.field("dry_run", dry_run, "whether nothing was removed");
    row.field("bytes", result.bytes, "of the file that are free now");
    row.rows("runs", result.runs, [](Row& of, const PrunedRun& pruned) {
      of.field("run", pruned.run.id);
      of.field("uuid", pruned.run.uuid);
      of.field("started_at", pruned.run.started_at, "UTC");
      of.field("labels", pruned.run.labels);
      of.field("cases", pruned.cases);
      of.field("samples", pruned.samples);
    });
  });
}

std::string vacuum_text(const std::string& db, const VacuumResult& result) {
  const auto text = [](std::uintmax_t bytes) { return format(Bytes(static_cast<double>(bytes))); };
  return fmt::format("{}: {} given back to the disk, {} left\n", db,
                     text(result.before > result.after ? result.before - result.after : 0), text(result.after));
}

}  // namespace hbench

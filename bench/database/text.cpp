#include "bench/database/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/records/words.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

/// What was stored may be no UTF-8.
std::string dumped(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string_view to_string(Health health) {
  switch (health) {
    case Health::good:
      return "good";
    case Health::note:
      return "note";
    case Health::wrong:
      return "wrong";
  }
  return "?";
}

std::int64_t sum(const PruneResult& result, std::int64_t PrunedRun::*part) {
  std::int64_t all = 0;
  for (const PrunedRun& each : result.runs) all += each.*part;
  return all;
}

std::string labels_of(const Run& run) {
  return run.labels.empty() ? "" : one_line(fmt::format(" ({})", labels_text(run.labels)));
}

}  // namespace

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

std::string merge_json(const std::string& db, const std::vector<Merged>& all) {
  Json rows = Json::array();
  for (const auto& [file, result] : all)
    rows.push_back({{"file", file},
                    {"runs_added", result.added},
                    {"runs_completed", result.grown},
                    {"runs_known", result.known},
                    {"cases", result.cases},
                    {"samples", result.samples}});
  return dumped({{"db", db}, {"merged", rows}});
}

std::string check_text(const std::string& db, const std::vector<DatabaseFinding>& findings) {
  std::string text;
  for (const DatabaseFinding& finding : findings)
    text += fmt::format("{}: {}: {}: {}\n", db, to_string(finding.health), finding.check, finding.what);
  const auto count = [&](Health health) { return std::ranges::count(findings, health, &DatabaseFinding::health); };
  return text + fmt::format("{}: wrong {}, notes {}\n", db, count(Health::wrong), count(Health::note));
}

std::string check_json(const std::string& db, const std::vector<DatabaseFinding>& findings) {
  Json rows = Json::array();
  for (const DatabaseFinding& finding : findings)
    rows.push_back({{"check", finding.check}, {"health", to_string(finding.health)}, {"what", finding.what}});
  return dumped({{"db", db}, {"checks", rows}});
}

std::string prune_text(const std::string& db, const PruneResult& result, bool dry_run) {
  std::string text;
  for (const auto& [run, cases, samples] : result.runs)
    text += fmt::format("run {} of {}{}: {}, {}\n", run.id, one_line(run.started_at), labels_of(run),
                        counted(cases, "case"), counted(samples, "sample"));
  text +=
      fmt::format("{}: {}{}, {}, {}, {} of the file{}\n", db, dry_run ? "would remove " : "removed ",
                  counted(std::ssize(result.runs), "run"), counted(sum(result, &PrunedRun::cases), "case"),
                  counted(sum(result, &PrunedRun::samples), "sample"), format(Bytes(static_cast<double>(result.bytes))),
                  dry_run            ? ""
                  : result.bytes > 0 ? "; hbench db vacuum gives them to the disk"
                                     : "");
  return text;
}

std::string prune_json(const std::string& db, const PruneResult& result, bool dry_run) {
  Json rows = Json::array();
  for (const auto& [run, cases, samples] : result.runs)
    rows.push_back({{"run", run.id},
                    {"uuid", run.uuid},
                    {"started_at", run.started_at},
                    {"labels", run.labels},
                    {"cases", cases},
                    {"samples", samples}});
  return dumped({{"db", db}, {"dry_run", dry_run}, {"bytes", result.bytes}, {"runs", rows}});
}

std::string vacuum_text(const std::string& db, const VacuumResult& result) {
  const auto text = [](std::uintmax_t bytes) { return format(Bytes(static_cast<double>(bytes))); };
  return fmt::format("{}: {} given back to the disk, {} left\n", db,
                     text(result.before > result.after ? result.before - result.after : 0), text(result.after));
}

}  // namespace hbench

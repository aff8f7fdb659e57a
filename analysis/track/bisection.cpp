#include "analysis/track/bisection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// Whether git may know a text as a commit, and no shell or program takes it for more than one word.
bool is_revision(std::string_view text) {
  return text.front() != '-' && std::ranges::all_of(text, [](unsigned char c) {
           return std::isalnum(c) != 0 ||
                  std::string_view("._/~^@{}+-").find(static_cast<char>(c)) != std::string_view::npos;
         });
}

/// \throws Error (usage) where it names none.
std::string commit_of(const Producer& producer) {
  const std::string commit = producer.commit();
  if (!commit.empty() && is_revision(commit)) return commit;
  if (!commit.empty())
    throw Error(ExitCode::usage,
                fmt::format("the commit of run {} is '{}', which is no name of a commit", producer.run, commit),
                "measure with --label commit=$(git rev-parse HEAD)");
  throw Error(ExitCode::usage, fmt::format("run {} does not tell its commit", producer.run),
              "measure with --label commit=$(git rev-parse HEAD)");
}

}  // namespace

void add_regressions(std::vector<CaseHistory>& cases, const Store& store) {
  std::map<std::int64_t, std::vector<StoredVerdict>> known;  // of the last check of each run
  const auto verdict_of = [&](std::int64_t run, const std::string& question) -> const StoredVerdict* {
    const auto [verdicts, is_new] = known.try_emplace(run);
    if (is_new)
      if (std::vector<StoredJudgement> checks = store.judgements(run); !checks.empty())
        verdicts->second = std::move(checks.back().verdicts);
    const auto found = std::ranges::find(verdicts->second, question, &StoredVerdict::question);
    return found == verdicts->second.end() ? nullptr : &*found;
  };
  for (CaseHistory& each : cases) {
    std::optional<LevelChange> change;
    for (std::size_t later = each.points.size(); later > 1; --later) {
      const std::size_t first = later - 1;
      const StoredVerdict* verdict = verdict_of(each.points[first].producer.run, each.question);
      if (verdict == nullptr || verdict->verdict != to_string(TrackVerdict::regressed)) break;
      change = LevelChange{.first = first, .shift = verdict->shift, .interval = verdict->interval};
    }
    if (change) each.changes.push_back(*change);
  }
}

BisectRange bisect_range(const std::vector<CaseHistory>& cases) {
  const CaseHistory* of = nullptr;
  const LevelChange* newest = nullptr;
  for (const CaseHistory& each : cases)
    for (const LevelChange& change : each.changes) {
      const bool worse = each.larger_is_worse == (change.shift > 0);
      const auto run = [](const CaseHistory& known, const LevelChange& begin) {
        return known.points[begin.first].producer.run;
      };
      if (!worse || (newest != nullptr && run(each, change) <= run(*of, *newest))) continue;
      of = &each;
      newest = &change;
    }
  if (newest == nullptr)
    throw Error(ExitCode::usage,
                fmt::format("none of {} case{} has become slower", cases.size(), cases.size() == 1 ? "" : "s"),
                "hbench track check judges the newest run; hbench track history shows levels, of three runs at least");
  const Producer &before = of->points[newest->first - 1].producer, &after = of->points[newest->first].producer;
  BisectRange range{.name = of->name, .good = commit_of(before), .bad = commit_of(after), .shift = newest->shift};
  if (range.good == range.bad)
    throw Error(ExitCode::usage,
                fmt::format("{} has become slower between runs {} and {}, which are of the same commit", range.name,
                            before.run, after.run),
                "it is not the code: look for what else has changed (hbench doctor)");
  return range;
}

}  // namespace hbench

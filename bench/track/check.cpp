#include "bench/track/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/output/output_file.hpp"

namespace hbench {
namespace {

/// \throws Error (usage) that names the `flag`.
Run head_of(const std::vector<Run>& runs, std::int64_t asked, std::string_view flag) {
  if (runs.empty())
    throw Error(ExitCode::usage, "the database has no runs", "hbench sweep --label branch=main, or hbench collective");
  if (asked == 0) return runs.back();
  const auto found = std::ranges::find(runs, asked, &Run::id);
  if (found == runs.end())
    throw Error(ExitCode::usage, fmt::format("{} {}: there is no such run", flag, asked),
                fmt::format("the newest is {}", runs.back().id));
  return *found;
}

/// What was tried and has failed, or cannot be compared, is no question of figures.
TrackJudgement without_figures(const TrackedSides& sides, TrackJudgement judgement) {
  if (!sides.failure.empty()) {
    judgement.verdict = TrackVerdict::missing;
    judgement.reason = fmt::format("it failed: {}", sides.failure);
    judgement.next_step = "find out why it fails";
  } else if (!sides.incomparable.empty()) {
    judgement.verdict = TrackVerdict::incomparable;
    judgement.reason = sides.incomparable;
    judgement.next_step = "measure both sides in the same place";
  }
  return judgement;
}

/// What somebody has accepted is no regression, however large.
void accept_change(TrackJudgement& judgement, const std::string& reason) {
  const bool waits = judgement.verdict == TrackVerdict::inconclusive && judgement.shift != 0;
  if (judgement.verdict != TrackVerdict::regressed && !waits) return;
  judgement.verdict = TrackVerdict::pass;
  judgement.reason = fmt::format("accepted: {}", reason);
  judgement.next_step.clear();
}

}  // namespace

std::size_t TrackReport::count(TrackVerdict verdict) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(results, [&](const TrackedResult& each) { return each.judgement.verdict == verdict; }));
}

ExitCode TrackReport::exit_code() const {
  for (const ExitCode code : {ExitCode::wrong_data, ExitCode::lost_rank})
    if (std::ranges::any_of(
            results, [&](const TrackedResult& each) { return each.sides.failure_code == static_cast<int>(code); }))
      return code;
  for (const TrackedResult& each : results)
    if (each.sides.failure_code != 0) return static_cast<ExitCode>(each.sides.failure_code);
  if (count(TrackVerdict::regressed) > 0) return ExitCode::regressed;
  if (request.fail_on_inconclusive && count(TrackVerdict::inconclusive) > 0) return ExitCode::inconclusive;
  const bool none = std::ranges::none_of(results, [](const TrackedResult& each) { return each.judgement.compared(); });
  return none || count(TrackVerdict::incomparable) > 0 ? ExitCode::not_comparable : ExitCode::good;
}

TrackReport check(const Store& store, const TrackRequest& request) {
  const std::vector<Run> runs = store.runs();
  TrackReport report{.request = request, .head = head_of(runs, request.head, "--head"), .runs = {}, .results = {}};
  const std::vector<Acceptance> acceptances = store.acceptances();
  std::set<std::int64_t> accepted;
  for (const Acceptance& each : acceptances) accepted.insert(each.run);
  BaselineRuns known = baseline_runs(runs, report.head.id, request.baseline, request.rule.most_runs, accepted);
  const auto answers = [&](const std::vector<Run>& of) {
    std::vector<std::vector<CaseResult>> all;
    for (const Run& run : of) all.push_back(store.of_run(run.id));
    return all;
  };
  std::vector<TrackedSides> sides =
      pair_sides(answers(known.runs), store.of_run(report.head.id), answers(known.earlier));
  report.runs = std::move(known.runs);
  std::vector<TrackedCase> gate;
  for (const TrackedSides& each : sides) gate.push_back(each.values);
  const std::vector<TrackJudgement> judgements = judge(gate, request.rule);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    TrackJudgement judgement = without_figures(sides[i], judgements[i]);
    for (const Acceptance& each : acceptances)
      if (each.run == report.head.id) accept_change(judgement, each.reason);
    report.results.push_back({std::move(sides[i]), std::move(judgement)});
  }
  return report;
}

std::int64_t accept(Store& store, int run, const std::string& reason) {
  if (reason.empty())
    throw Error(ExitCode::usage, "a change is accepted for a reason", "add --reason \"what made it slower, and why\"");
  const Run head = head_of(store.runs(), run, "RUN");
  store.accept({.run = head.id, .reason = reason, .accepted_at = now_utc()});
  return head.id;
}

std::map<std::string, std::string> parse_baseline(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos && !text.empty()) return {{"branch", text}};
  if (equals == 0 || text.empty() || equals + 1 == text.size())
    throw Error(ExitCode::usage, fmt::format("--baseline {}: no label", text),
                "write the value of the label branch, or such as --baseline release=2.1");
  return {{text.substr(0, equals), text.substr(equals + 1)}};
}

}  // namespace hbench

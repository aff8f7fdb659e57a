#include "analysis/track/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "analysis/points/tracked_metric.hpp"
#include "analysis/records/judgements.hpp"
#include "analysis/records/words.hpp"
#include "analysis/track/causes.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// \throws Error (usage) that names the `flag`.
Run head_of(const std::vector<Run>& runs, std::int64_t asked, std::string_view flag) {
  if (runs.empty())
    throw Error(ExitCode::usage, "the database has no runs", "hbench sweep --label branch=main, or hbench collective");
  if (asked == 0) {
    // The one that was stored last, whatever the clock was; what hbench track pair has stored was held to its other
    // side.
    const auto own = std::find_if(runs.rbegin(), runs.rend(), [](const Run& run) { return !is_trial(run.labels); });
    return own == runs.rend() ? runs.back() : *own;
  }
  const auto found = std::ranges::find(runs, asked, &Run::id);
  if (found == runs.end())
    throw Error(ExitCode::usage, fmt::format("{} {}: there is no such run", flag, asked),
                fmt::format("the newest is {}", runs.back().id));
  return *found;
}

/// What somebody has accepted is no regression, however large.
void accept_change(TrackJudgement& judgement, const std::string& reason) {
  const bool waits = judgement.verdict == TrackVerdict::inconclusive && judgement.shift != 0;
  if (judgement.verdict != TrackVerdict::regressed && !waits) return;
  judgement.verdict = TrackVerdict::pass;
  judgement.suspected = false;
  judgement.reason = fmt::format("accepted: {}", reason);
  judgement.next_step.clear();
}

/// `runs` are all of the database.
BaselineRuns baseline_of(const Store& from, const std::vector<Run>& runs, std::int64_t head,
                         const TrackRequest& request) {
  if (!request.frozen.empty()) {
    BaselineRuns known;
    for (const FrozenBaseline& each : from.frozen())
      if (each.name == request.frozen)
        for (const Run& run : runs)
          if (run.id != head && std::ranges::find(each.runs, run.id) != each.runs.end()) known.runs.push_back(run);
    return known;
  }
  std::set<std::int64_t> accepted;
  for (const Acceptance& each : from.acceptances()) accepted.insert(each.run);
  return baseline_runs(runs, head, request.baseline, request.rule.most_runs, accepted);
}

std::vector<std::vector<CaseResult>> answers_of(const Store& store, const std::vector<Run>& runs) {
  std::vector<std::vector<CaseResult>> all;
  for (const Run& run : runs) all.push_back(store.of_run(run.id));
  return all;
}

/// The newest run that was to measure what the head was: that of the same gate.
std::optional<std::size_t> complete_run(const std::vector<Run>& runs, const Run& head) {
  const auto gate_of = [](const Run& run) {
    const auto label = run.labels.find("gate");
    return label == run.labels.end() ? std::string() : label->second;
  };
  for (std::size_t i = runs.size(); i > 0; --i)
    if (gate_of(runs[i - 1]) == gate_of(head)) return i - 1;
  return std::nullopt;
}

/// The answer of a run to a question at the place where the head has answered it; null where it has none.
const CaseResult* answer_to(const std::vector<CaseResult>& answers, const Case& asked) {
  const auto found = std::ranges::find_if(answers, [&](const CaseResult& each) {
    return each.status == CaseStatus::done && each.asked.key() == asked.key();
  });
  return found == answers.end() ? nullptr : &*found;
}

/// `Between the commits 3f2a91c and 4b5d7e0.`; empty where they are not known, or one.
std::string commits_between(const Run& before, const Run& after) {
  const std::string from = before.producer().commit(), to = after.producer().commit();
  if (from.empty() || to.empty() || from == to) return "";
  return fmt::format("Between the commits {} and {}.", short_commit(from), short_commit(to));
}

/// Of the cases that are slower or faster than their baseline.
void say_what_changed(const TrackedAnswers& answers, TrackReport& report) {
  for (TrackedResult& result : report.results) {
    const TrackVerdict verdict = result.judgement.verdict;
    if (verdict != TrackVerdict::regressed && verdict != TrackVerdict::improved) continue;
    const auto head = std::ranges::find_if(
        answers.head, [&](const CaseResult& each) { return each.asked.question() == result.sides.question; });
    CausesSide before, after{.runs = {head->samples},
                             .environment = report.head.environment,
                             .has_steps = !head->asked.is_benchmark() && !head->asked.is_collective()};
    const Run *newest = nullptr, *first = &report.head;
    for (std::size_t i = 0; i < answers.baseline.size(); ++i) {
      if (report.runs[i].id == result.judgement.since) {
        first = &report.runs[i];
        break;
      }
      const CaseResult* answer = answer_to(answers.baseline[i], head->asked);
      if (answer == nullptr) continue;
      before.runs.push_back(answer->samples);
      newest = &report.runs[i];
    }
    if (newest == nullptr) continue;
    before.environment = newest->environment;
    if (std::string commits = commits_between(*newest, *first); !commits.empty())
      result.changed.push_back(std::move(commits));
    for (std::string& each : find_causes(before, after).sentences) result.changed.push_back(std::move(each));
  }
}

/// A name that no other result has.
std::string limit_name(const TrackReport& report, const CaseResult& result, const TrackLimit& limit) {
  const auto by_history = std::ranges::find(report.results, result.asked.question(),
                                            [](const TrackedResult& each) { return each.sides.question; });
  std::string name = by_history->sides.name + " (limit)";
  const auto same = [&](const TrackedResult& each) { return each.sides.name == name; };
  if (std::ranges::any_of(report.results, same)) name = fmt::format("{} of {}", name, limit.place);
  return name;
}

/// A verdict for each case that the limit is for, beside those by history.
void hold_to(const TrackLimit& limit, const std::vector<CaseResult>& head, const TrackRule& rule, TrackReport& report) {
  bool found = false;
  for (const CaseResult& result : head) {
    const std::string name = tracked_name(result.asked);
    if (!result.asked.is_timed() || result.status == CaseStatus::failed ||
        lower_case(name).find(lower_case(limit.match)) == std::string::npos)
      continue;
    found = true;
    TrackedSides sides{.name = limit_name(report, result, limit),
                       .question = result.asked.question(),
                       .unit = std::string(unit_of(limit.metric))};
    sides.values.head = limit_values(result, limit.metric);
    sides.values.larger_is_worse = limit.metric == LimitMetric::seconds;
    TrackJudgement judged = judge_limit(sides.values.head, limit, rule);
    report.results.push_back({std::move(sides), std::move(judged)});
  }
  if (!found)
    report.notes.push_back(
        fmt::format("No case has '{}' in its name, for which {} has a limit.", limit.match, limit.place));
}

}  // namespace

BaselineRuns next_baseline(const Store& store, const TrackRequest& request) {
  return baseline_of(store, store.runs(), 0, request);
}

TrackReport check(const Store& store, const TrackRequest& request, const Store* baselines) {
  const std::vector<Run> runs = store.runs();
  TrackReport report{.request = request, .head = head_of(runs, request.head, "--head")};
  const Store& from = baselines != nullptr ? *baselines : store;
  const std::vector<Acceptance> acceptances = store.acceptances();
  BaselineRuns known = baselines == nullptr ? baseline_of(from, runs, report.head.id, request)
                                            : baseline_of(from, from.runs(), 0, request);
  TrackedAnswers answers{.baseline = answers_of(from, known.runs),
                         .head = store.of_run(report.head.id),
                         .earlier = answers_of(from, known.earlier),
                         .complete = complete_run(known.runs, report.head)};
  std::vector<TrackedSides> sides = pair_sides(answers);
  report.runs = std::move(known.runs);
  report.earlier = std::move(known.earlier);
  std::vector<TrackedCase> gate;
  for (const TrackedSides& each : sides) gate.push_back(each.values);
  const std::vector<TrackJudgement> judgements = judge(gate, request.rule);
  for (std::size_t i = 0; i < sides.size(); ++i) {
    TrackJudgement judgement = without_figures(sides[i], judgements[i]);
    for (const Acceptance& each : acceptances)
      if (each.run == report.head.id) accept_change(judgement, each.reason);
    report.results.push_back({std::move(sides[i]), std::move(judgement)});
  }
  report.begins_baseline = baselines == nullptr && request.frozen.empty() && report.runs.empty() &&
                           report.count(TrackVerdict::fresh) > 0 && !is_trial(report.head.labels) &&
                           RunFilter{.labels = request.baseline}.accepts(report.head);
  say_what_changed(answers, report);
  for (const TrackLimit& limit : request.limits) hold_to(limit, answers.head, request.rule, report);
  return report;
}

void keep_verdicts(Store& store, TrackReport& report, const std::string& version, const std::string& now) {
  StoredJudgement judgement{.run = report.head.id,
                            .judged_at = now,
                            .version = version,
                            .baseline = report.baseline_in_words(),
                            .rule = rule_json(report.request.rule)};
  for (const Run& run : report.runs) judgement.runs.push_back(run.uuid);
  for (const Run& run : report.earlier) judgement.earlier.push_back(run.uuid);
  for (const TrackedResult& each : report.results) {
    const TrackJudgement& judged = each.judgement;
    judgement.verdicts.push_back({.question = each.sides.question,
                                  .verdict = std::string(to_string(judged.verdict)),
                                  .reason = judged.reason,
                                  .launches = static_cast<std::int64_t>(judged.head_launches),
                                  .compared = judged.compared(),
                                  .before = judged.before,
                                  .after = judged.after,
                                  .shift = judged.shift,
                                  .interval = judged.interval,
                                  .p = judged.p,
                                  .corrected = judged.corrected});
  }
  const StoredJudgement kept = store.keep(judgement);
  for (std::size_t i = 0; i < report.results.size(); ++i) report.results[i].id = kept.verdicts[i].id;
}

std::int64_t accept(Store& store, int run, const std::string& reason, const std::string& now) {
  if (reason.empty())
    throw Error(ExitCode::usage, "a change is accepted for a reason", "add --reason \"what made it slower, and why\"");
  const Run head = head_of(store.runs(), run, "RUN");
  store.accept({.run = head.id, .reason = reason, .accepted_at = now});
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

void choose_baseline(TrackRequest& request, const std::string& text, const Store& store) {
  constexpr std::string_view kFrozen = "frozen:";
  const bool said = text.starts_with(kFrozen);
  const std::string name = said ? text.substr(kFrozen.size()) : text;
  std::vector<FrozenBaseline> frozen = store.frozen();
  std::vector<std::string_view> names;
  for (const FrozenBaseline& each : frozen) names.push_back(each.name);
  const bool is_frozen = std::ranges::find(names, name) != names.end();
  if (said && names.empty())
    throw Error(ExitCode::usage, fmt::format("--baseline {}: nothing is frozen", text), "hbench track freeze NAME");
  if (said && !is_frozen) throw unknown_name("frozen baseline", name, names);
  const auto on_branch = [&](const Run& run) {
    const auto label = run.labels.find("branch");
    return label != run.labels.end() && label->second == name;
  };
  if (is_frozen && !said && std::ranges::any_of(store.runs(), on_branch))
    throw Error(ExitCode::usage, fmt::format("--baseline {0}: there are a frozen baseline and a branch {0}", text),
                fmt::format("write frozen:{0} or branch={0}", name));
  if (is_frozen)
    request.frozen = name;
  else
    request.baseline = parse_baseline(text);
}

bool parse_fail_on(const std::string& text) {
  if (text == "inconclusive") return true;
  if (text == "regressed") return false;
  throw unknown_name("verdict to fail on", text, {{"regressed", "inconclusive"}});
}

}  // namespace hbench

#include "bench/track/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/track/rule_json.hpp"
#include "bench/track/words.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

/// A run in one of several databases.
struct StoredRun {
  const Store* store = nullptr;
  Run run;
};

/// By UUID; of those that several databases have, the first database's.
std::map<std::string, StoredRun> runs_of(const std::vector<const Store*>& stores) {
  std::map<std::string, StoredRun> known;
  for (const Store* store : stores)
    for (const Run& run : store->runs()) known.try_emplace(run.uuid, StoredRun{store, run});
  return known;
}

/// The runs with these UUIDs, in their order, as answers; counts those that nobody has.
std::vector<std::vector<CaseResult>> answers_of(const std::vector<std::string>& uuids,
                                                const std::map<std::string, StoredRun>& known, std::size_t& lost) {
  std::vector<std::vector<CaseResult>> all;
  for (const std::string& uuid : uuids) {
    const auto found = known.find(uuid);
    if (found == known.end())
      ++lost;
    else
      all.push_back(found->second.store->of_run(found->second.run.id));
  }
  return all;
}

/// The launches of a run, as `12.31 ms, 12.35 ms`.
std::string launches_text(const Launch& launches, const std::string& unit) {
  std::vector<std::string> all;
  for (const double value : launches) all.push_back(value_text(value, unit));
  return fmt::format("{}", fmt::join(all, ", "));
}

Table launches_table(const Explanation& explanation) {
  Table table{.caption = "Launches: the median over iterations",
              .columns = {"run", "middle", "launches"},
              .numeric = {false, true, false},
              .priority = {0, 0, 1},
              .first_rows = 40};
  const auto add = [&](const std::string& what, const Launch& launches) {
    table.rows.push_back(
        {what, value_text(median(launches), explanation.unit), launches_text(launches, explanation.unit)});
  };
  for (const Launch& each : explanation.values.earlier) add("before an accepted change", each);
  for (const Launch& each : explanation.values.baseline) add("baseline", each);
  const auto& head = explanation.values.head;
  const std::size_t first = deciding_launches(head.size(), explanation.rule);
  const Launch deciding(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(first));
  const Launch confirming(head.begin() + static_cast<std::ptrdiff_t>(first), head.end());
  if (!deciding.empty()) add("judged: decide", deciding);
  if (!confirming.empty()) add("judged: confirm", confirming);
  return table;
}

Table steps_table(const Explanation& explanation) {
  const StoredVerdict& verdict = explanation.verdict;
  Table table{.caption = "What the rule asks, and what it found",
              .columns = {"question", "found", "asked for"},
              .numeric = {false, false, false}};
  const TrackRule& rule = explanation.rule;
  const auto add = [&](std::string what, std::string found, std::string wanted) {
    table.rows.push_back({std::move(what), std::move(found), std::move(wanted)});
  };
  add("How large is the change?",
      fmt::format("{}, 95 % {}", signed_percent(verdict.shift), interval_text(verdict.interval)),
      fmt::format("{:.3g} % at least", 100 * rule.least_effect));
  add("How often does chance alone give it?",
      fmt::format("p {:.2g}, over the gate {:.2g}", verdict.p, verdict.corrected),
      fmt::format("{:g} % at most", 100 * rule.level));
  if (explanation.again)
    add("By how much do runs of the baseline differ?", fmt::format("{:.2g} %", 100 * explanation.again->resolution),
        fmt::format("less than the change ({:g} deviations)", rule.spread));
  const auto launches = static_cast<std::size_t>(verdict.launches);
  const std::size_t further = launches - deciding_launches(launches, rule);
  add("Was it found again?", fmt::format("{} further launches", further),
      rule.confirming > 0 ? fmt::format("{} of them, before it is called a change", rule.confirming) : "not asked for");
  return table;
}

std::string verdict_text(const Explanation& explanation) {
  const StoredVerdict& verdict = explanation.verdict;
  std::string text = fmt::format("Verdict {} on run {}, {}: {}: {}.", verdict.id, explanation.judgement.run,
                                 explanation.name, verdict.verdict, verdict.reason);
  if (explanation.lost > 0)
    return text +
           fmt::format(" It cannot be given again: {} runs of the baseline are not in the database.", explanation.lost);
  if (!explanation.again) return text;
  const std::string_view now = to_string(explanation.again->verdict);
  return text + (now == verdict.verdict
                     ? " The same rule on the same launches says so again."
                     : fmt::format(" This version says {} of the same launches: {}.", now, explanation.again->reason));
}

}  // namespace

Explanation explain(const Store& store, std::int64_t verdict, const Store* baselines) {
  std::optional<StoredJudgement> judgement = store.judgement_of(verdict);
  if (!judgement)
    throw Error(ExitCode::usage, fmt::format("there is no verdict {}", verdict),
                "hbench track explain lists those of the newest run that was checked");
  Explanation known{
      .judgement = std::move(*judgement), .verdict = {}, .rule = {}, .name = {}, .unit = {}, .values = {}, .again = {}};
  known.verdict = *std::ranges::find(known.judgement.verdicts, verdict, &StoredVerdict::id);
  known.rule = parse_rule(known.judgement.rule);
  std::vector<const Store*> stores{&store};
  if (baselines != nullptr) stores.push_back(baselines);
  const std::map<std::string, StoredRun> runs = runs_of(stores);
  const TrackedAnswers answers{.baseline = answers_of(known.judgement.runs, runs, known.lost),
                               .head = store.of_run(known.judgement.run),
                               .earlier = answers_of(known.judgement.earlier, runs, known.lost)};
  // Launches may have been added since.
  std::map<std::string, std::size_t> judged_launches;
  for (const StoredVerdict& each : known.judgement.verdicts)
    judged_launches.emplace(each.question, static_cast<std::size_t>(each.launches));
  std::vector<TrackedCase> gate;
  std::vector<std::string> questions;
  for (TrackedSides& each : pair_sides(answers)) {
    Launch& head = each.values.head;
    head.resize(std::min(head.size(), judged_launches[each.question]));
    if (each.question == known.verdict.question) {
      known.name = each.name;
      known.unit = each.unit;
      known.values = each.values;
    }
    questions.push_back(each.question);
    gate.push_back(std::move(each.values));
  }
  if (known.name.empty()) known.name = known.verdict.question;
  const auto at = std::ranges::find(questions, known.verdict.question);
  // What was held to a limit, has failed or does not compare is no matter of launches.
  const bool of_launches = known.verdict.compared && known.verdict.p < 1;
  if (known.lost == 0 && at != questions.end() && of_launches)
    known.again = judge(gate, known.rule)[static_cast<std::size_t>(at - questions.begin())];
  return known;
}

Document explanation_document(const Explanation& explanation) {
  Document document{.title = fmt::format("Verdict {}", explanation.verdict.id), .blocks = {}};
  document.blocks.emplace_back(Verdict{verdict_text(explanation)});
  if (explanation.verdict.compared) document.blocks.emplace_back(steps_table(explanation));
  if (Table launches = launches_table(explanation); !launches.rows.empty())
    document.blocks.emplace_back(std::move(launches));
  document.blocks.emplace_back(
      Paragraph{fmt::format("Given at {} by hbench {}, against {}.", explanation.judgement.judged_at,
                            explanation.judgement.version, explanation.judgement.baseline)});
  return document;
}

std::string explanation_json(const Explanation& explanation) {
  const StoredVerdict& verdict = explanation.verdict;
  Json json{{"verdict_id", verdict.id},
            {"run", explanation.judgement.run},
            {"name", explanation.name},
            {"question", verdict.question},
            {"verdict", verdict.verdict},
            {"reason", verdict.reason},
            {"judged_at", explanation.judgement.judged_at},
            {"version", explanation.judgement.version},
            {"baseline", explanation.judgement.baseline},
            {"rule", Json::parse(explanation.judgement.rule)},
            {"lost_runs", explanation.lost},
            {"baseline_launches", explanation.values.baseline},
            {"earlier_launches", explanation.values.earlier},
            {"head_launches", explanation.values.head}};
  json["again"] = explanation.again ? Json(std::string(to_string(explanation.again->verdict))) : Json();
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Document verdicts_document(const Store& store, std::int64_t run) {
  std::vector<StoredJudgement> judgements;
  const std::vector<Run> runs = store.runs();
  for (auto each = runs.rbegin(); each != runs.rend() && judgements.empty(); ++each)
    if (run == 0 || each->id == run) judgements = store.judgements(each->id);
  if (judgements.empty())
    throw Error(ExitCode::usage, run == 0 ? "no run was checked yet" : fmt::format("run {} was not checked yet", run),
                "hbench track check");
  Document document{.title = fmt::format("Verdicts on run {}", judgements.front().run), .blocks = {}};
  std::map<std::string, std::string> names;
  for (const CaseResult& result : store.of_run(judgements.front().run))
    names[result.asked.question()] = tracked_name(result.asked);
  for (const StoredJudgement& judgement : judgements) {
    Table table{.caption = fmt::format("{}, against {}", judgement.judged_at, judgement.baseline),
                .columns = {"verdict", "case", "says", "change", "why"},
                .numeric = {true, false, false, true, false},
                .priority = {0, 0, 0, 1, 2},
                .first_rows = 20};
    for (const StoredVerdict& each : judgement.verdicts)
      table.rows.push_back({fmt::format("{}", each.id),
                            names.contains(each.question) ? names[each.question] : each.question, each.verdict,
                            each.compared ? signed_percent(each.shift) : "-", each.reason});
    document.blocks.emplace_back(std::move(table));
  }
  document.blocks.emplace_back(Paragraph{"hbench track explain VERDICT says how one came about."});
  return document;
}

}  // namespace hbench

#include "analysis/track/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/track/rule_json.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

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

}  // namespace

Explanation explain(const Store& store, std::int64_t verdict, const Store* baselines) {
  std::optional<StoredJudgement> judgement = store.judgement_of(verdict);
  if (!judgement)
    throw Error(ExitCode::usage, fmt::format("there is no verdict {}", verdict),
                "hbench track explain lists those of the newest run that was checked");
  Explanation known{.judgement = std::move(*judgement)};
  const auto stored = std::ranges::find(known.judgement.verdicts, verdict, &StoredVerdict::id);
  if (stored == known.judgement.verdicts.end())
    throw Error(ExitCode::wrong_data, fmt::format("verdict {} is of a judgement that does not have it", verdict),
                "the database is damaged: hbench db check");
  known.verdict = *stored;
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

CheckedRun checked_run(const Store& store, std::int64_t run) {
  CheckedRun checked;
  const std::vector<Run> runs = store.runs();
  for (auto each = runs.rbegin(); each != runs.rend() && checked.judgements.empty(); ++each)
    if (run == 0 || each->id == run) checked.judgements = store.judgements(each->id);
  if (checked.judgements.empty())
    throw Error(ExitCode::usage, run == 0 ? "no run was checked yet" : fmt::format("run {} was not checked yet", run),
                "hbench track check");
  checked.run = checked.judgements.front().run;
  for (const CaseResult& result : store.of_run(checked.run))
    checked.names[result.asked.question()] = tracked_name(result.asked);
  return checked;
}

}  // namespace hbench

#include "bench/track/pair.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/points/tracked_metric.hpp"
#include "analysis/records/case_fields.hpp"
#include "analysis/records/fingerprint.hpp"
#include "analysis/records/judgements.hpp"
#include "bench/command/command_line.hpp"

namespace hbench {
namespace {

/// A launch's value of each case, by the case's question; and the cases that failed in it.
struct Answers {
  std::map<std::string, double> values;
  std::map<std::string, const CaseResult*> failed;
};

/// Ratios are of nothing else.
bool is_positive(double value) { return std::isfinite(value) && value > 0; }

Answers answers_of(const std::vector<CaseResult>& cases) {
  Answers answers;
  for (const CaseResult& result : cases) {
    const std::string question = result.asked.question();
    if (result.status == CaseStatus::failed)
      answers.failed[question] = &result;
    else if (const Launch values = launch_values(result); !values.empty() && is_positive(values.front()))
      answers.values[question] = values.front();
  }
  return answers;
}

TrackedSides side_of(const CaseResult& result) {
  const TrackedMetric metric = tracked_metric(result);
  TrackedSides side{.name = tracked_name(result.asked), .question = result.asked.question(), .unit = metric.unit};
  side.values.larger_is_worse = metric.larger_is_worse;
  return side;
}

/// As the hint of an error, of which all lines but the first are indented here.
std::string indented(std::string_view text) {
  std::string lines;
  for (const char c : text) lines += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return lines;
}

/// What is done, and on how many GPUs, however: the same by another algorithm, say.
std::string work_of(const Case& asked) {
  Case work = asked;
  const Case unset;
  for (const CaseField& field : case_fields())
    if (field.part == Part::way && field.name != "gpus") field.set(work, field.get(unset));
  return work.question();
}

/// A launch's cases that the other side lacks, by their work. Null: there are several of the same work.
std::map<std::string, const CaseResult*> lacking(const CommandLaunch& launch, const CommandLaunch& other) {
  std::set<std::string> known;
  for (const CaseResult& result : other.cases) known.insert(result.asked.question());
  std::map<std::string, const CaseResult*> lone;
  for (const CaseResult& result : launch.cases) {
    if (known.contains(result.asked.question())) continue;
    const auto [place, added] = lone.try_emplace(work_of(result.asked), &result);
    if (!added) place->second = nullptr;
  }
  return lone;
}

class PairedTurns {
 public:
  PairedTurns(const PairRequest& request, const PairHooks& hooks) : request_(request), hooks_(hooks) {}

  TrackReport run() {
    if (warm_up()) {
      measure_until(rule_.pairs);
      if (!stopped_ && sees_changes()) {
        hooks_.note("a case looks slower or faster: further pairs show whether it does again");
        measure_until(most_);
      }
    }
    return report();
  }

 private:
  /// False when interrupted. The head's cases come first, in its order.
  bool warm_up() {
    const CommandLaunch base = first_launch(request_.base);
    if (hooks_.interrupted()) return false;
    const CommandLaunch head = first_launch(request_.head);
    if (hooks_.interrupted()) return false;
    match_ways(base, head);
    for (const CommandLaunch* launch : {&head, &base})
      for (const CaseResult& result : launch->cases) add_case(result);
    if (sides_.empty())
      throw Error(ExitCode::usage, fmt::format("no case has '{}' in its name", request_.metric),
                  fmt::format("there are: {}", fmt::join(names_, ", ")));
    const Answers of_base = base_answers(base), of_head = answers_of(head.cases);
    for (TrackedSides& side : sides_) note_absence(side, of_base, of_head);
    const auto common = static_cast<std::size_t>(std::ranges::count_if(sides_, [&](const TrackedSides& side) {
      return of_base.values.contains(side.question) && of_head.values.contains(side.question);
    }));
    rule_ = request_.rule;
    rule_.pairs = request_.launches > 0 ? request_.launches : default_pairs(common, rule_.level);
    most_ = std::max(request_.most_launches > 0 ? request_.most_launches : 2 * rule_.pairs, rule_.pairs);
    stopped_ = common == 0;
    if (!stopped_) hooks_.begins(common, rule_, most_);
    return true;
  }

  /// Where the sides do the same work in different ways, each is held to the other.
  void match_ways(const CommandLaunch& base, const CommandLaunch& head) {
    const std::map<std::string, const CaseResult*> heads = lacking(head, base);
    for (const auto& [work, of_base] : lacking(base, head)) {
      const auto found = heads.find(work);
      if (of_base != nullptr && found != heads.end() && found->second != nullptr)
        ways_[of_base->asked.question()] = found->second->asked.question();
    }
  }

  /// By the head's questions.
  Answers base_answers(const CommandLaunch& launch) const {
    Answers answers = answers_of(launch.cases);
    for (const auto& [of_base, of_head] : ways_) {
      if (auto value = answers.values.extract(of_base)) {
        value.key() = of_head;
        answers.values.insert(std::move(value));
      }
      if (auto failed = answers.failed.extract(of_base)) {
        failed.key() = of_head;
        answers.failed.insert(std::move(failed));
      }
    }
    return answers;
  }

  /// \throws Error where it fails.
  CommandLaunch first_launch(const MeasuredCommand& command) {
    CommandLaunch launch = hooks_.launch(command);
    if (launch.code != ExitCode::good && !hooks_.interrupted())
      throw Error(launch.code, launch.reason, indented(launch.said));
    return launch;
  }

  void add_case(const CaseResult& result) {
    TrackedSides side = side_of(result);
    if (const auto way = ways_.find(side.question); way != ways_.end()) {
      const auto head = std::ranges::find(sides_, way->second, &TrackedSides::question);
      if (head != sides_.end()) head->name += fmt::format(" against {}", side.name);
      return;
    }
    if (std::ranges::find(sides_, side.question, &TrackedSides::question) != sides_.end()) return;
    names_.push_back(side.name);
    if (side.name.find(request_.metric) != std::string::npos) sides_.push_back(std::move(side));
  }

  /// What only one side prints has that side's one value, so that it is called missing or new.
  static void note_absence(TrackedSides& side, const Answers& base, const Answers& head) {
    const auto before = base.values.find(side.question), after = head.values.find(side.question);
    const bool failed = note_failure(side, "head", head) || note_failure(side, "base", base);
    if (failed || (before != base.values.end() && after != head.values.end())) return;
    if (before != base.values.end()) side.values.baseline = {{before->second}};
    if (after != head.values.end()) side.values.head = {after->second};
  }

  static bool note_failure(TrackedSides& side, std::string_view name, const Answers& answers) {
    const auto found = answers.failed.find(side.question);
    if (found == answers.failed.end() || !side.failure.empty()) return !side.failure.empty();
    side.failure = fmt::format("on the side of the {}: {}", name, found->second->failure);
    side.failure_code = found->second->exit_code;
    return true;
  }

  void measure_until(int pairs) {
    while (pairs_ < pairs && !stopped_) {
      const std::optional<PairLaunches> pair = launch_pair();
      if (!pair) continue;
      add(*pair);
      hooks_.keep(pairs_++, *pair);
    }
  }

  /// None where a launch failed, or was interrupted.
  std::optional<PairLaunches> launch_pair() {
    PairLaunches pair;
    const bool head_first = pairs_ % 2 == 1;
    for (const bool head : {head_first, !head_first}) {
      CommandLaunch& launch = head ? pair.head : pair.base;
      launch = hooks_.launch(head ? request_.head : request_.base);
      if (hooks_.interrupted()) stopped_ = true;
      if (!stopped_ && launch.code != ExitCode::good) note_failed(launch, head);
      if (stopped_ || launch.code != ExitCode::good) return std::nullopt;
    }
    return pair;
  }

  void note_failed(const CommandLaunch& launch, bool head) {
    hooks_.note(launch.said.empty() ? launch.reason : fmt::format("{}\n  {}", launch.reason, indented(launch.said)));
    if (++(head ? failed_heads_ : failed_bases_) < kMostFailedLaunches) return;
    stopped_ = true;
    for (TrackedSides& side : sides_) {
      if (!side.failure.empty()) continue;
      side.failure = launch.reason;
      side.failure_code = static_cast<int>(launch.code);
    }
  }

  void add(const PairLaunches& pair) {
    const Answers base = base_answers(pair.base), head = answers_of(pair.head.cases);
    for (TrackedSides& side : sides_) {
      note_failure(side, "head", head);
      note_failure(side, "base", base);
      // What failed once, or was there on one side only at first, stays what it is called.
      if (!side.failure.empty() || side.values.baseline.empty() != side.values.head.empty()) continue;
      const auto before = base.values.find(side.question), after = head.values.find(side.question);
      if (before == base.values.end() || after == head.values.end()) continue;
      if (side.values.baseline.empty()) side.values.baseline.emplace_back();
      side.values.baseline.front().push_back(before->second);
      side.values.head.push_back(after->second);
    }
  }

  std::vector<TrackJudgement> judged(const PairRule& rule) const {
    std::vector<TrackedCase> gate;
    for (const TrackedSides& side : sides_) gate.push_back(side.values);
    return judge_pairs(gate, rule);
  }

  bool sees_changes() const {
    PairRule unconfirmed = rule_;
    unconfirmed.confirm = false;
    return rule_.confirm && std::ranges::any_of(judged(unconfirmed), [](const TrackJudgement& each) {
             return each.verdict == TrackVerdict::regressed || each.verdict == TrackVerdict::improved;
           });
  }

  TrackReport report() const {
    TrackReport report;
    report.request.fail_on_inconclusive = request_.fail_on_inconclusive;
    report.paired = PairedSides{.base = without_secrets(request_.base.text),
                                .head = without_secrets(request_.head.text),
                                .rule = rule_,
                                .pairs = pairs_};
    std::vector<TrackJudgement> judgements = judged(rule_);
    for (std::size_t i = 0; i < sides_.size(); ++i)
      report.results.push_back({sides_[i], without_figures(sides_[i], std::move(judgements[i]))});
    return report;
  }

  const PairRequest& request_;
  const PairHooks& hooks_;
  PairRule rule_;
  int most_ = 0, pairs_ = 0, failed_bases_ = 0, failed_heads_ = 0;
  bool stopped_ = false;
  std::vector<TrackedSides> sides_;
  std::map<std::string, std::string> ways_;  ///< the head's question to which one of the base is the other way
  std::vector<std::string> names_;
};

}  // namespace

TrackReport measure_pairs(const PairRequest& request, const PairHooks& hooks) {
  return PairedTurns(request, hooks).run();
}

void check_request(const PairRequest& request) {
  for (const MeasuredCommand* command : {&request.base, &request.head})
    if (command->text.find_first_not_of(" \t\r\n") == std::string::npos)
      throw Error(ExitCode::usage, fmt::format("{} is no command", command->name),
                  "give both sides: --base './old/bench' --head './new/bench'");
  if (request.most_launches > 0 && request.most_launches < request.launches)
    throw Error(ExitCode::usage,
                fmt::format("--max-launches {} is less than --launches {}", request.most_launches, request.launches),
                "it counts the pairs that decide, too");
}

Run run_of_side(Run run, const std::string& side, const std::string& pair) {
  run.labels["side"] = side;
  run.labels[kPairLabel] = pair;
  return run;
}

PairStore::PairStore(const std::filesystem::path& file, const Run& base, const Run& head)
    : base_{.run = base}, head_{.run = head} {
  if (!file.empty()) store_.emplace(file);
}

void PairStore::keep(int number, const PairLaunches& pair) {
  if (!store_) return;
  keep(base_, number, pair.base);
  keep(head_, number, pair.head);
}

void PairStore::keep(Side& side, int number, const CommandLaunch& launch) {
  std::vector<CaseResult> results = launch.cases;
  // What the program knows of its machine is nearer to the truth than what this one sees.
  for (const auto& [name, fact] : launch.environment) side.run.environment[name] = fact;
  for (CaseResult& result : results) {
    place_on_this_machine(result.asked, side.run);
    for (Sample& sample : result.samples) sample.launch = number;
  }
  if (side.run.id == 0) side.run.id = store_->begin_run(side.run);
  for (const CaseResult& result : results) {
    const auto [known, added] = side.cases.try_emplace(result.asked.question(), 0);
    if (added)
      known->second = store_->append(side.run.id, result);
    else
      store_->add(known->second, result.samples);
  }
}

}  // namespace hbench

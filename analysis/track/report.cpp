#include "analysis/track/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include "analysis/points/collectives.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "analysis/records/words.hpp"

namespace hbench {
namespace {

/// What is done in a launch's time: 1, samples, or bytes on the bus; 0 where the metric does not apply.
double work_of(const CaseResult& result, LimitMetric metric) {
  const Case& asked = result.asked;
  switch (metric) {
    case LimitMetric::seconds:
      return tracked_metric(result).unit == "s" ? 1 : 0;
    case LimitMetric::samples_per_second:
      return asked.is_collective() ? 0 : static_cast<double>(asked.batch_per_gpu) * asked.gpus;
    case LimitMetric::bus_bandwidth:
      break;
  }
  if (!asked.is_collective()) return 0;
  return static_cast<double>(asked.collective.bytes) * bus_factor(asked.collective.name, asked.gpus);
}

}  // namespace

std::string_view unit_of(LimitMetric metric) {
  constexpr std::array<std::string_view, 3> kUnits{"s", "samples/s", "B/s"};
  return kUnits.at(static_cast<std::size_t>(metric));
}

Launch limit_values(const CaseResult& result, LimitMetric metric) {
  const double work = work_of(result, metric);
  if (work <= 0) return {};
  Launch values = launch_values(result);
  if (metric != LimitMetric::seconds)
    for (double& value : values) value = work / value;
  return values;
}

TrackJudgement judge_limit(const Launch& values, const TrackLimit& limit, const TrackRule& rule) {
  TrackJudgement judged;
  judged.head_launches = values.size();
  const auto decide = [&](TrackVerdict verdict, std::string reason, std::string next_step) {
    judged.decide(verdict, fmt::format("{} ({})", reason, limit.place), std::move(next_step));
    return judged;
  };
  if (values.empty())
    return decide(TrackVerdict::missing, "there is a limit, and no launch in its unit", "give the limit another unit");
  // By which share each is worse than the value.
  const double sign = limit.metric == LimitMetric::seconds ? 1 : -1;
  std::vector<double> worse;
  for (const double value : values) worse.push_back(sign * (value / limit.value - 1));
  const auto [least, most] = std::ranges::minmax(worse);
  const double middle = median(worse);
  judged.before = limit.value;
  judged.after = median(values);
  judged.shift = sign * middle;
  judged.interval = sign > 0 ? Interval{least, most} : Interval{-most, -least};
  judged.against_limit = true;
  const std::string seen =
      fmt::format("{:.3g} % {} than the limit's value", 100 * std::abs(middle), middle > 0 ? "worse" : "better");
  const std::string allowed = fmt::format("{:.3g} % are allowed", 100 * limit.worse);
  judged.suspected = std::ssize(values) < rule.launches && least > limit.worse;
  if (std::ssize(values) < rule.launches)
    return decide(TrackVerdict::inconclusive, fmt::format("{} of {} launches", values.size(), rule.launches),
                  fmt::format("measure {} launches", rule.launches));
  if (least > limit.worse)
    return decide(TrackVerdict::regressed, fmt::format("{}, {}", seen, allowed),
                  "look for what is slow (hbench doctor)");
  if (middle > limit.worse)
    return decide(TrackVerdict::inconclusive, fmt::format("{}, {}, and some launches are within", seen, allowed),
                  "measure more launches");
  if (limit.better > 0 && most < -limit.better)
    return decide(TrackVerdict::inconclusive,
                  fmt::format("{}, which is more than {:.3g} %: too good", seen, 100 * limit.better),
                  "find out whether it does its work, or give the limit another value");
  if (limit.warn > 0 && middle > limit.warn)
    return decide(TrackVerdict::pass, fmt::format("near its limit: {}, {}", seen, allowed),
                  "look at it before it is beyond");
  return decide(TrackVerdict::pass, fmt::format("{}, {}", seen, allowed), "");
}

using OrderedJson = nlohmann::ordered_json;

std::string rule_json(const TrackRule& rule) {
  return OrderedJson{{"least_effect", rule.least_effect},
                     {"level", rule.level},
                     {"spread", rule.spread},
                     {"most_runs", rule.most_runs},
                     {"fewest_runs", rule.fewest_runs},
                     {"launches", rule.launches},
                     {"confirming", rule.confirming}}
      .dump();
}

std::size_t TrackReport::count(TrackVerdict verdict) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(results, [&](const TrackedResult& each) { return each.judgement.verdict == verdict; }));
}

std::string TrackReport::baseline_in_words() const {
  if (!request.frozen.empty()) return fmt::format("the frozen baseline {}", request.frozen);
  return labels_text(request.baseline);
}

ExitCode TrackReport::exit_code() const {
  for (const ExitCode code : {ExitCode::wrong_data, ExitCode::lost_rank})
    if (std::ranges::any_of(
            results, [&](const TrackedResult& each) { return each.sides.failure_code == static_cast<int>(code); }))
      return code;
  for (const TrackedResult& each : results)
    if (each.sides.failure_code != 0) return static_cast<ExitCode>(each.sides.failure_code);
  if (count(TrackVerdict::regressed) > 0) return ExitCode::regressed;
  const auto fails = [&](const TrackedResult& each) {
    const TrackJudgement& judged = each.judgement;
    return judged.verdict == TrackVerdict::inconclusive && (request.fail_on_inconclusive || judged.suspected);
  };
  if (std::ranges::any_of(results, fails)) return ExitCode::inconclusive;
  const bool none = std::ranges::none_of(results, [](const TrackedResult& each) { return each.judgement.compared(); });
  return (none && !begins_baseline) || count(TrackVerdict::incomparable) > 0 ? ExitCode::not_comparable
                                                                             : ExitCode::good;
}

TrackJudgement without_figures(const TrackedSides& sides, TrackJudgement judgement) {
  if (!sides.failure.empty()) {
    judgement.suspected = false;
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

}  // namespace hbench

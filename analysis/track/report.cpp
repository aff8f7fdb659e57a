#include "analysis/track/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/records/words.hpp"

namespace hbench {

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
  return none || count(TrackVerdict::incomparable) > 0 ? ExitCode::not_comparable : ExitCode::good;
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

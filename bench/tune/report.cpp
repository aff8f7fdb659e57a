#include "bench/tune/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// Simulated times that differ by less are called equal: no prediction is that exact.
constexpr double kSameTime = 0.005;

std::string_view to_string(Standing::Verdict verdict) {
  constexpr std::array<std::string_view, 5> kNames{"best", "noise", "slower", "dropped", "failed"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::string in_words(const Standing& standing, bool simulated) {
  switch (standing.verdict) {
    case Standing::Verdict::best:
      return "best";
    case Standing::Verdict::equal:
      return simulated ? "as fast as the best" : "no worse than the best: noise";
    case Standing::Verdict::slower:
      return fmt::format("slower by {:.1f} %", 100 * standing.slower_by);
    case Standing::Verdict::dropped:
      return fmt::format("dropped early, {:.0f} % slower then", 100 * standing.slower_by);
    case Standing::Verdict::failed:
      break;
  }
  return "failed";
}

std::string interval_text(const Standing& standing) {
  if (standing.launches < 2 || standing.interval.low == standing.interval.high) return "-";
  return fmt::format("{} to {}", format(Seconds(standing.interval.low)), format(Seconds(standing.interval.high)));
}

std::vector<const TunedSetting*> from_best_to_worst(const Tuning& tuning) {
  std::vector<const TunedSetting*> sorted;
  for (const TunedSetting& setting : tuning.settings) sorted.push_back(&setting);
  // Of those that were dropped nothing is known that compares with the final.
  std::ranges::stable_sort(sorted, {}, [](const TunedSetting* setting) {
    const Standing& standing = setting->standing;
    const int group = standing.verdict == Standing::Verdict::failed    ? 2
                      : standing.verdict == Standing::Verdict::dropped ? 1
                                                                       : 0;
    return std::pair(group, standing.median);
  });
  return sorted;
}

void setting_fields(Row& row, const TunedSetting& setting, bool simulated) {
  const Standing& standing = setting.standing;
  const bool known = standing.median > 0;
  row.field("fusion", setting.fusion).in("fusion");
  row.field("verdict", to_string(standing.verdict), "best, noise, slower, dropped or failed");
  row.field("launches", if_known(!simulated, standing.launches)).in("launches");
  row.field("step_seconds", if_known(known, standing.median), "median").in("median step", [](double seconds) {
    return format(Seconds(seconds));
  });
  row.field("step_seconds_low", if_known(known, standing.interval.low), "95 % for a repeat");
  row.field("step_seconds_high", if_known(known, standing.interval.high), "95 % for a repeat");
  row.number("95 % for a repeat", interval_text(standing));
  row.field("slower_by", if_known(known, standing.slower_by), "than the best, as a fraction");
  row.field("p", if_known(!simulated, standing.p), "of the rank test");
  row.words("verdict", in_words(standing, simulated));
}

const TunedSetting& best_of(const Tuning& tuning) {
  const auto found = std::ranges::find(tuning.settings, Standing::Verdict::best,
                                       [](const TunedSetting& setting) { return setting.standing.verdict; });
  return found == tuning.settings.end() ? tuning.settings.front() : *found;
}

std::string sweep_flags(const Tuning& tuning) {
  const std::string where =
      tuning.simulated() ? fmt::format("--profile {} --evidence simulated", tuning.profile) : "--evidence measured";
  return fmt::format("hbench sweep --gpus {} --workload {} --algorithm {} --compressor {} --fusion {} {}", tuning.gpus,
                     tuning.workload, tuning.algorithm, tuning.compressor, recommended(tuning).fusion, where);
}

}  // namespace

std::vector<Standing> simulated_standings(const std::vector<double>& seconds) {
  const double least = *std::ranges::min_element(seconds);
  std::vector<Standing> standings;
  bool best_found = false;
  for (const double time : seconds) {
    Standing& standing = standings.emplace_back();
    standing.launches = 1;
    standing.median = time;
    standing.interval = {time, time};
    standing.slower_by = time / least - 1;
    standing.verdict = standing.slower_by < kSameTime ? Standing::Verdict::equal : Standing::Verdict::slower;
    if (time == least && !best_found) {
      standing.verdict = Standing::Verdict::best;
      best_found = true;
    }
  }
  return standings;
}

const TunedSetting& recommended(const Tuning& tuning) {
  const TunedSetting& reference = tuning.settings.front();
  return reference.standing.verdict == Standing::Verdict::equal ? reference : best_of(tuning);
}

Table tuning_table(const Tuning& tuning) {
  return table_of(from_best_to_worst(tuning),
                  [&](Row& row, const TunedSetting& setting) { setting_fields(row, setting, tuning.simulated()); });
}

std::string tuning_advice(const Tuning& tuning) {
  const TunedSetting& reference = tuning.settings.front();
  const TunedSetting& taken = recommended(tuning);
  std::string advice;
  if (&taken == &reference)
    advice =
        fmt::format("Keep {}: nothing is faster{}", reference.fusion, tuning.simulated() ? "" : " by more than noise");
  else if (reference.standing.verdict == Standing::Verdict::slower)
    advice = fmt::format("Take {}: {} needs {:.1f} % longer{}", taken.fusion, reference.fusion,
                         100 * reference.standing.slower_by,
                         tuning.simulated() ? "" : fmt::format(" (p = {:.2g})", reference.standing.p));
  else
    advice = fmt::format("Take {}", taken.fusion);
  return fmt::format("{}.\n  {}\n", advice, sweep_flags(tuning));
}

std::string tuning_json(const Tuning& tuning, Form form) {
  return object_text(form, "hbench tune --json", tuning, [](Row& row, const Tuning& of) {
    row.field("workload", of.workload);
    row.field("gpus", of.gpus);
    row.field("evidence", of.simulated() ? "simulated" : "measured");
    row.field("profile", of.simulated() ? of.profile : "local");
    row.field("algorithm", of.algorithm);
    row.field("compressor", of.compressor);
    row.field("reference", of.settings.front().fusion, "that others are compared with");
    row.field("best", best_of(of).fusion);
    row.field("recommended", recommended(of).fusion, "the reference unless another is really faster");
    row.field("flag", fmt::format("--fusion {}", recommended(of).fusion), "of hbench sweep");
    row.rows(
        "settings", from_best_to_worst(of),
        [&](Row& each, const TunedSetting& setting) { setting_fields(each, setting, of.simulated()); },
        "from best to worst");
  });
}

}  // namespace hbench

#include "bench/tune/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

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
  Table table{.columns = {"fusion", "launches", "median step", "95 % for a repeat", "verdict"},
              .numeric = {false, true, true, true, false}};
  for (const TunedSetting* setting : from_best_to_worst(tuning)) {
    const Standing& standing = setting->standing;
    table.rows.push_back({setting->fusion, tuning.simulated() ? "-" : std::to_string(standing.launches),
                          standing.median > 0 ? format(Seconds(standing.median)) : "-", interval_text(standing),
                          in_words(standing, tuning.simulated())});
  }
  return table;
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

std::string tuning_json(const Tuning& tuning) {
  using Json = nlohmann::ordered_json;
  Json settings = Json::array();
  for (const TunedSetting* setting : from_best_to_worst(tuning)) {
    const Standing& standing = setting->standing;
    const bool known = standing.median > 0;
    settings.push_back({{"fusion", setting->fusion},
                        {"verdict", to_string(standing.verdict)},
                        {"launches", tuning.simulated() ? Json(nullptr) : Json(standing.launches)},
                        {"step_seconds", known ? Json(standing.median) : Json(nullptr)},
                        {"step_seconds_low", known ? Json(standing.interval.low) : Json(nullptr)},
                        {"step_seconds_high", known ? Json(standing.interval.high) : Json(nullptr)},
                        {"slower_by", known ? Json(standing.slower_by) : Json(nullptr)},
                        {"p", tuning.simulated() ? Json(nullptr) : Json(standing.p)}});
  }
  const Json object{{"workload", tuning.workload},
                    {"gpus", tuning.gpus},
                    {"evidence", tuning.simulated() ? "simulated" : "measured"},
                    {"profile", tuning.simulated() ? tuning.profile : "local"},
                    {"algorithm", tuning.algorithm},
                    {"compressor", tuning.compressor},
                    {"reference", tuning.settings.front().fusion},
                    {"best", best_of(tuning).fusion},
                    {"recommended", recommended(tuning).fusion},
                    {"flag", fmt::format("--fusion {}", recommended(tuning).fusion)},
                    {"settings", settings}};
  return object.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hbench

#include <fmt/format.h>

#include "analysis/points/lead.hpp"
#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

std::string configuration(const Point* point) { return point ? ScalingWords::in_brief(point->asked.strategy) : "-"; }

std::string efficiency_cell(const Point* point) { return point ? percent_cell(point->efficiency) : "-"; }

std::vector<std::string> row_of(const Match& sides, const ScalingWords& words) {
  const Case& asked = sides.better().asked;
  return {words.workload(asked),
          words.network(asked),
          std::to_string(asked.gpus),
          std::string(to_string(asked.evidence)),
          configuration(sides.first),
          efficiency_cell(sides.first),
          configuration(sides.second),
          efficiency_cell(sides.second),
          who_is_ahead(sides, "all-reduce", "servers")};
}

}  // namespace

std::string who_is_ahead(const Match& match, const std::string& first, const std::string& second) {
  if (!match.both()) return "-";
  const Lead lead = match.lead();
  const std::string words = (lead.ratio < 1 ? lead.inverse() : lead).in_words();
  if (const Ahead likely = match.likely(); likely != Ahead::level)
    return fmt::format("{}? {}", likely == Ahead::first ? first : second, words);
  if (lead.who() == Ahead::level) return "level " + words.substr(words.find('('));
  return fmt::format("{} {}", lead.who() == Ahead::first ? first : second, words);
}

Blocks best_of_either_side(const Scaling& scaling) {
  constexpr std::size_t kUnfolded = 30;
  Table table{.caption =
                  "All-reduce against parameter servers, each by its best configuration, on the most GPUs; ahead: "
                  "how many times as fast; ?: likely",
              .columns = {"workload", "network", numbers("GPUs"), "evidence", "best all-reduce", numbers("efficiency"),
                          "best servers", numbers("efficiency of servers"), "ahead"},
              .grouped = true};
  for (const Subject& subject : subjects_by_spread(scaling.input.points))
    for (const Match& sides : best_of_sides(speaking_points(scaling.input.points, subject)))
      if (sides.better().asked.gpus > 1) table.rows.push_back(row_of(sides, scaling.words));
  if (table.rows.empty()) return {};
  table.folded = table.rows.size() > kUnfolded;
  return {std::move(table)};
}

}  // namespace hbench

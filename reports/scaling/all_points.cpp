#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/points/lead.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "analysis/records/words.hpp"
#include "collectives/base/text.hpp"
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

/// Gives each source a number at its first use.
class Sources {
 public:
  std::string reference(const std::string& source) {
    if (source.empty()) return "-";
    const auto [place, added] = places_.try_emplace(source, sources_.size());
    if (added) sources_.push_back(source);
    return number(place->second);
  }

  Table table() const {
    Table table{.caption = "Sources", .columns = {"number", "source"}, .folded = true};
    for (std::size_t i = 0; i < sources_.size(); ++i) table.rows.push_back({number(i), sources_[i]});
    return table;
  }

 private:
  static std::string number(std::size_t i) { return fmt::format("S{}", i + 1); }
  std::vector<std::string> sources_;
  std::map<std::string, std::size_t> places_;
};

Table points_of(Evidence evidence, const Scaling& scaling, Sources& sources) {
  Table table{.columns = {"workload", "network", "strategy", numbers("GPUs"), numbers("batch per GPU"), "evidence",
                          numbers("samples/s"), numbers("efficiency"), numbers("low to high"), numbers("memory"),
                          numbers("sent per GPU"), numbers("unseen"), numbers("idle"), "baseline", "source"},
              .folded = true,
              .grouped = true};
  for (const Point& point : scaling.input.points) {
    const Case& asked = point.asked;
    if (asked.evidence != evidence || point.failed) continue;
    table.rows.push_back({scaling.words.workload(asked), scaling.words.network(asked), scaling.words.strategy(asked),
                          std::to_string(asked.gpus), asked.batch_label(), std::string(to_string(evidence)),
                          rate_cell(point.throughput), percent_cell(point.efficiency), interval_cell(point),
                          memory_cell(point), sent_cell(point), staleness_cell(point), percent_cell(point.idle_share),
                          or_dash(point.baseline_or_reason()), sources.reference(asked.source)});
  }
  std::ranges::stable_sort(table.rows, {}, [](const auto& row) { return row.front(); });
  for (const char* name : {"memory", "sent per GPU", "unseen", "idle"}) erase_if_empty(table, name);
  table.caption = counted(table.rows.size(), fmt::format("{} point", to_string(evidence)));
  return table;
}

}  // namespace

Blocks measured_points(const Scaling& scaling) {
  Table table{.caption = "",
              .columns = {"workload", "where", numbers("ranks"), "nodes x ranks", "strategy", numbers("samples/s"),
                          numbers("per rank"), numbers("efficiency"), numbers("95 % interval"), "baseline",
                          numbers("iterations"), numbers("launches")},
              .grouped = true};
  for (const Point& point : scaling.input.points) {
    const Case& asked = point.asked;
    if (!asked.is_timed() || asked.is_collective() || point.failed) continue;
    table.rows.push_back({scaling.words.workload(asked), scaling.words.network(asked), std::to_string(asked.workers()),
                          or_dash(asked.nodes_label()), scaling.words.strategy(asked), rate_cell(point.throughput),
                          rate_cell(point.throughput_per_gpu), percent_cell(point.efficiency), interval_cell(point),
                          or_dash(point.baseline_or_reason()), std::to_string(point.iterations),
                          std::to_string(point.launches)});
  }
  if (table.rows.empty()) return {};
  std::ranges::stable_sort(table.rows, {}, [](const auto& row) { return row.front(); });
  erase_if_empty(table, "nodes x ranks");
  return {Heading{1, "Measured on this machine"}, std::move(table)};
}

Blocks timed_alone(const Scaling& scaling) {
  Table table{
      .caption = "",
      .columns = {"collective or benchmark", "nodes x ranks", numbers("median"), numbers("launches"), "machine"}};
  std::vector<const Case*> cases;
  for (const CaseResult& each : scaling.input.alone) {
    const Launch launches = each.status == CaseStatus::done ? launch_values(each) : Launch();
    if (launches.empty()) continue;
    cases.push_back(&each.asked);
    table.rows.push_back({"", or_dash(each.asked.nodes_label()),
                          value_text(median(launches), tracked_metric(each).unit), std::to_string(launches.size()),
                          or_dash(each.machine_in_words)});
  }
  if (table.rows.empty()) return {};
  const std::vector<std::string> names = tracked_names(cases);
  for (std::size_t i = 0; i < names.size(); ++i) table.rows[i].front() = names[i];
  return {Heading{1, "Collectives and benchmarks"}, std::move(table)};
}

std::string who_is_ahead(const Match& match, const std::string& first, const std::string& second) {
  if (!match.both()) return "-";
  const Lead lead = match.lead();
  std::string words = (lead.ratio < 1 ? lead.inverse() : lead).in_words();
  if (!lead.is_judged()) return words;
  if (const std::size_t to = words.find(" to "); to != words.npos) words.replace(to, 4, "-");
  if (lead.verdict() == LeadVerdict::level) return "level " + words.substr(words.find('('));
  return fmt::format("{}{} {}", lead.ratio > 1 ? first : second, lead.verdict() == LeadVerdict::likely ? "?" : "",
                     words);
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

Blocks all_points(const Scaling& scaling) {
  Blocks blocks;
  Sources sources;
  for (const EvidenceKind& kind : kEvidenceKinds)
    if (Table table = points_of(kind.evidence, scaling, sources); !table.rows.empty())
      blocks.push_back(std::move(table));
  if (blocks.empty()) return {};
  blocks.insert(blocks.begin(), Heading{1, "All points"});
  if (Table table = sources.table(); !table.rows.empty()) blocks.push_back(std::move(table));
  return blocks;
}

}  // namespace hbench

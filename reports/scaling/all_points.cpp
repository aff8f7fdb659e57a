#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "collectives/base/text.hpp"
#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

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

Blocks all_points(const Scaling& scaling) {
  constexpr std::array kEvidence{Evidence::measured, Evidence::emulated, Evidence::simulated, Evidence::published};
  Blocks blocks;
  Sources sources;
  for (Evidence evidence : kEvidence)
    if (Table table = points_of(evidence, scaling, sources); !table.rows.empty()) blocks.push_back(std::move(table));
  if (blocks.empty()) return {};
  blocks.insert(blocks.begin(), Heading{1, "All points"});
  if (Table table = sources.table(); !table.rows.empty()) blocks.push_back(std::move(table));
  return blocks;
}

}  // namespace hbench

#include "reports/bandwidth/bandwidth.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/rows/fields.hpp"

namespace hbench {
namespace {

char letter(std::size_t candidate) { return static_cast<char>('A' + candidate); }

std::string_view mark(const Fastest& fastest) { return fastest.verdict == LeadVerdict::likely ? "?" : ""; }

/// `A`, `A?` where it is likely, `A~B`.
std::string cell(const Fastest& fastest, std::size_t candidates) {
  if (fastest.candidates.empty()) return "-";
  if (fastest.candidates.size() == candidates) return "all";
  std::string text;
  for (const std::size_t each : fastest.candidates) text += fmt::format("{}{}", text.empty() ? "" : "~", letter(each));
  return fmt::format("{}{}", text, mark(fastest));
}

/// `ring`, `ring (likely)`, `ring or ps (level)`, `all (level)`.
std::string in_words(const Fastest& fastest, const std::vector<std::string>& candidates) {
  if (fastest.candidates.empty()) return "nothing";
  std::string text;
  for (const std::size_t each : fastest.candidates) text += (text.empty() ? "" : " or ") + candidates[each];
  if (fastest.candidates.size() == candidates.size()) text = "all";
  return fastest.verdict == LeadVerdict::ahead ? text : fmt::format("{} ({})", text, to_string(fastest.verdict));
}

/// Whether two cells say the same, in whatever order level ones are.
bool alike(Fastest a, Fastest b) {
  std::ranges::sort(a.candidates);
  std::ranges::sort(b.candidates);
  return a.candidates == b.candidates && a.verdict == b.verdict;
}

/// The last row in words: `1 to 10 Gbit/s per node, ring; 25 to 400, ring or ps (level)`.
std::string last_row(const CrossoverMap& map, const std::vector<std::string>& candidates) {
  const std::vector<Fastest>& row = map.fastest.back();
  std::string text;
  for (std::size_t from = 0; from < row.size();) {
    std::size_t to = from;
    while (to + 1 < row.size() && alike(row[to + 1], row[from])) ++to;
    const std::string where = from == to ? map.columns[from] : map.columns[from] + " to " + map.columns[to];
    text += text.empty() ? fmt::format("{} {}", where, map.column_title) : fmt::format("; {}", where);
    text += ", " + in_words(row[from], candidates);
    from = to + 1;
  }
  return text;
}

std::string verdict(const Crossover& crossover) {
  std::string text = "Simulated, the fastest:";
  for (const CrossoverMap& map : crossover.maps)
    text +=
        fmt::format(" {}, {} {}: {}.", map.title, map.rows.back(), map.row_title, last_row(map, crossover.candidates));
  return text;
}

Table legend(const Crossover& crossover) {
  Table table{.caption = "Who is who", .columns = {"letter", "strategy"}};
  for (std::size_t i = 0; i < crossover.candidates.size(); ++i)
    table.rows.push_back({std::string(1, letter(i)), crossover.candidates[i]});
  return table;
}

/// How far the first is ahead of the second: nothing is as clear as twice the efficiency.
double clarity(const CrossoverMap& map, std::size_t row, std::size_t column) {
  if (map.figures.empty()) return 0.5;
  double first = 0, second = 0;
  for (const auto& figure : map.figures[row][column]) {
    const double value = figure ? figure->stated : 0;
    second = std::max(second, std::min(first, value));
    first = std::max(first, value);
  }
  return second > 0 ? std::min(1.0, first / second - 1) : 1;
}

/// A colour for whoever is ahead or likely so; level ones have none.
Tint tint_of(const CrossoverMap& map, std::size_t row, std::size_t column, const std::vector<std::string>& candidates) {
  const std::vector<std::size_t>& fastest = map.fastest[row][column].candidates;
  if (fastest.size() != 1 || candidates.size() == 1)
    return {.label = fastest.size() == 2 ? fmt::format("{} ~ {}", candidates[fastest[0]], candidates[fastest[1]]) : ""};
  const std::string& winner = candidates[fastest.front()];
  return {.group = winner,
          .strength = clarity(map, row, column),
          .label = fmt::format("{}{}", winner, mark(map.fastest[row][column]))};
}

Table map_table(const CrossoverMap& map, const std::vector<std::string>& candidates) {
  Table table{.caption = fmt::format("{}: the fastest, {} down, {} across", map.title, map.row_title, map.column_title),
              .columns = {numbers(map.row_title)}};
  table.columns.insert(table.columns.end(), map.columns.begin(), map.columns.end());
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    std::vector<std::string>& cells = table.rows.emplace_back(std::vector{map.rows[row]});
    std::vector<Tint>& tints = table.tints.emplace_back(1);
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      cells.push_back(cell(map.fastest[row][column], candidates.size()));
      tints.push_back(tint_of(map, row, column, candidates));
    }
  }
  return table;
}

/// A panel for each row of the map.
Chart efficiency_chart(const CrossoverMap& map, const std::vector<std::string>& candidates) {
  Chart chart{.id = fmt::format("crossover-{}", map.title),
              .title = map.title,
              .x_title = map.column_title,
              .y_title = "efficiency",
              .x_log2 = true,
              .y_percent = true,
              .y_min = 0,
              .y_max = 1,
              .panels = map.rows.size() > 1,
              .caption = "Shaded: the 90 % band of one line at a time."};
  for (std::size_t row = 0; row < map.figures.size(); ++row)
    for (std::size_t candidate = 0; candidate < candidates.size(); ++candidate) {
      const std::string where = fmt::format("{} {}", map.rows[row], map.row_title);
      Series series{.label = fmt::format("{}, {}", candidates[candidate], where),
                    .group = candidates[candidate],
                    .family = where};
      for (std::size_t column = 0; column < map.columns.size(); ++column)
        if (const auto& figure = map.figures[row][column][candidate])
          series.points.push_back(
              {.x = map.places[column], .y = figure->stated, .low = figure->low, .high = figure->high});
      if (!series.points.empty()) chart.series.push_back(std::move(series));
    }
  return chart;
}

/// Each cell also has its row and its column, by what they count.
void cell_fields(Row& row, const std::vector<std::string>& fastest, LeadVerdict verdict, Json efficiency) {
  row.field("fastest", fastest, "the fastest candidate, and what is level with it");
  row.field("verdict", if_known(!fastest.empty(), std::string(to_string(verdict))),
            "of the fastest over all others: ahead, likely or level");
  row.field("tie", fastest.size() > 1);
  const bool lacking = efficiency.is_null();
  row.put("efficiency", std::move(efficiency), "of training steps: of each candidate that is possible");
  row.may_lack(lacking);
}

Json cells_json(Form form, const CrossoverMap& map, const std::vector<std::string>& candidates) {
  const auto band = [form](const CellFigure& figure) { return json_of(form, figure, band_fields<CellFigure>); };
  if (form == Form::schema) {
    Row row(form);
    cell_fields(row, {}, {}, {{"type", "object"}, {"additionalProperties", band({})}});
    Json cell = row.json();
    cell["additionalProperties"] = kind_of<std::string>();
    return {{"type", "array"}, {"items", cell}};
  }
  Json cells = Json::array();
  for (std::size_t row = 0; row < map.rows.size(); ++row)
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      std::vector<std::string> fastest;
      for (const std::size_t each : map.fastest[row][column].candidates) fastest.push_back(candidates[each]);
      Json efficiency = map.figures.empty() ? Json() : Json::object();
      for (std::size_t each = 0; each < candidates.size() && !map.figures.empty(); ++each)
        if (const auto& figure = map.figures[row][column][each]) efficiency[candidates[each]] = band(*figure);
      Row cell;
      cell.field(map.row_title, map.rows[row]);
      cell.field(map.column_title, map.columns[column]);
      cell_fields(cell, fastest, map.fastest[row][column].verdict, std::move(efficiency));
      cells.push_back(cell.json());
    }
  return cells;
}

void crossover_fields(Row& row, const Crossover& crossover) {
  row.field("candidates", crossover.candidates);
  row.rows("maps", crossover.maps, [&](Row& of, const CrossoverMap& map) {
    of.field("title", map.title);
    of.put("cells", cells_json(of.form(), map, crossover.candidates));
  });
  row.rows("left_out", crossover.refused, refusal_fields);
}

}  // namespace

Document crossover_document(const Crossover& crossover) {
  Document document{.title = "Which strategy is the fastest where"};
  document.blocks.emplace_back(Verdict{verdict(crossover)});
  for (const CrossoverMap& map : crossover.maps) document.blocks.emplace_back(map_table(map, crossover.candidates));
  document.blocks.emplace_back(legend(crossover));
  document.blocks.emplace_back(Paragraph{crossover.method});
  std::vector<UnknownKind> widest;
  for (const CrossoverMap& map : crossover.maps)
    for (const auto& row : map.figures)
      for (const auto& cell : row)
        for (const std::optional<CellFigure>& figure : cell)
          if (figure && figure->widest) widest.push_back(*figure->widest);
  if (!widest.empty()) document.blocks.emplace_back(Paragraph{widest_in_words(widest)});
  ChartGroup charts{.title = "Efficiency over bandwidth"};
  for (const CrossoverMap& map : crossover.maps)
    if (!map.figures.empty()) charts.charts.push_back(efficiency_chart(map, crossover.candidates));
  if (!charts.charts.empty()) document.blocks.emplace_back(std::move(charts));
  if (!crossover.refused.empty())
    document.blocks.emplace_back(Paragraph{fmt::format("Left out: {}.", reasons(crossover.refused))});
  return document;
}

std::string crossover_json(const Crossover& crossover, Form form) {
  return object_text(form, "hbench bandwidth --strategies --json", crossover, crossover_fields);
}

}  // namespace hbench

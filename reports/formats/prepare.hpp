#pragma once

/// What every format does first, so that each has only its own escaping left to do.
///
/// What a page, a picture or a file for people can show of very many points and rows.
///
/// A chart as a table: for people who cannot or will not look at the picture.

#include <cstddef>
#include <string_view>
#include <vector>

#include "reports/document/document.hpp"

namespace hbench {

/// With more warnings than this Markdown folds them.
constexpr std::size_t kUnfoldedWarnings = 8;

/// The same document with clean text (`clean_text`), rows as long as their table has columns, chart
/// names that are safe and unique, and groups named. Idempotent.
Document readable(Document document);

/// `readable()`, and without the points that cannot be drawn: x or y not finite, or x <= 0 on a
/// logarithmic axis. The caption says how many were left out; limits that are not finite are dropped
/// with the interval. Idempotent.
Document drawable(Document document);

/// Calls `visit` with every chart, those of groups included, in reading order.
template <class AnyDocument, class Visit>
void for_each_chart(AnyDocument& document, Visit visit) {
  for (auto& block : document.blocks) {
    if (auto* chart = std::get_if<Chart>(&block)) visit(*chart);
    if (auto* group = std::get_if<ChartGroup>(&block))
      for (auto& chart : group->charts) visit(chart);
  }
}

void add_to_caption(Chart& chart, std::string_view sentence);

/// All charts, those of groups included, in reading order. They live as long as `document`.
std::vector<const Chart*> charts_of(const Document& document);

/// `measured`, `emulated` ...
std::string_view to_string(Mark mark);

/// The same document with at most as many points and rows as anybody can see: of each series the lowest and the highest
/// point of each of 200 stretches, of each chart the shown series and then the others up to 6,000 points (fewer of a
/// document with many charts), of each table the first 1,000 rows. Captions name what was left out, and where all of it
/// is. Idempotent.
/// \param document prepared with `drawable()`.
Document thinned(Document document);

/// One row per series, one column per x; a cell holds y and, in parentheses, its interval. Of more than 40 different x
/// a row for each point. Reference lines come last.
/// \param chart prepared with `drawable()`.
Table chart_table(const Chart& chart);

}  // namespace hbench

#pragma once

/// A report as a tree: headings, paragraphs, tables, charts, verdicts. Reports build it, formats turn it
/// into bytes; N reports + M formats instead of N x M. Nothing here knows SQLite, MPI or files.
///
/// All text is plain UTF-8 on one line: formats escape it, and `readable()` in `prepare.hpp` replaces
/// what is not UTF-8 and turns control characters into spaces. Numbers of charts may be infinite or NaN;
/// such points are left out of pictures with a note. Every member has a default, for designated initializers.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/records/evidence.hpp"
#include "collectives/base/lanes.hpp"

namespace hbench {

struct Heading {
  int level = 1;  ///< 1 .. 3
  std::string text{};
};

struct Paragraph {
  std::string text{};  ///< plain text; formats escape it
};

/// The answer in a sentence, shown large. A report puts it first.
struct Verdict {
  std::string text{};
};

/// What makes figures doubtful, a sentence each. Shown near the verdict, so that nobody misses it.
struct Warnings {
  std::vector<std::string> texts{};
};

/// The background of a cell: the colour of the series of this group, the stronger the clearer the case is.
struct Tint {
  std::string group{};
  double strength = 0;  ///< 0 (none) to 1
  std::string label{};  ///< what a page shows in the place of the cell's text; empty: that text
};

/// A column of a table. A title alone is that of one with words, which no terminal leaves out.
struct TableColumn {
  std::string title{};
  bool numeric = false;  ///< right-aligned
  /// What a narrow terminal leaves out first, the largest number before the others, and columns of one number together;
  /// 0 is never left out.
  int priority = 0;

  TableColumn(const char* name) : title(name) {}
  TableColumn(std::string name, bool has_numbers = false, int left_out = 0)
      : title(std::move(name)), numeric(has_numbers), priority(left_out) {}
};
inline TableColumn numbers(std::string title, int priority = 0) { return {std::move(title), true, priority}; }
inline TableColumn texts(std::string title, int priority) { return {std::move(title), false, priority}; }

struct Table {
  std::string caption{};
  std::vector<TableColumn> columns{};
  std::vector<std::vector<std::string>> rows{};
  /// Long tables are folded by formats that can.
  bool folded = false;
  /// Rows that a terminal shows where it is not asked for all of them; 0: every row.
  std::size_t first_rows = 0;
  /// Rows with the same first cell stand together and belong together: pages and terminals show that cell once, above
  /// them.
  bool grouped = false;
  /// By row and column, of a map of what is best where; may be shorter than the rows. Only a page has colours.
  std::vector<std::vector<Tint>> tints{};
};

std::vector<std::string> titles_of(const Table& table);
/// Leaves a column out, where the table has it.
void erase_column(Table& table, std::string_view column);
/// The same where no row has more in it than `-`.
void erase_if_empty(Table& table, std::string_view column);

/// The mark of a series says how its points are known, the same everywhere: a kind of evidence, or the ideal.
enum class Mark { measured, emulated, simulated, published, ideal };
static_assert(static_cast<std::size_t>(Mark::ideal) == std::size(kEvidenceKinds));
constexpr Mark mark_of(Evidence evidence) { return static_cast<Mark>(evidence); }

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low{}, high{};  ///< interval of y
  std::string note{};                   ///< shown on hover: source, baseline
  std::string label{};                  ///< drawn beside the point, where there is room
};

struct Series {
  std::string label{};
  Mark mark = Mark::simulated;
  /// Series of one group share a colour (a strategy, say); the mark tells them apart. Empty: the label.
  std::string group{};
  /// Series of one family share a dash pattern (a network, say); the first family of a document is solid.
  std::string family{};
  std::vector<ChartPoint> points{};
  /// Shown at first; a reader may switch others on.
  bool shown = true;
};

/// A line across a chart: a budget, a deadline, the rate of a network.
struct ReferenceLine {
  std::string label{};
  double at = 0;
  bool vertical = false;  ///< at an x; otherwise at a y
};

struct Chart {
  /// File name of its SVG and PNG, without extension: `efficiency-vgg16`. Letters, digits, `-` and `_`;
  /// unique in its document (`readable()` sees to both).
  std::string id{};
  std::string title{};
  std::string x_title{}, y_title{};
  bool x_log2 = false;
  bool x_dates = false;    ///< x is in seconds since 1970, shown as a date (UTC)
  bool y_log10 = false;    ///< points with a y of 0 and less are not drawn
  bool y_percent = false;  ///< y is a fraction, shown in per cent
  std::optional<double> y_min{}, y_max{};
  bool panels = false;      ///< a small picture for each family; series without a family are in all of them
  bool end_labels = false;  ///< lines are labelled at their right ends
  std::vector<Series> series{};
  std::vector<ReferenceLine> lines{};
  std::string caption{};
};

/// Charts of which a reader sees one at a time (one per workload, say).
struct ChartGroup {
  std::string title{};
  std::vector<Chart> charts{};  ///< the first is shown first; titles name the choices
};

using Block = std::variant<Heading, Paragraph, Verdict, Warnings, Table, Chart, ChartGroup, Lanes>;

struct Document {
  std::string title{};
  std::vector<Block> blocks{};

  /// Adds a table, unless it has no rows.
  void add_table(Table table) {
    if (!table.rows.empty()) blocks.emplace_back(std::move(table));
  }
};

}  // namespace hbench

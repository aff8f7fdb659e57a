#pragma once

/// How series look: the same in HTML and in gnuplot.

#include <string>
#include <string_view>
#include <vector>

#include "reports/document/document.hpp"

namespace hbench {

/// A colour on white paper and the same one on a dark screen, as `#rrggbb`.
struct Colour {
  std::string_view light;
  std::string_view dark;
};

struct SeriesStyle {
  Colour colour;
  int dash = 0;        ///< 0 solid, 1 dashed, 2 dotted, 3 dash-dot
  bool line = false;   ///< its points are joined
  bool small = false;  ///< points are small dots on the line
  bool band = false;   ///< intervals are a light band; otherwise whiskers
};

/// Colours and dashes of one document: a group looks the same in all its charts.
/// The colours are those of Okabe and Ito, "Color Universal Design" (2008), without their yellow, which
/// vanishes on white. More groups than colours: the colours repeat with the next dash pattern.
class Styles {
 public:
  /// \param charts of one document, prepared with `drawable()`.
  explicit Styles(const std::vector<const Chart*>& charts);

  /// Gives the groups of a table's tints colours too, behind those of the charts.
  void add_tints(const Table& table);

  /// The look of a series of `chart`, which is one of the charts above.
  SeriesStyle of(const Chart& chart, const Series& series) const;
  Colour colour_of(const std::string& group) const;

 private:
  std::vector<std::string> groups_;
  std::vector<std::string> families_;
};

}  // namespace hbench

#pragma once

/// Charts as gnuplot scripts. Pure: nothing here starts a process or writes a file.

#include <string>

#include "reports/document/document.hpp"
#include "reports/formats/style.hpp"

namespace hbench {

/// Where a chart's pictures go, as gnuplot is to open them.
struct ChartFiles {
  std::string svg;
  std::string png;
};

/// A script that draws the shown series of `chart` as SVG and as PNG. Scripts may be concatenated.
/// \param chart prepared with `drawable()`, one of those `styles` was made of.
std::string gnuplot_script(const Chart& chart, const Styles& styles, const ChartFiles& files);

}  // namespace hbench

#pragma once

/// Charts as JSON for the page's script.

#include <string>

#include "reports/formats/style.hpp"

namespace hbench {

/// What `report.js` draws, safe inside a script element: nothing in it can end the element or start a comment there.
/// A point is `[x, y, low, high, index into the series' notes, label]`; what is empty at its end is left out.
/// \param chart prepared with `drawable()`.
std::string chart_json(const Chart& chart, const Styles& styles);

}  // namespace hbench

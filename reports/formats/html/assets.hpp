#pragma once

/// Files that are built into the program and put into every HTML report (`bench/embed.cmake`).

#include <string_view>

namespace hbench {

extern const std::string_view kChartJs;    ///< Chart.js, as installed on the machine that built this
extern const std::string_view kReportJs;   ///< `report.js`
extern const std::string_view kReportCss;  ///< `report.css`

}  // namespace hbench

#pragma once

/// Documents as files: the one place of this folder that writes any.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "reports/document/document.hpp"

namespace hbench {

/// Starts `argv`, feeds it `input` on its standard input, waits, and gives its exit code; 127 when there
/// is no such program. Given by the caller, so that this folder starts no process itself.
using ProcessRunner = std::function<int(const std::vector<std::string>& argv, const std::string& input)>;

/// Before long work: whether a report could write its documents into `folder`. \throws Error (usage) that names a file
/// which is there, and which no report has written.
void check_report_files(const std::filesystem::path& folder);

/// Writes `index.html`, `report.md`, `data.csv` and `charts/<id>.{svg,png}` into `folder`, which is made
/// if need be. Each file appears whole or not at all. Those of an earlier report, which `.hbench-report` there lists,
/// are replaced. \returns a warning in one sentence when gnuplot is missing or failed and the pictures of charts
///   therefore could not be drawn; otherwise empty.
/// \throws Error (environment) with the path when a file cannot be written, and as `check_report_files`.
std::string write_report(const Document& document, const std::filesystem::path& folder, const ProcessRunner& runner);

}  // namespace hbench

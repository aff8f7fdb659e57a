#pragma once

/// Documents as files: the one place of this folder that writes any.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "reports/document.hpp"

namespace hbench {

/// Starts `argv`, feeds it `input` on its standard input, waits, and gives its exit code; 127 when there
/// is no such program. Given by the caller, so that this folder starts no process itself.
using ProcessRunner = std::function<int(const std::vector<std::string>& argv, const std::string& input)>;

/// Writes `index.html`, `report.md`, `data.csv` and `charts/<id>.{svg,png}` into `folder`, which is made
/// if need be. Each file appears whole or not at all; older ones of the same name are replaced.
/// \returns a warning in one sentence when gnuplot is missing or failed and the pictures of charts
///   therefore could not be drawn; otherwise empty.
/// \throws Error (environment) with the path when a file cannot be written.
std::string write_report(const Document& document, const std::filesystem::path& folder, const ProcessRunner& runner);

}  // namespace hbench

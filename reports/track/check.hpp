#pragma once

/// What a check of tracked cases has found, in every form that people and CI read.

#include <string>
#include <utility>
#include <vector>

#include "analysis/track/report.hpp"
#include "reports/document/document.hpp"
#include "reports/rows/tool_formats.hpp"

namespace hbench {

/// For a terminal, a page, or the comment of a pull request: what has changed first, all cases folded.
Document track_document(const TrackReport& report);
std::string track_json(const TrackReport& report);
/// Returns `regressed by 9.9 %: 13.2 ms, before 12.01 ms`. \pre it is compared.
std::string change_text(const TrackedResult& result);
/// The launches of the head of each case that has some, once: a limit is of a case that is among them.
std::vector<ToolFigure> tool_figures(const TrackReport& report);
/// JUnit's XML: a test for each case, a failure where it has regressed, skipped where nothing can be said.
std::string track_junit(const TrackReport& report);
/// GitHub's workflow commands, one line for each case that has regressed, failed or cannot be judged.
std::string track_annotations(const TrackReport& report);
/// The lines between which the runner of GitHub's actions takes no line for a command, whoever wrote it: the first, and
/// the last, which nobody can foresee.
std::pair<std::string, std::string> without_commands();
/// GitLab's metrics report: times, changes and the number of each verdict, as OpenMetrics.
std::string track_metrics(const TrackReport& report);

}  // namespace hbench

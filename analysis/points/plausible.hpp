#pragma once

/// The one check of figures that no run can have written: what is imported, merged, read and checked passes it. Pure,
/// but for the default of `now`. Each function returns what is wrong, in words, or an empty text.

#include <chrono>
#include <string>
#include <string_view>

#include "analysis/records/records.hpp"

namespace hbench {

/// Of a sample alone, as a predicate: `is below 0`. For readers that know where the sample stands in their file.
std::string_view implausible(const Sample& sample);
/// Of a case that is done: its fields, its samples and the ranks of these, and that it has a figure, or was
/// checked. Failed cases are not looked at.
std::string implausible(const CaseResult& result);
/// Of a run: a date that is none, or after tomorrow. The newest run is the one that is compared with the others.
std::string implausible(const Run& run, std::chrono::sys_seconds now =
                                            std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));

/// Whether a case has a timed sample of the figure that its kind is known by: warm-ups are none.
bool has_figure(const CaseResult& result);

/// Refuses a stored case: a database that was edited or damaged must not become an efficiency. One without a figure
/// passes, which older versions imported: who reads it leaves it out. \throws Error (wrong_data) that names the case,
/// its run and what is implausible.
void check_plausible(const CaseResult& result);

}  // namespace hbench

#pragma once

/// Times of a collective that somebody has measured, whatever printed them, as a curve for a profile; and what
/// `hbench collective --json` printed. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/format.hpp"
#include "analysis/records/records.hpp"
#include "collectives/network/profile.hpp"

namespace hbench {

struct CollectiveOutputRow {
  CaseResult result;                       ///< with every sample
  bool peer = false;                       ///< another library's
  std::optional<double> in_place_seconds;  ///< the median; none where it was not timed
  std::optional<double> in_place_wrong;    ///< elements; none where nobody looked
};

struct CollectiveOutput {
  std::string started_at;
  std::map<std::string, std::string> environment;
  std::vector<CollectiveOutputRow> rows;
};

/// Returns whether a text is the JSON of `hbench collective`.
bool is_collective_output(std::string_view text);

/// \throws Error (usage) that names the file and the field: for JSON that is none or is cut off, and fields of another
/// type.
CollectiveOutput read_collective_output(std::string_view text, std::string_view file_name);

struct ImportedCurve {
  MeasuredCurve curve;             ///< without its source
  std::vector<std::string> notes;  ///< what was left out, and why, in sentences
  std::string gpu;                 ///< the models that it was measured on; empty where it does not say
};

/// The least number of sizes that a curve needs.
inline constexpr std::size_t kFewestSizes = 4;

/// Gives `imported` the times of each size, in seconds, but what took longer than a larger size (`kMostFall`), which
/// the first one often does; a note names these. The number of sizes that are left.
std::size_t keep_sizes(ImportedCurve& imported, const std::map<std::int64_t, double>& times);

/// The curve of what `hbench import` reads: of each size the sooner of both ways, by the library's own algorithm. Of
/// several collectives the hints choose one. \throws Error (usage) that names the file: for a size whose data were
/// wrong, where ranks or nodes are unknown, for several tests, and too few sizes.
ImportedCurve curve_of(ImportedOutput output, std::string_view file_name, const ImportHints& hints);

/// The curve of what `hbench collective --json` printed: the times in place of the one algorithm, collective and number
/// of ranks that `text` has; compressed ones and parameter servers have no curves. Nodes are those that the ranks were
/// seen on, unless they are given (not 0). \throws Error (usage) that names the file: for simulated, failed or wrong
/// rows, several algorithms or counts, too few sizes, and JSON that is none.
ImportedCurve parse_collective_output(std::string_view text, std::string_view file_name, int ranks = 0, int nodes = 0);

/// Returns the curve of a measured collective, where the text of a file is one: what `hbench collective` printed, or
/// what `hbench import` reads. \throws Error as those that read it.
std::optional<ImportedCurve> read_curve(const std::string& text, const std::string& file, const ImportHints& hints);

/// Notes where the curve was measured on other GPUs than those of the profile.
void note_other_gpu(ImportedCurve& imported, const Profile& profile);

}  // namespace hbench

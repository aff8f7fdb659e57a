#pragma once

/// What `hbench collective --json` printed: for `hbench import`, and for curves of profiles. Pure.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"

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

/// Whether a text is the JSON of `hbench collective`.
bool is_collective_output(std::string_view text);

/// \throws Error (usage) that names the file and the field: for JSON that is none or is cut off, and fields of another
/// type.
CollectiveOutput read_collective_output(std::string_view text, std::string_view file_name);

}  // namespace hbench

#include <fmt/format.h>

#include "analysis/import/collective_output.hpp"
#include "analysis/import/format.hpp"
#include "analysis/import/timestamp.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

ImportedOutput parse(std::string_view text, std::string_view file_name, const ImportHints& /*hints*/) {
  CollectiveOutput read = read_collective_output(text, file_name);
  ImportedOutput output{.started_at = utc_of(read.started_at), .environment = std::move(read.environment)};
  std::size_t untimed = 0;
  for (CollectiveOutputRow& row : read.rows) {
    const bool timed = row.result.status == CaseStatus::failed || row.in_place_seconds.has_value();
    if (row.result.asked.is_timed() && timed)
      output.cases.push_back(std::move(row.result));
    else
      ++untimed;
  }
  if (output.cases.empty())
    throw Error(ExitCode::usage, fmt::format("{}: nothing in it was timed", file_name),
                "hbench collective --json without --profile times what it prints");
  if (untimed > 0)
    output.left_out.push_back(
        fmt::format("{} row{} that {} not timed", untimed, untimed == 1 ? "" : "s", untimed == 1 ? "was" : "were"));
  return output;
}

}  // namespace

extern const ImportFormat kHbenchCollectiveFormat;
constinit const ImportFormat kHbenchCollectiveFormat{.name = "hbench-collective",
                                                     .summary = "what hbench collective --json prints",
                                                     .example = "hbench collective --json > 1.json",
                                                     .recognises = is_collective_output,
                                                     .parse = parse};

}  // namespace hbench

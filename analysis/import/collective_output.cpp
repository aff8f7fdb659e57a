#include "analysis/import/collective_output.hpp"

#include <fmt/format.h>

#include "analysis/import/format.hpp"
#include "analysis/import/json_value.hpp"
#include "analysis/import/words.hpp"
#include "analysis/points/collectives.hpp"
#include "analysis/points/plausible.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "collectives/base/error.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {
namespace {

std::string text_or_none(const JsonValue& row, const char* name) { return row.is_set(name) ? row.at(name).text() : ""; }
int whole_or_0(const JsonValue& row, const char* name) { return row.is_set(name) ? row.at(name).whole(0) : 0; }
std::optional<double> number_or_none(const JsonValue& row, const char* name) {
  return row.is_set(name) ? std::optional(row.at(name).number()) : std::nullopt;
}

Evidence evidence_of(const JsonValue& word) {
  for (const EvidenceKind& each : kEvidenceKinds)
    if (each.name == word.text()) return each.evidence;
  word.fail("is no evidence");
}

Case case_of(const JsonValue& row) {
  Case asked;
  asked.evidence = evidence_of(row.at("evidence"));
  asked.workload = text_or_none(row, "workload");
  asked.gpus = row.at("ranks").whole(1);
  asked.nodes = whole_or_0(row, "nodes");
  asked.profile = asked.is_timed() ? kLocalProfile : text_or_none(row, "profile");
  asked.strategy.algorithm = row.at("algorithm").text();
  asked.strategy.compressor = row.at("compressor").text();
  asked.strategy.servers = whole_or_0(row, "servers");
  asked.strategy.server_mode = text_or_none(row, "server_mode");
  asked.strategy.fusion = text_or_none(row, "fusion");
  asked.collective.name = row.at("collective").text();
  asked.collective.bytes = row.at("size").bytes();
  asked.collective.data_type = text_or_none(row, "type");
  asked.collective.operation = text_or_none(row, "redop");
  asked.collective.executor = text_or_none(row, "executor");
  asked.collective.ranks_per_node = whole_or_0(row, "ranks_per_node");
  asked.collective.segments = whole_or_0(row, "segments");
  if (works_on_gpu(asked.collective.executor)) asked.training.device = kGpuDevice;
  asked.implementation = "hbench-collective";
  return asked;
}

/// As `hbench collective` stores them: each value of a series is an iteration of a rank in a launch.
std::vector<Sample> samples_of(const JsonValue& row) {
  std::vector<Sample> samples;
  if (!row.has("samples")) return samples;
  for (const JsonValue& series : row.at("samples").elements()) {
    const std::string metric = series.at("metric").text();
    const bool seconds = metric.ends_with("seconds");
    int iteration = 0;
    for (const JsonValue& value : series.at("values").elements()) {
      samples.push_back({.launch = series.at("launch").whole(0),
                         .rank = series.at("rank").whole(0),
                         .iteration = iteration++,
                         .warmup = series.at("warmup").is_true(),
                         .metric = metric,
                         .value = value.number(),
                         .unit = seconds ? "s" : ""});
      if (const std::string_view fault = implausible(samples.back()); !fault.empty()) value.fail(std::string(fault));
    }
  }
  return samples;
}

CollectiveOutputRow row_of(const JsonValue& row) {
  CollectiveOutputRow read;
  read.result.asked = case_of(row);
  read.peer = row.at("peer").is_true();
  read.in_place_seconds = number_or_none(row, "in_place_seconds");
  read.in_place_wrong = number_or_none(row, "in_place_wrong");
  if (row.at("status").text() == "done") {
    read.result.samples = samples_of(row);
    return read;
  }
  const bool wrong = read.in_place_wrong.value_or(0) > 0 || number_or_none(row, "out_of_place_wrong").value_or(0) > 0;
  read.result.status = CaseStatus::failed;
  read.result.failure = text_or_none(row, "failure");
  read.result.exit_code = static_cast<int>(wrong ? ExitCode::wrong_data : ExitCode::lost_rank);
  return read;
}

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
    refuse_file(file_name, "nothing in it was timed",
                "hbench collective --json without --profile times what it prints");
  if (untimed > 0)
    output.left_out.push_back(
        fmt::format("{} row{} that {} not timed", untimed, untimed == 1 ? "" : "s", untimed == 1 ? "was" : "were"));
  return output;
}

}  // namespace

bool is_collective_output(std::string_view text) {
  return text.starts_with('{') && text.find("\"hbench collective") != std::string_view::npos;
}

CollectiveOutput read_collective_output(std::string_view text, std::string_view file_name) {
  const nlohmann::json json = parse_json(text, file_name);
  const JsonValue root(json, file_name);
  CollectiveOutput output{.started_at = text_or_none(root, "started_at")};
  if (root.is_set("environment"))
    for (const auto& [key, value] : root.at("environment").members()) output.environment[key] = value.text();
  for (const JsonValue& row : root.at("results").elements()) output.rows.push_back(row_of(row));
  return output;
}

extern constinit const ImportFormat kHbenchCollectiveFormat{.name = "hbench-collective",
                                                            .summary = "what hbench collective --json prints",
                                                            .example = "hbench collective --json > 1.json",
                                                            .recognises = is_collective_output,
                                                            .parse = parse};

}  // namespace hbench

#include "analysis/fit/imported_curve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "analysis/import/json_value.hpp"
#include "analysis/import/words.hpp"
#include "analysis/points/collectives.hpp"
#include "analysis/points/plausible.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "analysis/prediction/rate_model.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"
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

/// Those of the collective that the hints name, where there are others.
void choose_collective(ImportedOutput& output, std::string_view file, const ImportHints& hints) {
  std::set<std::string> names;
  for (const CaseResult& each : output.cases) names.insert(each.asked.collective.name);
  if (names.size() < 2) return;
  if (hints.collective.empty())
    refuse_file(file, fmt::format("it has several collectives: {}", fmt::join(names, ", ")),
                "add --collective with one");
  const std::string_view chosen = to_string(parse_collective_kind(hints.collective));
  if (names.contains(std::string(chosen)))
    std::erase_if(output.cases, [&](const CaseResult& each) { return each.asked.collective.name != chosen; });
}

/// \throws Error (usage) where its data were wrong.
double seconds_of(const CaseResult& result) {
  if (result.status == CaseStatus::failed)
    throw Error(ExitCode::usage, result.failure,
                "wrong data are no measurement: repair the machine, and measure again");
  const CollectiveFigures figures = collective_figures(result);
  return std::min(figures.in_place.seconds.value_or(HUGE_VAL), figures.out_of_place.seconds.value_or(HUGE_VAL));
}

class CurveReader {
 public:
  CurveReader(std::string_view file_name, int ranks, int nodes) : file_name_(file_name), ranks_(ranks), nodes_(nodes) {}

  ImportedCurve read(const CollectiveOutput& output) {
    for (const CollectiveOutputRow& row : output.rows)
      if (!row.peer && (ranks_ == 0 || row.result.asked.gpus == ranks_)) add(row);
    if (times_.empty()) fail("it has no rows of ours", "hbench collective --algorithm ring --json");
    MeasuredCurve& curve = imported_.curve;
    curve.algorithm = only(algorithms_, "algorithms", "--algorithm with one");
    curve.collective = parse_collective_kind(only(collectives_, "collectives", "--collective with one"));
    curve.ranks = std::stoi(only(counts_, "numbers of ranks", "--ranks with one"));
    curve.nodes = nodes_ > 0 ? nodes_ : std::stoi(only(places_, "numbers of nodes", "--nodes"));
    if (curve.ranks < 2 || curve.nodes > curve.ranks) fail("one rank measures no network", "");
    if (const std::size_t sizes = keep_sizes(imported_, times_); sizes < kFewestSizes)
      fail(fmt::format("{} of its sizes can be used, and a curve needs {}", sizes, kFewestSizes),
           "measure more, such as -b 1K -e 1G -f 2");
    return std::move(imported_);
  }

 private:
  void add(const CollectiveOutputRow& row) {
    const Case& asked = row.result.asked;
    const std::int64_t bytes = asked.collective.bytes;
    if (!asked.is_of_machine())
      fail(fmt::format("its {} B are {}, and only what was measured tells of a cluster", bytes,
                       to_string(asked.evidence)),
           "");
    if (row.result.status != CaseStatus::done || row.in_place_wrong != 0 || !row.in_place_seconds)
      fail(fmt::format("its {} B have failed, were wrong, or were not checked", bytes), "measure them again");
    if (asked.strategy.compresses() || asked.strategy.servers > 0)
      fail("profiles have no curves of compressors and parameter servers", "measure without them");
    algorithms_.insert(asked.strategy.algorithm);
    collectives_.insert(asked.collective.name);
    counts_.insert(std::to_string(asked.gpus));
    places_.insert(std::to_string(std::max(asked.nodes, 1)));
    times_[bytes] = *row.in_place_seconds;
  }

  std::string only(const std::set<std::string>& all, std::string_view what, std::string_view cure) const {
    if (all.size() > 1)
      fail(fmt::format("it has several {}: {}", what, fmt::join(all, ", ")), fmt::format("add {}", cure));
    return *all.begin();
  }

  [[noreturn]] void fail(std::string_view message, std::string_view hint) const {
    throw Error(ExitCode::usage, fmt::format("{}: {}", file_name_, message), std::string(hint));
  }

  std::string_view file_name_;
  int ranks_, nodes_;
  ImportedCurve imported_;
  std::map<std::int64_t, double> times_;
  std::set<std::string> algorithms_, collectives_, counts_, places_;
};

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

std::size_t keep_sizes(ImportedCurve& imported, const std::map<std::int64_t, double>& times) {
  std::vector<std::string> disturbed;
  auto& points = imported.curve.points;
  for (const auto& [bytes, time] : times) {
    while (!points.empty() && time < kMostFall * points.back().time.value) {
      disturbed.push_back(exact_text(Bytes(static_cast<double>(points.back().bytes))));
      points.pop_back();
    }
    points.push_back({bytes, Seconds(time)});
  }
  if (!disturbed.empty())
    imported.notes.push_back(
        fmt::format("Left out, since a larger size took less time: {}.", fmt::join(disturbed, ", ")));
  return points.size();
}

ImportedCurve curve_of(ImportedOutput output, std::string_view file_name, const ImportHints& hints) {
  if (!output.later.empty())
    refuse_file(file_name, fmt::format("it has the same test {} times", output.later.size() + 1),
                "give the file of one test");
  std::erase_if(output.cases, [](const CaseResult& each) { return !each.asked.is_collective(); });
  if (output.cases.empty()) refuse_file(file_name, "it has no collective", "give what nccl-tests printed");
  choose_collective(output, file_name, hints);
  complete_collectives(output, file_name, hints);
  ImportedCurve imported;
  for (const std::string& what : output.left_out) imported.notes.push_back(fmt::format("Left out: {}.", what));
  if (const auto gpu = output.environment.find("gpu"); gpu != output.environment.end()) imported.gpu = gpu->second;
  const Case& first = output.cases.front().asked;
  MeasuredCurve& curve = imported.curve;
  curve.collective = parse_collective_kind(first.collective.name);
  curve.algorithm = first.strategy.algorithm;
  curve.ranks = first.gpus;
  curve.nodes = first.nodes;
  if (curve.ranks < 2 || curve.nodes < 1)
    refuse_file(file_name, "it does not say on how many GPUs of how many nodes it ran",
                "add such as --ranks 16 --nodes 2");
  std::map<std::int64_t, double> times;  // seconds, by bytes
  for (const CaseResult& each : output.cases) {
    if (each.asked.gpus != curve.ranks || each.asked.nodes != curve.nodes)
      refuse_file(file_name, fmt::format("it has several numbers of ranks: {} and {}", curve.ranks, each.asked.gpus),
                  "give the file of one of them");
    const auto [known, is_new] = times.try_emplace(each.asked.collective.bytes, seconds_of(each));
    if (!is_new) known->second = std::min(known->second, seconds_of(each));
  }
  if (const std::size_t sizes = keep_sizes(imported, times); sizes < kFewestSizes)
    refuse_file(file_name, fmt::format("{} of its sizes can be used, and a curve needs {}", sizes, kFewestSizes),
                "measure more, such as -b 1K -e 1G -f 2");
  return imported;
}

ImportedCurve parse_collective_output(std::string_view text, std::string_view file_name, int ranks, int nodes) {
  return CurveReader(file_name, ranks, nodes).read(read_collective_output(text, file_name));
}

std::optional<ImportedCurve> read_curve(const std::string& written, const std::string& file, const ImportHints& hints) {
  const std::string text = without_colours(written);
  std::optional<ImportedCurve> imported;
  std::string by = "hbench collective";
  if (is_collective_output(text)) {
    imported = parse_collective_output(text, file, hints.ranks, hints.nodes);
  } else if (const ImportFormat* format = recognised(text, file)) {
    imported = curve_of(format->parse(text, file, hints), file, hints);
    by = format->name;
  }
  if (imported) imported->curve.source = fmt::format("{}, {}", by, std::filesystem::path(file).filename().string());
  return imported;
}

void note_other_gpu(ImportedCurve& imported, const Profile& profile) {
  if (imported.gpu.empty() || profile.gpu.empty() || is_gpu_of_catalogue(imported.gpu, profile.gpu)) return;
  imported.notes.push_back(fmt::format(
      "Warning: {} was measured on {}, and {} has {}: its rates inside nodes and its workloads are of another GPU.",
      imported.curve.source, imported.gpu, profile.name, profile.gpu));
}

}  // namespace hbench

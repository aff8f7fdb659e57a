#include "bench/listing.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "bench/launch/launcher.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/placement/placement.hpp"
#include "reports/formats.hpp"
#include "reports/report.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

std::string text(std::string_view view) { return std::string(view); }

std::string state(const Availability& availability) {
  return availability.available ? "available" : fmt::format("absent: {}; {}", availability.reason, availability.cure);
}

Table algorithm_table(const Data&) {
  Table table{.columns = {"algorithm", "what", "rounds on 8 workers", "sent by the busiest, of S", "source"},
              .numeric = {false, false, true, true, false}};
  for (const Algorithm* entry : algorithms()) {
    std::string rounds = "-", sent = "-";
    if (!entry->opaque()) {
      constexpr std::int64_t kElements = 8'000'000;
      const World world{.workers = 8, .servers = entry->uses_servers ? 2 : 0, .group = entry->uses_groups ? 4 : 1};
      const AlgorithmChoice choice = parse_algorithm(entry->name, entry->goal);
      const Cost cost = entry->cost({.world = world, .parameters = choice.parameters}, kElements);
      rounds = std::to_string(cost.rounds);
      sent = fmt::format("{:.3g} S{}", static_cast<double>(cost.sent) / static_cast<double>(kElements),
                         entry->uses_servers ? " (2 servers)" : "");
    }
    table.rows.push_back({text(entry->name), text(entry->summary), rounds, sent, text(entry->citation)});
  }
  return table;
}

Table compressor_table(const Data&) {
  Table table{.columns = {"compressor", "what", "bits per element", "relative error", "source"},
              .numeric = {false, false, true, true, false}};
  for (const Compressor* entry : compressors()) {
    constexpr std::int64_t kElements = 1'000'000;
    table.rows.push_back(
        {text(entry->name), text(entry->summary),
         fmt::format("{:g}", 8.0 * static_cast<double>(parse_compressor(entry->name).codec->max_wire_bytes(kElements)) /
                                 kElements),
         fmt::format("{:.2g}", entry->relative_error), text(entry->citation)});
  }
  return table;
}

Table fusion_table(const Data&) {
  Table table{.columns = {"fusion", "what", "parameters", "defaults", "source"}, .numeric = std::vector<bool>(5)};
  for (const Fusion* entry : fusions())
    table.rows.push_back(
        {text(entry->name), text(entry->summary), text(entry->fields), text(entry->defaults), text(entry->citation)});
  return table;
}

Table placement_table(const Data&) {
  Table table{.columns = {"placement", "what", "source"}, .numeric = std::vector<bool>(3)};
  for (const Placement* entry : placements())
    table.rows.push_back({text(entry->name), text(entry->summary), text(entry->citation)});
  return table;
}

Table executor_table(const Data&) {
  Table table{.columns = {"executor", "what", "evidence", "state"}, .numeric = std::vector<bool>(4)};
  for (const ExecutorKind* entry : executors())
    table.rows.push_back(
        {text(entry->name), text(entry->summary), text(entry->evidence), state(entry->availability())});
  return table;
}

Table launcher_table(const Data&) {
  const char* path = std::getenv("PATH");
  Table table{.columns = {"launcher", "what", "state"}, .numeric = std::vector<bool>(3)};
  for (const Launcher* entry : launchers())
    table.rows.push_back(
        {text(entry->name), text(entry->summary), state(entry->availability(path != nullptr ? path : ""))});
  return table;
}

Table profile_table(const Data& data) {
  Table table{.columns = {"profile", "what", "GPUs per node", "between two ranks", "per node"},
              .numeric = {false, false, true, true, true}};
  for (const std::string& name : data.profiles.names()) {
    const Profile profile = data.profiles.load(name);
    table.rows.push_back({name, profile.title, std::to_string(profile.gpus_per_node), format(profile.path_rate()),
                          format(profile.node_rate())});
  }
  return table;
}

Table workload_table(const Data& data) {
  Table table{.columns = {"workload", "what", "parameters", "tensors", "timeline"},
              .numeric = {false, false, true, true, false}};
  for (const std::string& name : data.traces.names()) {
    const Trace trace = data.traces.load(name);
    std::int64_t elements = 0;
    for (const GradientEvent& gradient : trace.timeline.gradients) elements += gradient.elements;
    table.rows.push_back(
        {name, trace.title, std::to_string(elements), std::to_string(trace.timeline.gradients.size()), trace.source});
  }
  return table;
}

Table model_table(const Data&) {
  Table table{.columns = {"model"}, .numeric = {false}};
  for (const std::string_view name : model_names()) table.rows.push_back({text(name)});
  return table;
}

Table report_table(const Data&) {
  Table table{.columns = {"report", "what"}, .numeric = std::vector<bool>(2)};
  for (const Report* entry : reports()) table.rows.push_back({text(entry->name), text(entry->summary)});
  return table;
}

Table format_table(const Data&) {
  Table table{.columns = {"format", "what"}, .numeric = std::vector<bool>(2)};
  for (const Format* entry : formats()) table.rows.push_back({text(entry->name), text(entry->summary)});
  return table;
}

constexpr std::array kListings{
    Listing{"algorithms", "all-reduce algorithms", algorithm_table},
    Listing{"compressors", "how gradients are encoded on the wire", compressor_table},
    Listing{"fusion", "when gradients leave, and together with which", fusion_table},
    Listing{"placements", "which parameter server holds what", placement_table},
    Listing{"executors", "what interprets a schedule", executor_table},
    Listing{"launchers", "how ranks are started", launcher_table},
    Listing{"profiles", "clusters to simulate", profile_table},
    Listing{"workloads", "timelines to simulate", workload_table},
    Listing{"models", "LibTorch models to train and to calibrate", model_table},
    Listing{"reports", "reports", report_table},
    Listing{"formats", "output formats of reports", format_table},
};

}  // namespace

std::span<const Listing> listings() { return kListings; }

}  // namespace hbench

#include "bench/output/listing.hpp"

#include <fmt/format.h>

#include <array>

#include "analysis/catalogue/filter.hpp"
#include "analysis/import/format.hpp"
#include "analysis/prediction/comparisons.hpp"
#include "bench/frameworks/find_framework.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/launcher.hpp"
#include "bench/submit/engine.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/network/choose.hpp"
#include "collectives/placement/placement.hpp"
#include "reports/formats/formats.hpp"
#include "reports/prediction/profiles.hpp"
#include "reports/report.hpp"
#include "workloads/models/models.hpp"
#include "workloads/step/published_shapes.hpp"

namespace hbench {
namespace {

std::string text(std::string_view view) { return std::string(view); }

Table placement_table(const Data&) {
  Table table{.columns = {"placement", "what", "source"}};
  for (const Placement* entry : placements())
    table.rows.push_back({text(entry->name), text(entry->summary), text(entry->citation)});
  return table;
}

Table launcher_table(const Data&) {
  const Host host = this_host();
  Table table{.columns = {"launcher", "what", "state"}};
  for (const Launcher* entry : launchers())
    table.rows.push_back({text(entry->name), text(entry->summary), state_text(entry->availability(host.path))});
  return table;
}

Table engine_table(const Data&) {
  const Host host = this_host();
  Table table{.columns = {"engine", "what", "state"}};
  for (const Engine* entry : engines())
    table.rows.push_back({text(entry->name), text(entry->summary), state_text(entry->availability(host.path))});
  return table;
}

Table workload_table(const Data& data) {
  Table table{.columns = {"workload", "what", numbers("parameters"), numbers("tensors"), "timeline"}};
  for (const std::string& name : data.traces.names()) {
    const Trace trace = data.traces.load(name);
    std::int64_t elements = 0;
    for (const GradientEvent& gradient : trace.timeline.gradients) elements += gradient.elements;
    table.rows.push_back(
        {name, trace.title, std::to_string(elements), std::to_string(trace.timeline.gradients.size()), trace.source});
  }
  for (const PublishedShape& shape : published_shapes()) {
    const Trace trace = computed_trace(shape.name);
    table.rows.push_back({trace.name, trace.title, fmt::format("{:.0f}", trace.elements()),
                          std::to_string(trace.timeline.gradients.size()), trace.source});
  }
  return table;
}

Table model_table(const Data&) {
  Table table{.columns = {"model", "what", numbers("parameters"), numbers("smallest image"), "source"}};
  for (const ModelEntry* model : models())
    table.rows.push_back({text(model->name), text(model->title), std::to_string(model->parameters),
                          std::to_string(model->smallest_image), text(model->citation)});
  return table;
}

/// `bucket-view (gradient_as_bucket_view, which saves a copy)`.
std::string setting_text(const FrameworkSetting& setting) {
  return setting.name.empty() ? "-" : fmt::format("{} ({})", setting.name, setting.summary);
}

Table framework_table(const Data&) {
  Table table{.columns = {"framework", "what", "setting", "simulated as", "installed by", "state"}};
  for (const Framework* each : frameworks()) {
    const FoundFramework found = find_framework(*each);
    table.rows.push_back(
        {text(each->name), text(each->summary), setting_text(each->setting), text(each->preset), text(each->install),
         found.state.available ? fmt::format("{}, by {}", found.version, found.python) : found.state.reason});
  }
  return table;
}

Table report_table(const Data&) {
  Table table{.columns = {"report", "what"}};
  for (const Report* entry : reports()) table.rows.push_back({text(entry->name), text(entry->summary)});
  return table;
}

Table format_table(const Data&) {
  Table table{.columns = {"format", "what"}};
  for (const Format* entry : formats()) table.rows.push_back({text(entry->name), text(entry->summary)});
  return table;
}

Table import_table(const Data&) {
  Table table{.columns = {"format", "what", "example"}};
  for (const ImportFormat* each : import_formats())
    table.rows.push_back({text(each->name), text(each->summary), text(each->example)});
  return table;
}

Table comparison_table(const Data&) {
  Table table{.columns = {"comparison", "what", "frameworks", "workloads", "GPUs"}};
  for (const ReadyComparison& each : ready_comparisons())
    table.rows.push_back(
        {text(each.name), text(each.summary), text(each.presets), text(each.workloads), text(each.gpus)});
  return table;
}

constexpr std::array kListings{
    Listing{"algorithms", "algorithms of each collective", [](const Data&) { return algorithm_table(); }},
    Listing{"compressors", "how gradients are encoded on the wire", [](const Data&) { return compressor_table(); }},
    Listing{"methods", "what the ranks of a job do in an iteration", [](const Data&) { return method_table(); }},
    Listing{"optimizers", "how a step changes parameters, and what that keeps",
            [](const Data&) { return optimizer_table(); }},
    Listing{"fusion", "when gradients are sent, and in which buckets", [](const Data&) { return fusion_table(); }},
    Listing{"placements", "which parameter server holds what", placement_table},
    Listing{"presets", "frameworks to simulate", [](const Data&) { return preset_table(); }},
    Listing{"frameworks", "frameworks to measure", framework_table, "state"},
    Listing{"executors", "how ranks communicate", [](const Data&) { return executor_table(); }, "state"},
    Listing{"launchers", "how ranks are started", launcher_table, "state"},
    Listing{"engines", "who gives hosts to hbench submit", engine_table, "state"},
    Listing{"profiles", "clusters to simulate",
            [](const Data& data) { return profile_table(all_profiles(data.profiles)); }},
    Listing{"workloads", "timelines to simulate", workload_table},
    Listing{"models", "LibTorch models to train and to calibrate", model_table},
    Listing{"reports", "what a report is about", report_table},
    Listing{"formats", "output formats of reports", format_table},
    Listing{"imports", "outputs of other programs that hbench import reads", import_table},
    Listing{"comparisons", "questions that hbench compare answers", comparison_table},
};

}  // namespace

std::string listing_json(const Table& table, Form form) {
  return json_text(form, "hbench list --json, of all but profiles", table_json(form, table));
}

std::span<const Listing> listings() { return kListings; }

Document explain_algorithms(const Profile& profile, int workers) {
  const AlgorithmAdvice advice = choose_algorithm(profile, workers, usual_sizes());
  Table table{.columns = {numbers("size"), "chosen", "fastest", numbers("time"), "runner-up", numbers("its time"),
                          numbers("slower by")}};
  for (const SizeChoice& size : advice.sizes) {
    const bool second = !size.runner_up.algorithm.empty();
    table.rows.push_back({exact_text(Bytes(static_cast<double>(size.bytes))), size.chosen, size.best.algorithm,
                          format(size.best.time), second ? size.runner_up.algorithm : "-",
                          second ? format(size.runner_up.time) : "-",
                          second ? fmt::format("{:.1f} %", 100 * size.margin()) : "-"});
  }
  return {.title = fmt::format("{} workers on {}", workers, profile.name),
          .blocks = {Verdict{fmt::format("--algorithm auto takes {}", advice.rule.text())},
                     Paragraph{fmt::format("Simulated on the idle network of {} ({}), float32: every algorithm with a "
                                           "schedule for this world. An algorithm keeps the next size too while it is "
                                           "at most {:g} % slower than the fastest there. In a rule, a@1MiB/b is a for "
                                           "less than 1 MiB and b from there on. Messages cost latency and "
                                           "bytes; what a sender's processor spends on each is not in the model.",
                                           profile.name, profile.title, 100 * kAsGood)},
                     table}};
}

}  // namespace hbench

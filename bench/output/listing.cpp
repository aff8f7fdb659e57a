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

/// A row for each entry of a family: its name, what it is, and what `more` adds of it.
template <class Entries, class More>
Table family_table(std::string_view title, const Entries& entries, More more) {
  return table_of(entries, [&](Row& row, const auto& entry) {
    row.words(title, entry.name);
    row.words("what", entry.summary);
    more(row, entry);
  });
}

/// Of entries that have no more.
constexpr auto kNoMore = [](Row&, const auto&) {};

Table placement_table(const Data&) {
  return family_table("placement", placements(),
                      [](Row& row, const Placement& entry) { row.words("source", entry.citation); });
}

Table launcher_table(const Data&) {
  return family_table("launcher", launchers(), [path = this_host().path](Row& row, const Launcher& entry) {
    row.words("state", state_text(entry.availability(path)));
  });
}

Table engine_table(const Data&) {
  return family_table("engine", engines(), [path = this_host().path](Row& row, const Engine& entry) {
    row.words("state", state_text(entry.availability(path)));
  });
}

Table workload_table(const Data& data) {
  std::vector<Trace> traces;
  for (const std::string& name : data.traces.names()) traces.push_back(data.traces.load(name));
  for (const PublishedShape& shape : published_shapes()) traces.push_back(computed_trace(shape.name));
  return table_of(traces, [](Row& row, const Trace& trace) {
    row.words("workload", trace.name);
    row.words("what", trace.title);
    row.number("parameters", fmt::format("{:.0f}", trace.elements()));
    row.number("tensors", std::to_string(trace.timeline.gradients.size()));
    row.words("timeline", trace.source);
  });
}

Table model_table(const Data&) {
  return table_of(models(), [](Row& row, const ModelEntry& model) {
    row.words("model", model.name);
    row.words("what", model.title);
    row.number("parameters", std::to_string(model.parameters));
    row.number("smallest image", std::to_string(model.smallest_image));
    row.words("source", model.citation);
  });
}

/// `bucket-view (gradient_as_bucket_view, which saves a copy)`.
std::string settings_text(std::span<const FrameworkSetting> settings) {
  std::string text;
  for (const FrameworkSetting& setting : settings)
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", setting.name, setting.summary);
  return text.empty() ? "-" : text;
}

Table framework_table(const Data&) {
  return family_table("framework", frameworks(), [](Row& row, const Framework& each) {
    const FoundFramework found = find_framework({&each});
    row.words("settings", settings_text(each.settings));
    row.words("simulated as", each.preset);
    row.words("installed by", each.install);
    row.words("state",
              found.state.available ? fmt::format("{}, by {}", found.version, found.python) : found.state.reason);
  });
}

Table report_table(const Data&) { return family_table("report", reports(), kNoMore); }

Table format_table(const Data&) { return family_table("format", formats(), kNoMore); }

Table import_table(const Data&) {
  return family_table("format", import_formats(),
                      [](Row& row, const ImportFormat& entry) { row.words("example", entry.example); });
}

Table comparison_table(const Data&) {
  return family_table("comparison", ready_comparisons(), [](Row& row, const ReadyComparison& entry) {
    row.words("frameworks", entry.presets);
    row.words("workloads", entry.workloads);
    row.words("GPUs", entry.gpus);
  });
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

#include "bench/output/listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/catalogue/figures.hpp"
#include "analysis/import/format.hpp"
#include "analysis/prediction/case_strategy.hpp"
#include "bench/frameworks/framework_job.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/launcher.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/network/choose.hpp"
#include "collectives/placement/placement.hpp"
#include "reports/catalogue/profiles.hpp"
#include "reports/formats/formats.hpp"
#include "reports/report.hpp"
#include "workloads/methods/method.hpp"
#include "workloads/methods/plan_check.hpp"
#include "workloads/models/models.hpp"
#include "workloads/optimizers/optimizer.hpp"
#include "workloads/presets/preset.hpp"
#include "workloads/step/transformer.hpp"

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

std::string text(std::string_view view) { return std::string(view); }

/// `name`, or `name:fields (defaults)`.
std::string full_name(const auto& entry) {
  if (entry.fields.empty()) return text(entry.name);
  return fmt::format("{}:{} ({})", entry.name, entry.fields, entry.defaults);
}

/// The worlds that an algorithm serves.
std::string_view worlds_of(const Algorithm& algorithm) {
  if (algorithm.uses_servers) return "workers and servers";
  return algorithm.uses_groups ? "full nodes" : "any";
}

struct CostTexts {
  std::string rounds = "-", sent = "-";
};

/// On 8 workers, with as many servers or as large nodes as is said beside it.
CostTexts costs_of(const Algorithm& algorithm) {
  if (algorithm.is_vendor()) return {};
  constexpr std::int64_t kElements = 8'000'000;
  const World world{.workers = 8, .servers = algorithm.uses_servers ? 2 : 0, .group = algorithm.uses_groups ? 4 : 1};
  const Cost cost = algorithm.cost({.world = world, .parameters = algorithm.defaults}, kElements);
  const char* where = algorithm.uses_servers ? " (2 servers)" : algorithm.uses_groups ? " (nodes of 4)" : "";
  return {fmt::format("{}{}", cost.rounds, algorithm.segments != nullptr ? " (1 segment)" : ""),
          fmt::format("{:.3g} S{}", static_cast<double>(cost.sent) / static_cast<double>(kElements), where)};
}

std::string_view name_of(Exchange exchange) {
  switch (exchange) {
    case Exchange::per_hop:
      return "per-hop";
    case Exchange::gather:
      return "gather";
    case Exchange::low_rank:
      return "low-rank";
  }
  return "";
}

std::string bits_of(const CompressorChoice& choice) {
  constexpr std::int64_t kElements = 1'000'000;
  const double bits = 8.0 * static_cast<double>(choice.codec->max_wire_bytes(kElements)) / kElements;
  return fmt::format("{}{:.4g}", choice.compressor->bytes_vary ? "at most " : "", bits);
}

/// Whether the mean of many decoded forms is the input.
std::string_view unbiased_text(const CompressorChoice& choice) {
  if (choice.verbatim()) return "exact";
  return choice.compressor->unbiased ? "yes" : "no";
}

std::string_view agreement_of(const Fusion& fusion) {
  switch (fusion.negotiation) {
    case Negotiation::none:
      return "no";
    case Negotiation::names:
      return "by name";
    case Negotiation::bits:
      return "by a bit each";
  }
  return "";
}

std::string limits_of(const Fusion& fusion) {
  std::string limits = fusion.varies ? "buckets may differ from step to step: not with powersgd" : "";
  if (fusion.learns) limits += fmt::format("{}the first step is not typical", limits.empty() ? "" : "; ");
  return limits;
}

/// Returns `57 us (40 to 200)`: the figure times `units`, in `unit`.
std::string range_of(const PresetFigure& figure, double units, std::string_view unit) {
  if (figure.stated == 0) return "not known";
  std::string range = fmt::format("{:g} {}", figure.stated * units, unit);
  if (!figure.is_certain())
    range += fmt::format(" ({:g} to {:g})", std::min(figure.better, figure.worse) * units,
                         std::max(figure.better, figure.worse) * units);
  return range;
}

/// The label of what a framework sends, with its fusion policy even where that is the usual one.
std::string strategy_text(const Preset& preset) {
  Strategy strategy = planned({}, strategy_of(preset, 1)).asked.strategy;
  strategy.preset.clear();
  const std::string fusion = std::exchange(strategy.fusion, "");
  return fmt::format("{}, {}", strategy.label(), fusion == kUnfused ? "no fusion" : fusion);
}

/// Sources that many rows have, each said once.
class Sources {
 public:
  /// Returns ` [2]`: the source's number.
  std::string mark(std::string_view source) {
    const auto known = std::ranges::find(sources_, source);
    const auto number = known - sources_.begin() + 1;
    if (known == sources_.end()) sources_.push_back(source);
    return fmt::format(" [{}]", number);
  }
  /// `[1] who says it. [2] ...`
  std::string in_words() const {
    std::string text;
    for (std::size_t i = 0; i < sources_.size(); ++i) text += fmt::format(" [{}] {}.", i + 1, sources_[i]);
    return text;
  }

 private:
  std::vector<std::string_view> sources_;
};

/// What few presets have: a cost of each step, of compressors that are more than a cast, and a rate of servers.
std::string more_of(const Preset& preset, Sources& sources) {
  std::string more;
  const auto add = [&](const PresetFigure& figure, double scale, const char* unit, std::string_view of) {
    if (figure.worse > 0)
      more += fmt::format("{}{} {}{}", more.empty() ? "" : "; ", range_of(figure, scale, unit), of,
                          sources.mark(figure.source));
  };
  add(preset.per_step, 1e3, "ms", "per step");
  add(preset.coding_per_byte, 1e9, "ns", "per coded byte");
  add(preset.coding_per_tensor, 1e3, "ms", "per coded tensor");
  add(preset.server_rate, 1e-9, "GB/s", "per server");
  return more.empty() ? "-" : more;
}

Table algorithm_table(const Data&) {
  Table table{.columns = {"algorithm", "collective", "what", "worlds", numbers("rounds on 8 workers"),
                          numbers("sent by the busiest, of S"), "source"}};
  for (const Algorithm* entry : algorithms()) {
    const CostTexts costs = costs_of(*entry);
    table.rows.push_back({full_name(*entry), text(to_string(entry->collective)), text(entry->summary),
                          text(worlds_of(*entry)), costs.rounds, costs.sent, text(entry->citation)});
  }
  return table;
}

Table compressor_table(const Data&) {
  Table table{.caption =
                  "Bits are those of a million elements, errors those of normally distributed values, with the "
                  "defaults in brackets. \"ef:\" before a name adds error feedback.",
              .columns = {"compressor", "what", "exchange", numbers("bits per element"), numbers("relative L2 error"),
                          "unbiased", "NaN and infinities", "source"}};
  for (const Compressor* entry : compressors()) {
    const CompressorChoice choice = parse_compressor(entry->name);
    table.rows.push_back({full_name(*entry), text(entry->summary), text(name_of(entry->exchange)), bits_of(choice),
                          fmt::format("{:.2g}", entry->relative_l2_error), text(unbiased_text(choice)),
                          text(entry->not_finite.what), text(entry->citation)});
  }
  return table;
}

Table method_table(const Data&) {
  Table table{.columns = {"method", "what", numbers("iterations unseen"), "source"}};
  for (const Method* entry : methods()) {
    const MethodChoice choice = parse_method(entry->name);
    const std::optional<int> staleness = prove_plan(choice.plan(true)).facts.staleness;
    table.rows.push_back(
        {choice.text(), text(entry->summary), staleness ? std::to_string(*staleness) : "any", text(entry->citation)});
  }
  return table;
}

Table optimizer_table(const Data&) {
  Table table{.columns = {"optimizer", "what", numbers("numbers kept per parameter"), "source"}};
  for (const Optimizer* entry : optimizers()) {
    std::string name = text(entry->name);
    for (const NumberField& field : entry->fields) name += fmt::format(":{}", field.standard);
    table.rows.push_back({name, text(entry->summary), std::to_string(entry->state), text(entry->citation)});
  }
  return table;
}

Table fusion_table(const Data&) {
  Table table{.columns = {"fusion", "what", "ranks agree first", "limits", "source"}};
  for (const Fusion* entry : fusions())
    table.rows.push_back({full_name(*entry), text(entry->summary), text(agreement_of(*entry)), limits_of(*entry),
                          text(entry->citation)});
  return table;
}

Table preset_table(const Data&) {
  Table table{.columns = {"preset", "what", "strategy", numbers("host, per bucket"), numbers("beside compute"), "more",
                          "source"}};
  Sources sources;
  for (const Preset* entry : presets())
    table.rows.push_back({text(entry->name), text(entry->summary), strategy_text(*entry),
                          range_of(entry->per_bucket, 1e6, "us") +
                              (entry->per_bucket.stated > 0 ? sources.mark(entry->per_bucket.source) : ""),
                          range_of(entry->overlap, 100, "%"), more_of(*entry, sources), text(entry->citation)});
  table.caption = fmt::format(
      "Of figures the range is that of the band. Beside compute: {}. Steps of hbench's own engine have none: the host "
      "costs nothing, in the band up to {:g} us per bucket: {}. Sources of figures:{}",
      kUsualOverlap.source, kUnnamedFramework.per_bucket.worse * 1e6, kUnnamedFramework.per_bucket.source,
      sources.in_words());
  return table;
}

Table executor_table(const Data&) {
  Table table{.columns = {"executor", "what", "evidence", "limits", "state"}};
  for (const ExecutorKind* entry : executors())
    table.rows.push_back({text(entry->name), text(entry->summary), text(entry->evidence), text(entry->limits),
                          state_text(entry->availability())});
  return table;
}

constexpr std::array kListings{
    Listing{"algorithms", "algorithms of each collective", algorithm_table},
    Listing{"compressors", "how gradients are encoded on the wire", compressor_table},
    Listing{"methods", "what the ranks of a job do in an iteration", method_table},
    Listing{"optimizers", "how a step changes parameters, and what that keeps", optimizer_table},
    Listing{"fusion", "when gradients are sent, and in which buckets", fusion_table},
    Listing{"placements", "which parameter server holds what", placement_table},
    Listing{"presets", "frameworks to simulate", preset_table},
    Listing{"frameworks", "frameworks to measure", framework_table, "state"},
    Listing{"executors", "how ranks communicate", executor_table, "state"},
    Listing{"launchers", "how ranks are started", launcher_table, "state"},
    Listing{"profiles", "clusters to simulate",
            [](const Data& data) { return profile_table(all_profiles(data.profiles)); }},
    Listing{"workloads", "timelines to simulate", workload_table},
    Listing{"models", "LibTorch models to train and to calibrate", model_table},
    Listing{"reports", "what a report is about", report_table},
    Listing{"formats", "output formats of reports", format_table},
    Listing{"imports", "outputs of other programs that hbench import reads", import_table},
};

}  // namespace

std::string listing_json(const Table& table, Form form) {
  return json_text(form, "hbench list --json, of all but profiles", table_json(form, table));
}

std::span<const Listing> listings() {
  static const std::vector<Listing> all = with_features<Listing>(kListings, &Feature::listings);
  return all;
}

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

std::string state_text(const Availability& availability) {
  return availability.available ? "available" : fmt::format("not available: {}", availability.in_words());
}

}  // namespace hbench

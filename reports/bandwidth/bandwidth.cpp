#include "reports/bandwidth/bandwidth.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/prediction/varied_network.hpp"
#include "analysis/records/words.hpp"
#include "reports/rows/fields.hpp"

namespace hbench {
namespace {

/// `38 (21 to 90)`, `38 (21+)` where the worse end is not reached, `never (64+)`, `never`.
std::string cell(const RequiredBandwidth& required) {
  std::string text = required.stated ? gigabits(*required.stated) : "never";
  if (!required.least) return text;
  text += " (" + gigabits(*required.least);
  return text + (required.most ? fmt::format(" to {})", gigabits(*required.most)) : "+)");
}

/// In Gbit/s, divided among `shared_by`.
std::optional<double> rate_value(const std::optional<BytesPerSecond>& rate, int shared_by = 1) {
  return rate ? std::optional(in_gigabits(*rate) * (1.0 / shared_by)) : std::nullopt;
}

std::string nodes_in_words(const Profile& base) {
  return base.gpus_per_node == 1 ? "node of 1 GPU" : fmt::format("node of {} GPUs", base.gpus_per_node);
}

/// What was asked about, each thing once and in order.
struct Axes {
  std::vector<std::string> workloads, strategies;
  std::vector<int> gpus;
};

Axes axes_of(const BandwidthAnswer& answer) {
  Axes axes;
  const auto add = [](auto& list, const auto& item) {
    if (std::ranges::find(list, item) == list.end()) list.push_back(item);
  };
  for (const RequiredBandwidth& each : answer.required) {
    add(axes.workloads, each.asked.workload);
    add(axes.strategies, each.asked.strategy.label());
    add(axes.gpus, each.asked.gpus);
  }
  std::ranges::sort(axes.gpus);
  return axes;
}

const RequiredBandwidth* find(const BandwidthAnswer& answer, const std::string& workload, const std::string& strategy,
                              int gpus) {
  for (const RequiredBandwidth& each : answer.required)
    if (each.asked.workload == workload && each.asked.gpus == gpus && each.asked.strategy.label() == strategy)
      return &each;
  return nullptr;
}

/// `38 Gbit/s with ring (4.7 per GPU)`, in the order in which strategies were asked for; of more than two that reach
/// the target, the one that needs least and the one that needs most. Those that never do have the last part.
std::vector<std::string> needs_in_words(const BandwidthAnswer& answer, const Axes& axes, const std::string& workload) {
  std::vector<const RequiredBandwidth*> reached;
  std::vector<std::string> never;
  for (const std::string& strategy : axes.strategies) {
    const RequiredBandwidth* required = find(answer, workload, strategy, axes.gpus.back());
    if (required == nullptr) continue;
    if (required->stated)
      reached.push_back(required);
    else
      never.push_back(strategy);
  }
  constexpr std::size_t kMostNamed = 2;
  if (reached.size() > kMostNamed) {
    std::ranges::stable_sort(reached, {}, [](const RequiredBandwidth* each) { return *each->stated; });
    reached = {reached.front(), reached.back()};
  }
  std::vector<std::string> parts;
  for (const RequiredBandwidth* required : reached) {
    parts.push_back(fmt::format("{} Gbit/s with {}", gigabits(*required->stated), required->asked.strategy.label()));
    if (const int shared_by = answer.base.gpus_per_node; shared_by > 1)
      parts.back() += fmt::format(" ({} per GPU)", gigabits(*required->stated / shared_by));
  }
  if (!never.empty())
    parts.push_back(fmt::format("never reached with {}", never.size() > kMostNamed
                                                             ? fmt::format("{} others", never.size())
                                                             : fmt::format("{}", fmt::join(never, ", "))));
  return parts;
}

std::string verdict(const BandwidthAnswer& answer, const Axes& axes) {
  std::string text = fmt::format("Simulated: {} of ideal speed on {} GPUs takes, of the network of each {}:",
                                 typed_percent(answer.target), axes.gpus.back(), nodes_in_words(answer.base));
  for (const std::string& workload : axes.workloads)
    text +=
        fmt::format(" {}: {}.", answer.titles.at(workload), fmt::join(needs_in_words(answer, axes, workload), ", "));
  return text;
}

/// The first figure of the tables whose band has, or lacks, an upper end: `38 (21 to 90)`; empty where there is none.
std::string example_of(const BandwidthAnswer& answer, bool with_end) {
  const auto found = std::ranges::find_if(answer.required, [&](const RequiredBandwidth& each) {
    return each.stated && each.least && each.most.has_value() == with_end;
  });
  return found == answer.required.end() ? "" : cell(*found);
}

std::string method(const BandwidthAnswer& answer) {
  std::set<std::string> presets;
  for (const RequiredBandwidth& each : answer.required) presets.insert(each.asked.strategy.preset);
  std::string text = fmt::format(
      "Gbit/s that reach the receiver, each way, between nodes like those of {} ({}); all but the rate of their "
      "network is kept, and nothing holds single streams back. In brackets: the 90 % band of the prediction",
      answer.base.name, answer.base.title);
  if (const std::string example = example_of(answer, true); !example.empty())
    text += fmt::format(", as in {}", example);
  text += ".";
  if (const std::string example = example_of(answer, false); !example.empty())
    text += fmt::format(
        " {} has no upper end: at the worse end no network is fast enough, because published steps are slower than "
        "simulated ones for reasons that no network mends (hbench validate); lower targets have one.",
        example);
  if (!answer.batches.empty()) text += fmt::format(" Batches: {}.", answer.batches);
  text += presets_in_words(presets);
  std::vector<UnknownKind> widest;
  for (const RequiredBandwidth& each : answer.required)
    if (each.widest) widest.push_back(*each.widest);
  return text + " Never: no network is fast enough. " + widest_in_words(widest);
}

/// A column of numbers for each, of which the last asked for is left out first.
void add_strategies(Table& table, const Axes& axes) {
  for (int i = 0; const std::string& strategy : axes.strategies) table.columns.push_back(numbers(strategy, i++));
}

Table required_table(const BandwidthAnswer& answer, const Axes& axes, const std::string& workload) {
  Table table{.caption = fmt::format("{}: Gbit/s that a {} needs for {}", answer.titles.at(workload),
                                     nodes_in_words(answer.base), typed_percent(answer.target)),
              .columns = {numbers("GPUs")}};
  add_strategies(table, axes);
  for (const int gpus : axes.gpus) {
    std::vector<std::string>& row = table.rows.emplace_back(std::vector{std::to_string(gpus)});
    for (const std::string& strategy : axes.strategies) {
      const RequiredBandwidth* required = find(answer, workload, strategy, gpus);
      row.push_back(required == nullptr ? "-" : cell(*required));
    }
  }
  return table;
}

/// Of networks that reach about the same one is enough.
struct NetworkLine {
  std::string label;
  double rate;  ///< Gbit/s
};

std::vector<NetworkLine> lines_of(const BandwidthAnswer& answer) {
  constexpr double kSame = 1.05;
  std::vector<std::vector<const KnownNetwork*>> alike;
  for (const KnownNetwork& network : answer.networks) {
    if (alike.empty() || network.reaches > alike.back().front()->reaches * kSame) alike.emplace_back();
    alike.back().push_back(&network);
  }
  std::vector<NetworkLine> lines;
  for (const auto& group : alike)
    lines.push_back({fmt::format("{} Gbit/s: {}{}", gigabits(group.front()->reaches), group.front()->profile,
                                 group.size() > 1 ? fmt::format(" and {} more", group.size() - 1) : ""),
                     in_gigabits(group.front()->reaches)});
  return lines;
}

Chart required_chart(const BandwidthAnswer& answer, const Axes& axes, const std::string& workload) {
  Chart chart{.id = "required-bandwidth-" + workload,
              .title = answer.titles.at(workload),
              .x_title = "GPUs",
              .y_title = fmt::format("Gbit/s per node for {}", typed_percent(answer.target)),
              .x_log2 = true,
              .y_log10 = true,
              .end_labels = true};
  double least = INFINITY, most = 0;
  for (const std::string& strategy : axes.strategies) {
    Series series{.label = strategy, .mark = Mark::simulated};
    for (const int gpus : axes.gpus) {
      const RequiredBandwidth* required = find(answer, workload, strategy, gpus);
      if (required == nullptr || !required->stated) continue;
      ChartPoint point{.x = static_cast<double>(gpus), .y = in_gigabits(*required->stated)};
      if (required->least) point.low = in_gigabits(*required->least);
      if (required->most) point.high = in_gigabits(*required->most);
      point.note = required->most ? "" : "no upper end";
      least = std::min(least, point.low.value_or(point.y));
      most = std::max(most, point.high.value_or(point.y));
      series.points.push_back(std::move(point));
    }
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  constexpr double kNear = 2;
  if (most > 0) {
    chart.y_min = least / kNear;
    chart.y_max = most * kNear;
  }
  for (const NetworkLine& line : lines_of(answer))
    if (line.rate > least / kNear && line.rate < most * kNear)
      chart.lines.push_back({.label = line.label, .at = line.rate});
  chart.caption =
      "Shaded: the 90 % band of one line at a time; where it has no upper end it stops at the figure. Dashed: what "
      "networks of such GPUs reach.";
  return chart;
}

/// The most GPUs, of those asked for, up to which a network is enough.
std::string enough_for(const BandwidthAnswer& answer, const Axes& axes, const std::string& workload,
                       const std::string& strategy, BytesPerSecond reaches) {
  std::string most = "-";
  for (const int gpus : axes.gpus) {
    const RequiredBandwidth* required = find(answer, workload, strategy, gpus);
    if (required != nullptr && required->stated && *required->stated <= reaches) most = std::to_string(gpus);
  }
  return most;
}

Table network_table(const BandwidthAnswer& answer, const Axes& axes, const std::string& workload) {
  Table table{.caption = fmt::format("{}: the most GPUs, of those asked for, for which the network of a cluster is "
                                     "enough by its rate alone (Gbit/s that one path between two nodes reaches)",
                                     answer.titles.at(workload)),
              .columns = {"cluster", numbers("reaches")}};
  add_strategies(table, axes);
  for (const KnownNetwork& network : answer.networks) {
    std::vector<std::string>& row = table.rows.emplace_back(std::vector{network.profile, gigabits(network.reaches)});
    for (const std::string& strategy : axes.strategies)
      row.push_back(enough_for(answer, axes, workload, strategy, network.reaches));
  }
  return table;
}

/// Cases of one workload, strategy and reason that no network helps.
struct Never {
  const RequiredBandwidth* first;
  std::vector<int> gpus;
  double least = 1, most = 0;                  ///< efficiency on an unlimited network
  double least_without = 1, most_without = 0;  ///< and without the obstacle
};

std::vector<Never> nevers(const BandwidthAnswer& answer) {
  std::vector<Never> all;
  for (const RequiredBandwidth& each : answer.required) {
    if (each.stated) continue;
    const auto same = [&](const Never& known) {
      return known.first->asked.workload == each.asked.workload && known.first->obstacle == each.obstacle &&
             known.first->asked.strategy.label() == each.asked.strategy.label();
    };
    auto found = std::ranges::find_if(all, same);
    if (found == all.end()) found = all.insert(all.end(), {.first = &each});
    found->gpus.push_back(each.asked.gpus);
    found->least = std::min(found->least, each.best_efficiency);
    found->most = std::max(found->most, each.best_efficiency);
    found->least_without = std::min(found->least_without, each.without_obstacle);
    found->most_without = std::max(found->most_without, each.without_obstacle);
  }
  return all;
}

std::string percent_range(double least, double most) {
  const std::string low = fmt::format("{:.1f}", 100 * least), high = fmt::format("{:.1f}", 100 * most);
  return low == high ? low + " %" : fmt::format("{} to {} %", low, high);
}

Table never_table(const BandwidthAnswer& answer) {
  Table table{
      .caption = fmt::format("Never {}: the efficiency on a network of unlimited rate, what holds it back most "
                             "there, and the efficiency without that",
                             typed_percent(answer.target)),
      .columns = {"workload", "strategy", numbers("GPUs"), numbers("at best"), "held back by", numbers("without", 1)}};
  for (const Never& each : nevers(answer))
    table.rows.push_back({each.first->asked.workload, each.first->asked.strategy.label(),
                          fmt::format("{}", fmt::join(each.gpus, ", ")), percent_range(each.least, each.most),
                          each.first->obstacle, percent_range(each.least_without, each.most_without)});
  return table;
}

/// `always` where no network is too fast, null (in JSON) where none is slow enough.
void add_below(Row& row, std::string_view name, std::string_view title, const std::optional<BytesPerSecond>& rate) {
  Json json = rate && *rate >= kUnlimited ? Json("always") : json_of(rate_value(rate));
  if (row.form() == Form::schema) json = {{"type", {"number", "string", "null"}}};
  row.put(name, std::move(json), "or always; null: on no network");
  row.number(title, !rate ? "never" : *rate >= kUnlimited ? "always" : gigabits(*rate));
}

void break_even_fields(Row& row, const BreakEven& each) {
  const auto short_number = [](double value) { return fmt::format("{:.2g}", value); };
  const auto milliseconds = [](double seconds) { return fmt::format("{:.3g} ms", 1e3 * seconds); };
  row.field("workload", each.asked.workload).in("workload");
  row.field("gpus", each.asked.gpus);
  row.field("strategy", each.asked.strategy.label()).in("strategy");
  row.field("bits_per_element", each.bits_per_element, "on the wire")
      .in("bits per element", fmt::format("{}{:.4g}", each.bits_vary ? "at most " : "", each.bits_per_element), 2);
  row.field("bits_are_at_most", each.bits_vary, "whether they vary with the values");
  row.field("relative_l2_error", each.relative_error, "of normally distributed values")
      .in("relative L2 error", short_number, 1, "not known");
  row.field("coding_seconds", if_positive(each.coding.value), "of all gradients of a step, at the busiest GPU")
      .in("coding", milliseconds, 0, "not known");
  add_below(row, "surely_faster_below_gbit_per_second_per_node", "pays below", each.ahead_below);
  add_below(row, "break_even_gbit_per_second_per_node", "break-even", each.even_at);
}

Table break_even_table(const BandwidthAnswer& answer) {
  return table_of(
      answer.break_even, break_even_fields,
      {.caption = fmt::format("Compressors on {} GPUs: ahead of none (by more than the model's own error) below the "
                              "first rate, slower above the break-even; Gbit/s per node",
                              answer.break_even.front().asked.gpus)});
}

constexpr const char* kCodingNote =
    "Coding: all gradients of a step at the busiest GPU, by the memory traffic of hbench's own kernels (hbench list "
    "compressors). An implementation that takes k times as long, such as a chain of a framework's operators, breaks "
    "even at about a k-th of the rate: time it first. The error is that of normally distributed values; what it does "
    "to training is not simulated. Always: fewer bytes on the links inside nodes save more than coding takes, too.";

/// The rate that an efficiency takes, divided among `shared_by`.
void required_rate_fields(Row& row, const RequiredBandwidth& required, int shared_by) {
  row.field("least", rate_value(required.least, shared_by), "by the better end of the 90 % band");
  row.field("stated", rate_value(required.stated, shared_by), "null: no network is fast enough");
  row.field("most", rate_value(required.most, shared_by), "by the worse end");
}

void required_fields(Row& row, const RequiredBandwidth& required, int gpus_per_node) {
  const auto rate = [](int shared_by) {
    return [shared_by](Row& of, const RequiredBandwidth& each) { required_rate_fields(of, each, shared_by); };
  };
  row.field("workload", required.asked.workload);
  row.field("gpus", required.asked.gpus);
  row.field("nodes", required.asked.nodes);
  row.field("batch_per_gpu", required.asked.batch_per_gpu, "samples of a step");
  row.field("strategy", required.asked.strategy.label());
  row.field("evidence", "simulated");
  row.object("gbit_per_second_per_node", required, rate(1));
  row.object("gbit_per_second_per_gpu", required, rate(gpus_per_node));
  row.field("best_efficiency", required.best_efficiency, "on a network that takes no time, latency apart");
  row.field("most_of_band", required.widest ? if_stated(in_words(*required.widest)) : std::nullopt,
            "the unknown that makes most of the band");
  row.field("held_back_by", if_stated(required.obstacle), "where no network is fast enough");
  row.field("efficiency_without_that", if_known(!required.obstacle.empty(), required.without_obstacle));
}

void network_fields(Row& row, const KnownNetwork& network) {
  row.field("profile", network.profile);
  row.field("gbit_per_second_per_node", in_gigabits(network.reaches), "that one path between two nodes carries");
}

void answer_fields(Row& row, const BandwidthAnswer& answer) {
  row.field("target", answer.target, "efficiency to reach");
  row.field("profile", answer.base.name, "whose nodes are kept");
  row.field("gpus_per_node", answer.base.gpus_per_node);
  row.rows("required", answer.required,
           [&](Row& of, const RequiredBandwidth& each) { required_fields(of, each, answer.base.gpus_per_node); });
  row.rows("break_even", answer.break_even, break_even_fields);
  row.rows("networks", answer.networks, network_fields);
  row.rows("left_out", answer.refused, refusal_fields);
}

}  // namespace

Document bandwidth_document(const BandwidthAnswer& answer) {
  const Axes axes = axes_of(answer);
  std::vector<std::string> titles;
  for (const std::string& workload : axes.workloads) titles.push_back(answer.titles.at(workload));
  Document document{.title = fmt::format("The bandwidth that {} needs", fmt::join(titles, ", "))};
  document.blocks.emplace_back(Verdict{verdict(answer, axes)});
  ChartGroup charts{.title = "Required bandwidth"};
  for (const std::string& workload : axes.workloads) charts.charts.push_back(required_chart(answer, axes, workload));
  document.blocks.emplace_back(std::move(charts));
  document.blocks.emplace_back(Paragraph{method(answer)});
  for (const std::string& workload : axes.workloads)
    document.blocks.emplace_back(required_table(answer, axes, workload));
  document.add_table(never_table(answer));
  if (!answer.networks.empty())
    for (const std::string& workload : axes.workloads)
      document.blocks.emplace_back(network_table(answer, axes, workload));
  if (!answer.break_even.empty()) {
    document.blocks.emplace_back(break_even_table(answer));
    document.blocks.emplace_back(Paragraph{kCodingNote});
  }
  if (!answer.refused.empty())
    document.blocks.emplace_back(Paragraph{fmt::format("Left out: {}.", reasons(answer.refused))});
  return document;
}

std::string bandwidth_json(const BandwidthAnswer& answer, Form form) {
  return object_text(form, "hbench bandwidth --json", answer, answer_fields);
}

}  // namespace hbench

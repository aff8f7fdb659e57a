#include "tests/reports/samples.hpp"

#include <fmt/format.h>

#include <cmath>

namespace hbench {
namespace {

struct SampleNetwork {
  std::string name;
  double gbit;
};
struct SampleStrategy {
  std::string name;
  double volume;  ///< wire bytes per gradient byte, times a server's congestion
};
struct Workload {
  std::string name;
  std::string id;
  double demand;  ///< Gbit/s per unit of volume at which communication takes as long as computation
};

const SampleNetwork kNetworks[] = {{"25 Gbit/s", 20}, {"100 Gbit/s", 70}, {"InfiniBand HDR", 180}};
const SampleStrategy kStrategies[] = {
    {"ring", 2}, {"ps greedy, colocated", 5.5}, {"ps sliced, dedicated", 2.4}, {"ring + fp16", 1}};
const Workload kWorkloads[] = {{"ResNet-50", "resnet50", 5},
                               {"Inception V3", "inception3", 4},
                               {"VGG-16", "vgg16", 40},
                               {"BERT-large", "bert", 22}};

double toy_efficiency(const Workload& workload, const SampleStrategy& strategy, const SampleNetwork& network,
                      double gpus) {
  const double load = workload.demand * strategy.volume * (gpus - 1) / gpus / network.gbit;
  return 1 / (1 + 0.006 * std::log2(gpus) + 0.35 * load * (0.6 + 0.06 * std::log2(gpus)));
}

Series simulated(const Workload& workload, const SampleStrategy& strategy, const SampleNetwork& network, bool shown) {
  Series series{.label = fmt::format("{}, {} (simulated)", strategy.name, network.name),
                .mark = Mark::simulated,
                .group = strategy.name,
                .family = network.name,
                .points = {},
                .shown = shown};
  for (double gpus = 1; gpus <= 128; gpus *= 2) {
    const double y = toy_efficiency(workload, strategy, network, gpus);
    const double spread = 0.05 * (1 - y) + 0.004 * std::log2(gpus);
    series.points.push_back({gpus, y, y - spread, std::min(1.0, y + spread),
                             fmt::format("profile {}; baseline 61.2 samples/s on one GPU", network.name)});
  }
  return series;
}

Series measured(const Workload& workload, const SampleStrategy& strategy, double largest) {
  Series series{.label = strategy.name + ", 25 Gbit/s (measured)",
                .mark = Mark::measured,
                .group = strategy.name,
                .family = kNetworks[0].name,
                .points = {}};
  for (double gpus = 1; gpus <= largest; gpus *= 2) {
    const double y = toy_efficiency(workload, strategy, kNetworks[0], gpus) * (gpus > 1 ? 0.97 : 1.0);
    series.points.push_back(
        {gpus, y, y - 0.025, y + 0.02, "5 launches; baseline one process without communication, 61.2 samples/s"});
  }
  return series;
}

Chart efficiency_chart(const Workload& workload) {
  Chart chart{.id = "efficiency-" + workload.id,
              .title = workload.name,
              .x_title = "GPUs",
              .y_title = "Scaling efficiency",
              .x_log2 = true,
              .y_percent = true,
              .y_min = 0,
              .y_max = 1.1,
              .series = {{.label = "ideal", .mark = Mark::ideal, .points = {{1, 1, {}, {}, ""}, {128, 1, {}, {}, ""}}}},
              .caption =
                  "Throughput on n GPUs over n times the throughput of one GPU. Bands: the profile's uncertainty; "
                  "whiskers: 95 % bootstrap over launches."};
  for (const SampleStrategy& strategy : kStrategies)
    for (const SampleNetwork& network : kNetworks)
      chart.series.push_back(simulated(workload, strategy, network, strategy.name == "ring" || strategy.volume > 5));
  chart.series.push_back(measured(workload, kStrategies[0], 8));
  chart.series.push_back(measured(workload, kStrategies[1], 8));
  chart.series.push_back(
      {.label = "ring, 25 Gbit/s (published)",
       .mark = Mark::published,
       .group = "ring",
       .family = kNetworks[0].name,
       .points = {{128, 0.74, {}, {}, "a paper, table 2"}, {512, 0.66, {}, {}, "a paper, table 2"}}});
  return chart;
}

Chart throughput_chart(const Workload& workload) {
  Chart chart = efficiency_chart(workload);
  chart.id = "throughput-" + workload.id;
  chart.y_title = "Samples/s, all GPUs";
  chart.y_percent = false;
  chart.y_max.reset();
  for (Series& series : chart.series)
    for (ChartPoint& point : series.points) {
      const double rate = 61.2 * point.x;
      point.y *= rate;
      if (point.low) point.low = *point.low * rate;
      if (point.high) point.high = *point.high * rate;
    }
  return chart;
}

Table points_table() {
  Table table{.caption = "All points",
              .columns = {"workload", "strategy", "network", numbers("GPUs"), "evidence", numbers("efficiency"),
                          numbers("samples/s")},
              .rows = {},
              .folded = true};
  for (const Workload& workload : kWorkloads)
    for (const SampleStrategy& strategy : kStrategies)
      for (double gpus = 1; gpus <= 128; gpus *= 2) {
        const double y = toy_efficiency(workload, strategy, kNetworks[0], gpus);
        table.rows.push_back({workload.name, strategy.name, kNetworks[0].name, fmt::format("{}", gpus), "simulated",
                              fmt::format("{:.1f} %", 100 * y), fmt::format("{:.0f}", 61.2 * gpus * y)});
      }
  return table;
}

}  // namespace

Document small_document() {
  const Chart chart{
      .id = "efficiency",
      .title = "VGG-16",
      .x_title = "GPUs",
      .y_title = "Scaling efficiency",
      .x_log2 = true,
      .y_percent = true,
      .y_min = 0,
      .series = {{.label = "ideal", .mark = Mark::ideal, .points = {{1, 1, {}, {}, ""}, {8, 1, {}, {}, ""}}},
                 {.label = "ring (simulated)",
                  .mark = Mark::simulated,
                  .group = "ring",
                  .points = {{1, 1, {}, {}, ""}, {8, 0.75, 0.7, 0.8, "profile x"}}},
                 {.label = "ring (measured)",
                  .mark = Mark::measured,
                  .group = "ring",
                  .points = {{2, 0.9, 0.875, 0.925, "5 launches, baseline 61.2 samples/s"}}},
                 {.label = "ps (emulated)", .mark = Mark::emulated, .group = "ps", .points = {{4, 0.5, {}, {}, ""}}},
                 {.label = "ps (published)",
                  .mark = Mark::published,
                  .group = "ps",
                  .points = {{8, 0.25, {}, {}, "table 2"}},
                  .shown = false}},
      .caption = "Of one GPU's throughput."};
  Chart steps = chart;
  steps.id = "step-time";
  steps.title = "Step time";
  steps.y_title = "ms";
  steps.x_log2 = steps.y_percent = false;
  steps.end_labels = true;
  steps.lines = {{.label = "at most", .at = 0.8}, {.label = "by then", .at = 6, .vertical = true}};
  const Chart panels{
      .id = "panels",
      .title = "On two networks",
      .x_title = "date",
      .y_title = "ms",
      .x_dates = true,
      .panels = true,
      .series = {{.label = "ring on slow",
                  .group = "ring",
                  .family = "slow",
                  .points = {{0, 1, {}, {}, ""}, {86400, 2, {}, {}, "", "3f2a91c"}}},
                 {.label = "ring on fast", .group = "ring", .family = "fast", .points = {{0, 3, {}, {}, ""}}}}};
  return {
      .title = "Scaling of VGG-16",
      .blocks = {Verdict{"On 8 GPUs ring keeps 75 % (70 to 80)."},
                 Warnings{{"ring on 2 GPUs: the machine was busy", "ps: 3 < 4 launches"}},
                 ChartGroup{"Scaling efficiency", {chart, steps}}, Heading{1, "Points"},
                 Paragraph{"Efficiency is throughput over n times that of one GPU, measured on the same machine in "
                           "the same session; a row without a baseline has none."},
                 Table{"By strategy",
                       {"strategy", numbers("GPUs"), numbers("efficiency")},
                       {{"ring", "8", "75.0 %"}, {"ps", "128", "25.0 %"}}},
                 Heading{2, "What ran where"}, Table{"Machines", {"name", numbers("cores")}, {{"a_b*c|d", "2"}}, true},
                 Table{.caption = "The fastest",
                       .columns = {"workload", numbers("GPUs"), "10 Gbit/s"},
                       .rows = {{"VGG-16", "8", "A"}, {"VGG-16", "16", "A~B"}, {"ResNet-50", "8", "all"}},
                       .grouped = true,
                       .tints = {{{}, {}, {.group = "ring", .strength = 1, .label = "ring"}},
                                 {{}, {}, {.label = "ring ~ ps"}}}},
                 panels, Chart{.id = "empty", .title = "Nothing yet", .x_title = "x", .y_title = "y"}}};
}

Document rich_document() {
  ChartGroup efficiency{"Scaling efficiency", {}}, throughput{"Throughput", {}};
  for (const Workload& workload : kWorkloads) {
    efficiency.charts.push_back(efficiency_chart(workload));
    throughput.charts.push_back(throughput_chart(workload));
  }
  return {
      .title = "hbench: four workloads on three networks, up to 128 GPUs",
      .blocks = {Verdict{"At 128 GPUs on 25 Gbit/s, ring keeps ResNet-50 at 80 % and VGG-16 at 38 %; parameter servers "
                         "stay below ring everywhere, and fp16 halves what VGG-16 loses."},
                 efficiency, throughput, Heading{1, "Points"},
                 Paragraph{"Each figure names its evidence. Simulated ones carry the uncertainty of their profile."},
                 Table{"Efficiency at 128 GPUs, 25 Gbit/s",
                       {"workload", numbers("ring"), numbers("ps greedy"), numbers("ring + fp16")},
                       {{"ResNet-50", "80.4 %", "57.1 %", "88.0 %"}, {"VGG-16", "38.2 %", "17.9 %", "55.0 %"}}},
                 points_table(), Heading{1, "What ran where"},
                 Paragraph{"Simulator 1 with profiles of 2017 and 2020; engine 1 on eight cores."}}};
}

Document document_saying(const std::string& text) {
  const Chart chart{
      .id = text,
      .title = text,
      .x_title = text,
      .y_title = text,
      .end_labels = true,
      .series = {{.label = text, .group = text, .family = text, .points = {{1, 2, 1.0, 3.0, text, text}}}},
      .lines = {{.label = text, .at = 2}},
      .caption = text};
  Chart panels = chart;
  panels.panels = true;
  return {.title = text,
          .blocks = {Verdict{text}, Warnings{{text, text}}, Heading{1, text}, Paragraph{text},
                     Table{text, {text}, {{text}}}, Table{text, {text}, {{text}}, true},
                     Table{.caption = text,
                           .columns = {text, text},
                           .rows = {{text, text}},
                           .grouped = true,
                           .tints = {{{}, {.group = text, .strength = 1, .label = text}}}},
                     chart, ChartGroup{text, {chart, panels}},
                     Lanes{.title = text, .rows = {{text, {{0, 3, text}}}}, .notes = {text}}}};
}

}  // namespace hbench

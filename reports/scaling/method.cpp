#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

Table definitions() {
  return {
      .caption = "What the words mean",
      .columns = {"word", "meaning"},
      .rows = {
          {"scaling efficiency", "throughput on N GPUs / (N x throughput of the baseline)"},
          {"baseline",
           "simulated: one GPU without communication at the rate that the profile states; measured: one "
           "process without communication, same machine, batch and image size; published: one GPU as the "
           "source states it"},
          {"measured",
           "timed here; the job's step, which is the mean over ranks, the median over iterations, then over launches; "
           "warm-up left out. Interval: where 95 of 100 repeats of the whole run lie, from the launches' ratios to the "
           "baseline launches beside them"},
          {"emulated",
           "timed here on links slowed to a profile: of this machine's own steps, or of a cluster's, whose compute is "
           "replayed in stretched time"},
          {"simulated",
           "computed from a recorded timeline of a step, the schedule of the collective and a network profile "
           "(collectives/network). Band: where 9 of 10 real steps lie, as wide as what is not known makes it "
           "(hbench validate tries it on published steps)"},
          {"published", "as printed by its source; not repeated here"},
          {"ring", "ring all-reduce: every rank sends and receives 2(N-1)/N of the gradients"},
          {"ps",
           "synchronous parameter servers. greedy: whole tensors, spread by size; sliced: tensors cut to balance "
           "bytes; dedicated: on nodes of their own; colocated: on the workers' nodes"},
          {"vendor", "the communication library's own all-reduce"},
          {"+ fp16", "gradients halved to 16 bits on the wire"}}};
}

std::set<std::string> profiles_of(const std::vector<Point>& points) {
  std::set<std::string> profiles;
  for (const Point& point : points) profiles.insert(point.asked.profile);
  return profiles;
}

Table networks(const Scaling& scaling) {
  Table table{.caption = "Networks", .columns = {"network", "in full", "GPU"}};
  for (const std::string& profile : profiles_of(scaling.input.points)) {
    const auto title = scaling.input.profile_titles.find(profile);
    const auto gpu = scaling.input.profile_gpus.find(profile);
    const bool elsewhere = std::ranges::all_of(scaling.input.points, [&](const Point& point) {
      return point.asked.profile != profile || has_recorded_rate(point.asked);
    });
    const bool unknown = elsewhere || gpu == scaling.input.profile_gpus.end();
    if (title != scaling.input.profile_titles.end())
      table.rows.push_back({profile, title->second, unknown ? "-" : gpu->second});
  }
  return table;
}

Table run_table(const Run& run) {
  Table table{.caption = fmt::format("Run of {}", run.started_at), .columns = {"what", ""}};
  table.rows = {{"command", run.command}, {"hbench", run.version}};
  for (const auto& [fact, value] : run.environment) table.rows.push_back({fact, value});
  return table;
}

}  // namespace

Blocks method(const Scaling& scaling) {
  Blocks blocks{Heading{1, "What ran where, and how"}};
  for (const Run& run : scaling.input.runs) blocks.push_back(run_table(run));
  if (Table table = networks(scaling); !table.rows.empty()) blocks.push_back(std::move(table));
  blocks.push_back(definitions());
  return blocks;
}

}  // namespace hbench

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/command/common_options.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/console.hpp"
#include "bench/output/document_output.hpp"
#include "reports/formats/perfetto.hpp"
#include "reports/trace/traced.hpp"

namespace hbench {
namespace {

/// A trace is of one case: others would be drawn over it.
std::string perfetto_of(const std::vector<TracedCase>& cases) {
  if (cases.size() > 1) {
    std::vector<std::string> names;
    for (const TracedCase& each : cases) names.push_back(fmt::format("'{}'", each.name));
    constexpr std::size_t kShown = 8;
    const bool more = names.size() > kShown;
    names.resize(std::min(names.size(), kShown));
    throw Error(ExitCode::usage, fmt::format("a trace is of one case, and {} are meant", cases.size()),
                fmt::format("choose one by --case: {}{}", fmt::join(names, ", "), more ? " ..." : ""));
  }
  const TracedCase& only = cases.front();
  if (only.steps.empty())
    throw Error(ExitCode::usage, fmt::format("the spans of '{}' are not stored, only the parts of a step", only.name),
                "leave out --json, or measure it again: hbench sweep --evidence measured --trace 3");
  return perfetto_json(
      {.title = only.name, .evidence = std::string(to_string(only.asked.evidence)), .steps = only.steps});
}

ExitCode run_trace(const Call& call) {
  std::filesystem::path database = "hbench.db";
  TraceRequest request;
  DocumentOutput output;
  Arguments app("Shows where the time of a step goes: by rank, with the rank that is late, or as a trace for Perfetto.",
                "hbench trace");
  app.footer(
      "Examples:\n  hbench trace\n  hbench trace --case '16 GPUs of aws-p3-25gbe, ddp: ring,'\n"
      "  hbench trace --case '16 GPUs of aws-p3-25gbe, ddp: ring, batch' --out trace.json\n"
      "Steps are traced by hbench sweep (--trace); simulated ones are simulated again. JSON is the trace "
      "of one case: open it at ui.perfetto.dev.");
  add_database(app, database);
  add_case(app, request.match,
           "only cases with this in their names (default: all that were measured, else all that were simulated)");
  add_run(app, request.run, "only cases of this run (default: the newest that has traced steps)");
  add_profiles(app, request.profiles, "of simulated cases: the TOML files of your own that they are of (comma list)");
  add_workloads(app, request.workloads, "of simulated cases: the timelines of your own that they are of (comma list)");
  output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  output.check();
  request.memory = available_memory();
  const Store store(database, Store::Mode::read_only);
  Progress progress(0, Verbosity::usual);
  request.simulating = [&](const std::string& name) { progress.doing("simulating " + name); };
  const std::vector<TracedCase> cases = find_traced_cases(store, load_data(), request);
  progress.clear();
  output.deliver(trace_document(cases), [&] { return perfetto_of(cases); });
  return ExitCode::good;
}

}  // namespace

extern const Verb kTrace;
constinit const Verb kTrace{.name = "trace",
                            .summary = "show where the time of a step goes, and which rank is late",
                            .place = 11,
                            .run = run_trace};

}  // namespace hbench

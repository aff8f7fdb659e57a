#include "analysis/prediction/compare.hpp"

#include <fmt/format.h>

#include "bench/command/verb.hpp"
#include "bench/verbs/compare_measured.hpp"
#include "bench/verbs/prediction_options.hpp"
#include "reports/prediction/comparison.hpp"

namespace hbench {
namespace {

ExitCode run_compare(const Call& call) {
  std::string name;
  DocumentOutput output;
  MeasuredComparison measured;
  Arguments app(
      "Answers a comparison that is often asked for, by simulation, beside what was published of it, or by measuring "
      "frameworks on this machine.",
      "hbench compare");
  std::string footer = "Comparisons:\n";
  for (const ReadyComparison& each : ready_comparisons())
    footer += fmt::format("  {:20} {}\n", each.name, each.summary);
  app.footer(footer +
             "Examples:\n  hbench compare horovod-tensorflow\n  hbench compare v100-25-100 --out v100.html\n"
             "Frameworks measured here, in turn with hbench's ring: hbench compare horovod-tensorflow --measured");
  app.add_option("comparison", name, "which one: hbench list comparisons");
  measured.add_options(app);
  output.add_options(app);
  add_verbosity(app, measured.verbosity);
  if (app.parse(call)) return ExitCode::good;
  if (name.empty()) {
    fmt::print("{}", app.help());
    return ExitCode::good;
  }
  const ReadyComparison& asked = find_comparison(name);
  measured.check(app);
  output.check();
  if (measured.wanted) return compare_measured(asked, measured, output, call.command);
  const ComparisonAnswer answer = predicted(
      measured.verbosity, [&](const Data& data, const SimulationMeans& means) { return compare(asked, data, means); });
  output.deliver(comparison_document(answer), [&] { return comparison_json(answer); });
  return ExitCode::good;
}

}  // namespace

extern const Verb kCompare;
constinit const Verb kCompare{
    .name = "compare", .summary = "answer a comparison that is often asked for", .run = run_compare};

}  // namespace hbench

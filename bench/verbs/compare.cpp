#include "analysis/prediction/compare.hpp"

#include <fmt/format.h>

#include "bench/command/verb.hpp"
#include "bench/verbs/prediction_options.hpp"
#include "reports/prediction/comparison.hpp"

namespace hbench {
namespace {

ExitCode run_compare(const Call& call) {
  std::string name;
  DocumentOutput output;
  Verbosity verbosity = Verbosity::usual;
  Arguments app("Answers a comparison that is often asked for, by simulation, beside what was published of it.",
                "hbench compare");
  std::string footer = "Comparisons:\n";
  for (const ReadyComparison& each : ready_comparisons())
    footer += fmt::format("  {:20} {}\n", each.name, each.summary);
  app.footer(footer + "Examples:\n  hbench compare horovod-tensorflow\n  hbench compare v100-25-100 --out v100.html");
  app.add_option("comparison", name, "which one: hbench list comparisons");
  output.add_options(app);
  add_verbosity(app, verbosity);
  if (app.parse(call)) return ExitCode::good;
  if (name.empty()) {
    fmt::print("{}", app.help());
    return ExitCode::good;
  }
  const ReadyComparison& asked = find_comparison(name);
  output.check();
  const ComparisonAnswer answer =
      predicted(verbosity, [&](const Data& data, const SimulationMeans& means) { return compare(asked, data, means); });
  output.deliver(comparison_document(answer), [&] { return comparison_json(answer); });
  return ExitCode::good;
}

}  // namespace

extern const Verb kCompare;
constinit const Verb kCompare{
    .name = "compare", .summary = "answer a comparison that is often asked for", .run = run_compare};

}  // namespace hbench

#include "analysis/track/explain.hpp"
#include "bench/command/arguments.hpp"
#include "bench/output/document_output.hpp"
#include "bench/track/project.hpp"
#include "bench/verbs/track.hpp"
#include "reports/track/explanation.hpp"

namespace hbench {
namespace {

ExitCode run_explain(const Call& call) {
  std::filesystem::path file, database, baselines;
  int verdict = 0, run = 0;
  DocumentOutput output;
  Arguments app("Says how a verdict came about: the launches, the rule, and what the rule says of them now.",
                "hbench track explain");
  app.footer(
      "Examples:\n  hbench track explain\n  hbench track explain 1\n  hbench track explain --run 13\n"
      "Without a verdict it lists those of a run.");
  app.add_option("VERDICT", verdict, "the verdict, by its number", in_range(1, 1'000'000'000));
  app.add_option("--run", run, "list the verdicts of this run (default: of the newest that was checked)",
                 in_range(1, 1'000'000'000));
  app.add_option("--baseline-db", baselines, "another database that has runs of the baseline");
  add_project_options(app, file, database);
  output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  output.check();
  if (database.empty()) database = database_of(find_project(file), database);
  const Store store(database, Store::Mode::read_only);
  if (verdict == 0) {
    const Document document = verdicts_document(checked_run(store, run));
    output.deliver(document, [&]() -> std::string {
      throw Error(ExitCode::usage, "--json is of one verdict", "hbench track explain VERDICT --json");
    });
    return ExitCode::good;
  }
  std::optional<Store> others;
  if (!baselines.empty()) others.emplace(baselines, Store::Mode::read_only);
  const Explanation known = explain(store, verdict, others ? &*others : nullptr);
  output.deliver(explanation_document(known), [&] { return explanation_json(known); });
  return ExitCode::good;
}

}  // namespace

constinit const Action kTrackExplain{"explain", "says how a verdict came about", run_explain};

}  // namespace hbench


#include "analysis/track/check.hpp"
#include "analysis/track/history.hpp"
#include "bench/command/arguments.hpp"
#include "bench/output/document_output.hpp"
#include "bench/track/project.hpp"
#include "bench/verbs/track.hpp"
#include "reports/track/history.hpp"

namespace hbench {
namespace {

ExitCode run_history(const Call& call) {
  std::filesystem::path file, database;
  std::string baseline;
  std::optional<double> effect;
  HistoryRequest request;
  DocumentOutput output;
  Arguments app(
      "Shows how fast cases were over the runs of a database, where their level has changed, and between which "
      "commits.",
      "hbench track history");
  app.footer(
      "Examples:\n  hbench track history\n  hbench track history --case step_ms --out history.html\n"
      "  hbench track history --label branch=main --json\n"
      "Cases are those of the newest run. Runs tell their commits by hbench sweep --label commit=$(git rev-parse "
      "HEAD).");
  add_project_options(app, file, database);
  app.add_option("--case", request.match, "only cases with this in their name");
  app.add_option("--label", baseline,
                 "only runs with it: a branch, or such as release=2.1 (default: the file's, or main)");
  app.add_parsed("--least-effect", effect, parse_share, "the least change of level that counts (default: 3%)");
  output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  const std::optional<Project> project = find_project(file);
  if (project) request.rule.least_effect = project->all.rule.least_effect;
  request.labels = parse_baseline(baseline_of(project, baseline));
  if (effect) request.rule.least_effect = *effect;
  output.check();
  const std::vector<CaseHistory> cases =
      history(Store(database_of(project, database), Store::Mode::read_only), request);
  output.deliver(history_document(cases, request), [&] { return history_json(cases); });
  return ExitCode::good;
}

}  // namespace

constinit const Action kTrackHistory{"history", "shows what has changed over runs, and when", run_history};

}  // namespace hbench

#include <fmt/format.h>

#include "analysis/records/words.hpp"
#include "analysis/track/bisection.hpp"
#include "analysis/track/check.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/values.hpp"
#include "bench/command/verbosity.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/document_output.hpp"
#include "bench/track/bisect.hpp"
#include "bench/track/git.hpp"
#include "bench/track/project.hpp"
#include "bench/track/tracked_command.hpp"
#include "bench/verbs/track.hpp"
#include "collectives/base/error.hpp"
#include "reports/track/bisection.hpp"

namespace hbench {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  hbench track bisect --db nightly.db\n"
    "  hbench track bisect --db nightly.db --case step_ms --build make --measure './my_benchmark --json'\n"
    "  hbench track bisect --db nightly.db --case step_ms --build make --measure './my_benchmark --json' --run\n"
    "Without --run it prints the commands. With it, each commit that git bisect chooses is built and measured in turns "
    "with the good one, as hbench track pair does; git bisect reset ends it.\n"
    "Exit code: 0 where the first bad commit is found; 11 where it is not.";

/// Where the good commit is checked out by what is printed: beside the repository, or beside this folder.
std::string printed_tree(const BisectRange& range) {
  const GitAnswer top = git({"rev-parse", "--show-toplevel"});
  return fmt::format("{}-{}", top.good() ? top.out : "../good", short_commit(range.good));
}

/// What is not given is that of the `[[command]]` which the case is of.
void take_commands(BisectRequest& request, const std::optional<Project>& project) {
  const auto command = project ? command_of(*project, request.range.name) : std::nullopt;
  if (command && request.measure.text.empty()) {
    request.measure.text = command->run.text;
    if (request.pattern.expression.empty()) request.pattern = command->pattern;
    // A command without one needs none: it is a script, or builds itself.
    if (request.build.text.empty()) request.build.text = command->build.text.empty() ? "true" : command->build.text;
  }
  request.measure.pattern = request.pattern.pattern(request.range.name);
}

ExitCode drive(const BisectRequest& request, const DocumentOutput& output, Verbosity verbosity) {
  for (const auto* command : {&request.build, &request.measure})
    if (command->text.empty())
      throw Error(ExitCode::usage, fmt::format("--run needs {}", command->name),
                  "give it, or add it to a [[command]] of hbench.toml");
  catch_interrupts();
  try {
    Progress progress(0, verbosity);
    const BisectReport report = bisect(request, [&](const std::string& what) { progress.note(what); });
    output.deliver(bisect_document(report), [&] { return bisect_json(report); });
    if (!interrupted()) return report.first_bad.size() == 1 ? ExitCode::good : ExitCode::inconclusive;
  } catch (const Error&) {
    if (!interrupted()) throw;  // what was cut off has failed for that
  }
  return ExitCode::interrupted;
}

ExitCode run_bisect(const Call& call) {
  std::filesystem::path file, database;
  std::string label;
  HistoryRequest history_request;
  BisectRequest request;
  DocumentOutput output;
  bool drives = false;
  Verbosity verbosity = Verbosity::usual;
  Arguments app(
      "Finds the commit that has made a case slower: takes the newest change that hbench track history dates, or that "
      "hbench track check has found, and searches the commits between its two runs.",
      "hbench track bisect");
  app.footer(kFooter);
  add_project_options(app, file, database);
  app.add_option("--case", history_request.match, "only changes of cases with this in their names");
  app.add_option("--label", label,
                 "only runs with it: a branch, or such as release=2.1 (default: the file's, or main)");
  app.add_option("--build", request.build.text,
                 "a shell's command that builds a commit in this folder (default: the file's)");
  app.add_option("--measure", request.measure.text,
                 "a shell's command that prints what hbench track pair reads (default: the file's)");
  request.pattern.add_options(app);
  app.add_option("--metric", request.metric, "only cases of --measure with this in their names");
  app.add_option("--launches", request.launches, "pairs of launches that decide about a commit", in_range(1, 1000));
  app.add_parsed("--timeout", request.timeout, time_flag,
                 "stop a launch that takes longer, and a build that prints nothing for so long", "600 s");
  app.add_flag("--run", drives, "do it, in the repository of this folder");
  output.add_options(app);
  add_verbosity(app, verbosity);
  if (app.parse(call)) return ExitCode::good;
  const std::optional<Project> project = find_project(file);
  history_request.labels = parse_baseline(baseline_of(project, label));
  if (project) history_request.rule.least_effect = project->all.rule.least_effect;
  output.check();
  const Store store(database_of(project, database), Store::Mode::read_only);
  std::vector<CaseHistory> cases = history(store, history_request);
  add_regressions(cases, store);
  request.range = bisect_range(cases);
  take_commands(request, project);
  if (drives) return drive(request, output, verbosity);
  if (request.build.text.empty() || request.measure.text.empty())
    fmt::print("# your commands take the place of BUILD and MEASURE; --build and --measure put them there\n");
  if (request.build.text.empty()) request.build.text = "BUILD";
  if (request.measure.text.empty()) request.measure.text = "MEASURE";
  fmt::print("# {}: {} between {} and {}\n{}", request.range.name, signed_percent(request.range.shift),
             request.range.good, request.range.bad, bisect_commands(request, printed_tree(request.range)));
  return ExitCode::good;
}

}  // namespace

constinit const Action kTrackBisect{"bisect", "finds the commit that has made a case slower", run_bisect};

}  // namespace hbench

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "bench/command/actions.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/verb.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/output_file.hpp"
#include "bench/track/check.hpp"
#include "bench/track/history.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "reports/formats/formats.hpp"

namespace hbench {
namespace {

/// `3%` or `0.03`, of 0.1 % to 100 %.
double parse_share(const std::string& text, std::string_view flag) {
  char* end = nullptr;
  double share = std::strtod(text.c_str(), &end);
  if (std::string_view(end) == "%") share /= 100;
  const bool understood = end != text.c_str() && (*end == '\0' || std::string_view(end) == "%");
  if (!understood || !(share >= 0.001 && share <= 1))
    throw Error(ExitCode::usage, fmt::format("{} {} makes no sense", flag, text), "write a share such as 3% or 0.03");
  return share;
}

/// The page of GitHub's job, where this runs in one. \throws Error (environment) where it cannot be written.
void add_to_job_summary(const Document& document) {
  const char* file = std::getenv("GITHUB_STEP_SUMMARY");
  if (file == nullptr || *file == '\0') return;
  std::string text = std::filesystem::exists(file) ? read_file(file) : "";
  write_whole(file, text + kMarkdownFormat.render(document) + "\n", "GITHUB_STEP_SUMMARY");
}

ExitCode run_check(const Call& call) {
  std::filesystem::path database = "hbench.db", junit;
  std::string baseline = "main", effect, fail_on;
  TrackRequest request;
  DocumentOutput output;
  bool github = false, unconfirmed = false;
  Arguments app(
      "Judges a run of a database against earlier ones: which timed cases have become slower or faster, by how much, "
      "and "
      "how surely.",
      "hbench track check");
  app.footer(
      "Examples:\n  hbench sweep --gpus 1..4 --evidence measured --label branch=main --label commit=$(git rev-parse "
      "HEAD)\n"
      "  hbench track check --baseline main\n"
      "  hbench track check --head 57 --junit track.xml --github --fail-on inconclusive\n"
      "  hbench track check --format markdown > comment.md\n"
      "The launch is the unit: give sweep and collective --launches 10, of which 5 decide and 5 confirm.\n"
      "Exit code: 0 pass, new or improved; 10 regressed; 11 inconclusive, with --fail-on; 12 incomparable, or no "
      "baseline; "
      "before these 4 or 5 where cases of the run have failed.");
  app.add_option("--db", database, "the database")->capture_default_str();
  app.add_option("--head", request.head, "the run to judge (default: the newest)")->check(in_range(1, 1'000'000'000));
  app.add_option("--baseline", baseline,
                 "a branch, or a label such as release=2.1: earlier runs with it are the baseline")
      ->capture_default_str();
  app.add_option("--least-effect", effect, "the least change that counts (default: 3%)");
  app.add_option("--max-runs", request.rule.most_runs, "of the baseline, the newest")
      ->capture_default_str()
      ->check(in_range(1, 1000));
  app.add_option("--min-runs", request.rule.fewest_runs, "of the baseline; fewer are inconclusive")
      ->capture_default_str()
      ->check(in_range(1, 1000));
  app.add_flag("--no-confirm", unconfirmed, "say regressed without further launches that show it again");
  app.add_option("--fail-on", fail_on, "inconclusive: exit with 11 where a case is");
  app.add_option("--junit", junit, "also write JUnit's XML there");
  app.add_flag("--github", github, "also print annotations, and add the page to the summary of GitHub's job");
  output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  if (!fail_on.empty() && fail_on != "inconclusive")
    throw unknown_name("verdict to fail on", fail_on, {{"inconclusive"}});
  request.fail_on_inconclusive = !fail_on.empty();
  request.baseline = parse_baseline(baseline);
  request.rule.confirm = !unconfirmed;
  if (!effect.empty()) request.rule.least_effect = parse_share(effect, "--least-effect");
  output.check();
  if (!junit.empty()) check_writable(junit, "--junit");
  const TrackReport report = check(Store(database, Store::Mode::read_only), request);
  const Document document = track_document(report);
  output.deliver(document, [&] { return track_json(report); });
  if (!junit.empty()) write_whole(junit, track_junit(report), "--junit");
  if (github) {
    fmt::print("{}", track_annotations(report));
    add_to_job_summary(document);
  }
  return report.exit_code();
}

ExitCode run_history(const Call& call) {
  std::filesystem::path database = "hbench.db";
  std::string baseline = "main", effect;
  HistoryRequest request;
  DocumentOutput output;
  Arguments app(
      "Shows how fast cases were over the runs of a database, where their level has changed, and between which "
      "commits.",
      "hbench track history");
  app.footer(
      "Examples:\n  hbench track history\n  hbench track history --case vgg16 --out history.html\n"
      "  hbench track history --label branch=main --json\n"
      "Cases are those of the newest run. Runs tell their commits by hbench sweep --label commit=$(git rev-parse "
      "HEAD).");
  app.add_option("--db", database, "the database")->capture_default_str();
  app.add_option("--case", request.match, "only cases with this in their name");
  app.add_option("--label", baseline, "only runs with it: a branch, or such as release=2.1")->capture_default_str();
  app.add_option("--least-effect", effect, "the least change of level that counts (default: 3%)");
  output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  request.labels = parse_baseline(baseline);
  if (!effect.empty()) request.rule.least_effect = parse_share(effect, "--least-effect");
  output.check();
  const std::vector<CaseHistory> cases = history(Store(database, Store::Mode::read_only), request);
  output.deliver(history_document(cases, request), [&] { return history_json(cases); });
  return ExitCode::good;
}

ExitCode run_accept(const Call& call) {
  std::filesystem::path database = "hbench.db";
  int run = 0;
  std::string reason;
  Arguments app(
      "Accepts that a run is slower or faster than those before it: later runs are held to it and to those after it, "
      "and runs before it only tell how far runs differ.",
      "hbench track accept");
  app.footer(
      "Examples:\n  hbench track accept --reason \"checks every gradient now\"\n"
      "  hbench track accept 57 --reason \"new driver\" --db nightly.db");
  app.add_option("RUN", run, "the run (default: the newest)")->check(in_range(1, 1'000'000'000));
  app.add_option("--reason", reason, "why it is wanted");
  app.add_option("--db", database, "the database")->capture_default_str();
  if (app.parse(call)) return ExitCode::good;
  if (!std::filesystem::exists(database))
    throw Error(ExitCode::usage, fmt::format("there is no database '{}'", database.string()), "name it with --db");
  Store store(database);
  fmt::print("Accepted run {}: {}\n", accept(store, run, reason), reason);
  return ExitCode::good;
}

constexpr std::array kActions{Action{"check", "judges a run against earlier ones", run_check},
                              Action{"history", "shows what has changed over runs, and when", run_history},
                              Action{"accept", "says that a change is wanted", run_accept}};

ExitCode run_track(const Call& call) {
  return run_action(
      call,
      {.verb = "hbench track",
       .description = "Tracks how fast a project is over its commits.",
       .kind = "action on tracked runs",
       .footer = "Examples:\n  hbench track check --baseline main\n  hbench track history --out history.html\n"
                 "hbench track check --help and so on say more."},
      kActions);
}

}  // namespace

extern const Verb kTrack;
constinit const Verb kTrack{.name = "track", .summary = "find what has become slower, for CI", .run = run_track};

}  // namespace hbench

#include "bench/track/tracked_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "analysis/points/tracked_metric.hpp"
#include "analysis/track/sides.hpp"
#include "bench/command/program.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/document_output.hpp"
#include "bench/track/git.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "reports/formats/formats.hpp"
#include "reports/short_form.hpp"
#include "reports/track/check.hpp"

namespace hbench {
namespace {

/// The file of the page of GitHub's job; empty where this runs in none.
std::filesystem::path job_summary() {
  const char* file = std::getenv("GITHUB_STEP_SUMMARY");
  return file == nullptr ? "" : file;
}

/// \throws Error (usage) where the file is what is tracked or a database, (environment) where it cannot be written.
void check_output(const std::filesystem::path& file, std::string_view flag) {
  if (file.empty()) return;
  std::error_code unknown;
  if (std::filesystem::equivalent(file, kProjectFile, unknown))
    throw Error(ExitCode::usage, fmt::format("{} {} would replace what is tracked", flag, file.string()),
                fmt::format("name another file with {}", flag));
  check_writable(file, flag);
}

/// Adds to the page of GitHub's job, where this runs in one. \throws Error (environment) where it cannot be written.
void add_to_job_summary(const Document& document) {
  const std::filesystem::path file = job_summary();
  if (file.empty()) return;
  constexpr std::size_t kMostBytes = 900'000;  // GitHub takes 1 MiB of a step
  const std::string text = std::filesystem::exists(file) ? read_file(file) : "";
  write_whole(file, text + render_fitting(kMostBytes, document, kMarkdownFormat) + "\n", "GITHUB_STEP_SUMMARY");
}

/// The number after that of the last launch of these cases.
int next_launch(const Store& store, const Run& run, const std::set<std::string>& questions) {
  int next = 0;
  for (const CaseResult& result : store.of_run(run.id))
    if (questions.contains(result.asked.question()))
      for (const Sample& sample : result.samples) next = std::max(next, sample.launch + 1);
  return next;
}

}  // namespace

void TrackOutput::add_options(Arguments& app) {
  app.add_parsed("--fail-on", fail_on_, parse_fail_on, "inconclusive: exit with 11 where a case is");
  app.add_option("--junit", junit_, "also write JUnit's XML there")->writes();
  app.add_option("--gitlab", gitlab_, "also write GitLab's metrics report (OpenMetrics) there")->writes();
  app.add_flag("--github", github_, "also print annotations, and add the page to the summary of GitHub's job");
  document_.take_tools();
  document_.add_options(app);
  document_.keep_markdown_within(65'000);  // GitHub takes comments of 65,536 characters
}

void TrackOutput::check() {
  document_.check();
  check_output(junit_, "--junit");
  check_output(gitlab_, "--gitlab");
  if (github_) check_output(job_summary(), "GITHUB_STEP_SUMMARY");
}

void TrackOutput::deliver(const TrackReport& report) const {
  const Document document = track_document(report);
  const auto [stopped, resumed] = without_commands();
  const bool in_log = github_ && document_.for_terminal();
  if (in_log) fmt::print("{}", stopped);
  const ToolFormat* tool = document_.tool();
  document_.deliver(document,
                    [&] { return tool != nullptr ? tool_output(*tool, tool_figures(report)) : track_json(report); });
  if (in_log) fmt::print("{}", resumed);
  if (!junit_.empty()) write_whole(junit_, track_junit(report), "--junit");
  if (!gitlab_.empty()) write_whole(gitlab_, track_metrics(report), "--gitlab");
  if (!github_) return;
  inform("{}", track_annotations(report));
  add_to_job_summary(document);
}

TrackedRun::TrackedRun(const Project& project, const Gate& gate) {
  for (const ExperimentEntry* each : project.experiments_of(gate))
    entries_.push_back({each->name, each->plan(project.file.parent_path())});
}

void TrackedRun::place(Run& run) {
  run.environment = environment_facts(uses_gpu());
  for (Entry& each : entries_) each.experiment->place(run);
}

void TrackedRun::remember(const std::vector<CaseResult>& earlier) {
  for (Entry& each : entries_) each.experiment->remember(earlier);
}

std::vector<const Case*> TrackedRun::cases() const {
  std::vector<const Case*> all;
  for (const Entry& each : entries_) std::ranges::copy(each.experiment->cases(), std::back_inserter(all));
  return all;
}

bool TrackedRun::uses_gpu() const {
  return std::ranges::any_of(entries_, [](const Entry& each) { return each.experiment->uses_gpu(); });
}

double TrackedRun::seconds(const Launching& launching) const {
  double sum = 0;
  for (const Entry& each : entries_) sum += each.experiment->seconds(launching);
  return sum;
}

std::string TrackedRun::time_in_words(const Launching& launching) const {
  const double all = seconds(launching);
  return all < 90 ? fmt::format("{:.0f} s", all) : fmt::format("{:.0f} min", all / 60);
}

std::string TrackedRun::in_words(const Launching& launching) const {
  std::string text;
  for (const Entry& each : entries_) {
    const double seconds = each.experiment->seconds(launching);
    text += fmt::format("{}: {}\n", one_line(each.name),
                        seconds > 0 ? fmt::format("about {:.0f} s", seconds) : "not timed yet");
    if (each.experiment->cases().empty()) text += "  what it prints once it has run\n";
    for (const Case* asked : each.experiment->cases()) text += fmt::format("  {}\n", one_line(tracked_name(*asked)));
    for (const Refusal& refusal : each.experiment->refused())
      text += fmt::format("  left out: {}: {}\n", one_line(refusal.what), one_line(refusal.why));
  }
  return text;
}

ExitCode TrackedRun::launch(Store& store, Run& run, const Launching& launching, Verbosity verbosity) {
  Progress progress(seconds(launching), verbosity);
  ExitCode worst = ExitCode::good;
  for (const Entry& each : entries_) {
    if (interrupted()) break;
    for (const Refusal& refusal : each.experiment->refused())
      progress.note(fmt::format("left out of {}: {}: {}", each.name, refusal.what, refusal.why), true);
    const LaunchFollower follower{progress, store, run, each.name};
    worst = std::max(worst, each.experiment->launch(launching, follower));
    if (!interrupted()) progress.done(0, fmt::format("measured {}", each.name));
  }
  return interrupted() ? ExitCode::interrupted : worst;
}

std::string stored_run_json(const StoredRun& stored, Form form) {
  return object_text(form, "hbench track run --json", stored, [](Row& row, const StoredRun& of) {
    row.field("run", of.id, "its number in the database");
    row.field("database", of.database);
    row.field("cases", of.cases);
    row.field("launches", of.launches, "of each case");
    row.field("labels", of.labels);
    row.field("exit_code", static_cast<int>(of.code), "with which the program ends");
  });
}

Launching confirming_launches(const TrackReport& report) {
  Launching wanted{.count = 0};
  for (const TrackedResult& each : report.results) {
    if (each.judgement.verdict != TrackVerdict::inconclusive || each.judgement.wanted == 0) continue;
    wanted.questions.insert(each.sides.question);
    wanted.count = std::max(wanted.count, each.judgement.wanted);
  }
  return wanted;
}

std::string confirm_here(TrackedRun& tracked, Store& store, const Run& head, Launching wanted, Verbosity verbosity) {
  if (head.version != HBENCH_VERSION)
    return fmt::format("the run was measured by hbench {}, and this is {}", head.version, HBENCH_VERSION);
  const auto commit = head.labels.find("commit");
  const std::map<std::string, std::string> here = repository_labels("");
  if (commit != head.labels.end() && here.contains("commit") && here.at("commit") != commit->second)
    return fmt::format("commit {} was measured, and {} is checked out", commit->second, here.at("commit"));
  Run now;
  tracked.place(now);
  tracked.remember(store.of_run(head.id));
  std::size_t found = 0;
  for (const Case* asked : tracked.cases())
    if (wanted.questions.contains(asked->question()) && store.find(head.id, *asked)) ++found;
  if (found < wanted.questions.size())
    return "the run was measured on another machine, or by another file than this one";
  catch_interrupts();
  wanted.first = next_launch(store, head, wanted.questions);
  Run same = head;
  if (tracked.launch(store, same, wanted, verbosity) == ExitCode::interrupted) return "interrupted";
  return "";
}

}  // namespace hbench

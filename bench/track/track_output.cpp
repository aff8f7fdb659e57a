#include "bench/track/track_output.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "bench/command/inform.hpp"
#include "bench/output/output_file.hpp"
#include "collectives/base/file.hpp"
#include "reports/formats/formats.hpp"
#include "reports/short_form.hpp"
#include "reports/track/check.hpp"

namespace hbench {
namespace {

/// The page of GitHub's job, where this runs in one. \throws Error (environment) where it cannot be written.
void add_to_job_summary(const Document& document) {
  const char* file = std::getenv("GITHUB_STEP_SUMMARY");
  if (file == nullptr || *file == '\0') return;
  constexpr std::size_t kMostBytes = 900'000;  // GitHub takes 1 MiB of a step
  const std::string text = std::filesystem::exists(file) ? read_file(file) : "";
  write_whole(file, text + render_fitting(kMostBytes, document, kMarkdownFormat) + "\n", "GITHUB_STEP_SUMMARY");
}

}  // namespace

void TrackOutput::add_options(Arguments& app) {
  app.add_parsed("--fail-on", fail_on_, parse_fail_on, "inconclusive: exit with 11 where a case is");
  app.add_option("--junit", junit_, "also write JUnit's XML there");
  app.add_option("--gitlab", gitlab_, "also write GitLab's metrics report (OpenMetrics) there");
  app.add_flag("--github", github_, "also print annotations, and add the page to the summary of GitHub's job");
  document_.add_options(app);
  document_.keep_markdown_within(65'000);  // GitHub takes comments of 65,536 characters
}

void TrackOutput::check() {
  document_.check();
  if (!junit_.empty()) check_writable(junit_, "--junit");
  if (!gitlab_.empty()) check_writable(gitlab_, "--gitlab");
}

void TrackOutput::deliver(const TrackReport& report) const {
  const Document document = track_document(report);
  const auto [stopped, resumed] = without_commands();
  const bool in_log = github_ && document_.for_terminal();
  if (in_log) fmt::print("{}", stopped);
  document_.deliver(document, [&] { return track_json(report); });
  if (in_log) fmt::print("{}", resumed);
  if (!junit_.empty()) write_whole(junit_, track_junit(report), "--junit");
  if (!gitlab_.empty()) write_whole(gitlab_, track_metrics(report), "--gitlab");
  if (!github_) return;
  inform("{}", track_annotations(report));
  add_to_job_summary(document);
}

}  // namespace hbench

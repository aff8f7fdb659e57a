#include <fmt/format.h>

#include "analysis/store/store.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/reporting.hpp"
#include "bench/verbs/filter_options.hpp"
#include "reports/formats/formats.hpp"
#include "reports/report.hpp"
#include "reports/short_form.hpp"

namespace hbench {
namespace {

/// Of the short form: less than what a review comment may hold, and what somebody reads there.
constexpr std::size_t kShortFormBytes = 9'500;

std::string printed(const Report& report, const ReportInput& input, const Format& format, bool full) {
  if (full || &format != &kMarkdownFormat) return format.render(report.build(input));
  return render_within(kShortFormBytes, report.build_short(input), format);
}

ExitCode run_report(const Call& call) {
  std::string name = "scaling", format;
  std::filesystem::path database = "hbench.db", folder = "hbench-report";
  StoredFilter filter;
  bool full = false;
  Arguments app("Writes a report from stored results.", "hbench report");
  app.footer(
      "Examples:\n  hbench report --db hbench.db --report hbench-report\n  hbench report --format markdown > "
      "comment.md\n  hbench report --workload vgg16 --evidence simulated,published --report vgg16");
  app.add_option("name", name, "which report (hbench list reports)");
  app.add_option("--db", database, "results database");
  app.add_option("--report", folder, "folder to write");
  app.add_option("--format", format, "print it as html, markdown, csv or text instead of writing a folder");
  app.add_flag("--full", full, "with --format markdown: everything, not the short form for a pull request");
  add_filter_options(app, filter);
  if (app.parse(call)) return ExitCode::good;
  const Report& report = find_report(name);
  const Format* chosen = format.empty() ? nullptr : &find_format(format);
  if (full && chosen != &kMarkdownFormat)
    throw Error(ExitCode::usage, "--full is for --format markdown", "the other formats and a folder are always full");
  const Store store(database, Store::Mode::read_only);
  const std::vector<Run> runs = store.runs();
  const ReportInput input =
      report_input(store.results(filter.of(runs)), store.baselines(), runs, load_data(), filter.points);
  if (chosen != nullptr) {
    fmt::print("{}", printed(report, input, *chosen, full));
    return ExitCode::good;
  }
  write_report_folder(report.build(input), folder);
  if (interrupted()) return ExitCode::interrupted;
  fmt::print("{}\n", (folder / "index.html").string());
  return ExitCode::good;
}

}  // namespace

extern const Verb kReport;
constinit const Verb kReport{.name = "report", .summary = "write a report from stored results", .run = run_report};

}  // namespace hbench

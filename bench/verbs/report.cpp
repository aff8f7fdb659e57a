#include <fmt/format.h>

#include "analysis/store/store.hpp"
#include "bench/command/common_options.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/points.hpp"
#include "bench/output/reporting.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "reports/formats/formats.hpp"
#include "reports/report.hpp"
#include "reports/short_form.hpp"

namespace hbench {
namespace {

ExitCode run_export(const Call& call) {
  std::filesystem::path database = "hbench.db";
  std::string format = "json";
  StoredFilter filter;
  Arguments app("Prints stored points for machines: all of them, or those that the options choose.", "hbench export");
  const std::vector<std::string_view> tools = names_of(tool_formats());
  std::vector<std::string> known{"json", "csv"};
  known.insert(known.end(), tools.begin(), tools.end());
  app.footer(
      "Examples:\n  hbench export --format csv --workload vgg16 --strategy ring,sliced\n"
      "  hbench export --format csv --label branch=main\n  hbench export --json --db hbench.db > points.json\n"
      "  hbench export --format bencher --label branch=main > bencher.json\n"
      "The formats of other tools have the timed cases, benchmarks of imported programs too; hbench import reads "
      "them.");
  add_database(app, database);
  bool json = false;
  add_json(app, json)->excludes(
      add_format(app, format,
                 fmt::format("json, an array of objects, csv, a table with a header line, or for other tools {}",
                             fmt::join(tools, ", ")),
                 one_of(known)));
  add_filter_options(app, filter);
  if (app.parse(call)) return ExitCode::good;
  const Store store(database, Store::Mode::read_only);
  std::vector<CaseResult> results = store.results(filter.of(store.runs()));
  const std::vector<Point> points = select_points(make_points(results, store.baselines()), filter.points);
  if (const ToolFormat* tool = tool_format(format)) {
    std::erase_if(results, [&](const CaseResult& each) { return !filter.points.accepts(each.asked); });
    fmt::print("{}", tool_output(*tool, tool_figures(results)));
  } else {
    fmt::print("{}", format == "csv" ? points_csv(points) : points_json(points));
  }
  return ExitCode::good;
}

/// Of the short form: less than what a review comment may hold, and what somebody reads there.
constexpr std::size_t kShortFormBytes = 9'500;

std::string printed(const Report& report, const ReportInput& input, const Format& format, bool all) {
  if (all || &format != &kMarkdownFormat) return format.render(report.build(input));
  return render_within(kShortFormBytes, report.build_short(input), format);
}

ExitCode run_report(const Call& call) {
  std::string name = "scaling", format;
  std::filesystem::path database = "hbench.db", folder = "hbench-report";
  StoredFilter filter;
  bool all = false;
  Arguments app("Writes a report from stored results.", "hbench report");
  app.footer(
      "Examples:\n  hbench report --db hbench.db --report hbench-report\n  hbench report --format markdown > "
      "comment.md\n  hbench report --workload vgg16 --evidence simulated,published --report vgg16");
  app.add_option("name", name, "which report (hbench list reports)");
  add_database(app, database);
  app.add_option("--report", folder, "folder of the report");
  add_format(app, format, "print it as html, markdown, csv or text instead of writing a folder");
  add_all(app, all, "with --format markdown: everything, not the short form for a pull request");
  add_filter_options(app, filter);
  if (app.parse(call)) return ExitCode::good;
  const Report& report = find_report(name);
  const Format* chosen = format.empty() ? nullptr : &find_format(format);
  if (all && chosen != &kMarkdownFormat)
    throw Error(ExitCode::usage, "--all is for --format markdown", "the other formats and a folder are always full");
  const Store store(database, Store::Mode::read_only);
  const std::vector<Run> runs = store.runs();
  const ReportInput input =
      report_input(store.results(filter.of(runs)), store.baselines(), runs, load_data(), filter.points);
  if (chosen != nullptr) {
    fmt::print("{}", printed(report, input, *chosen, all));
    return ExitCode::good;
  }
  write_report_folder(report.build(input), folder);
  if (interrupted()) return ExitCode::interrupted;
  fmt::print("{}\n", (folder / "index.html").string());
  return ExitCode::good;
}

}  // namespace

extern const Verb kExport;
constinit const Verb kExport{
    .name = "export", .summary = "print stored points as JSON or CSV", .place = 13, .run = run_export};

extern const Verb kReport;
constinit const Verb kReport{
    .name = "report", .summary = "write a report from stored results", .place = 12, .run = run_report};

}  // namespace hbench

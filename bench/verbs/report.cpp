#include <fmt/format.h>

#include "analysis/store/store.hpp"
#include "bench/arguments.hpp"
#include "bench/reporting.hpp"
#include "reports/formats.hpp"
#include "reports/report.hpp"

namespace hbench {
namespace {

ExitCode run_report(const Call& call) {
  std::string name = "scaling", format;
  std::filesystem::path database = "hbench.db", folder = "hbench-report";
  CLI::App app("Writes a report from stored results.", "hbench report");
  app.footer(
      "Examples:\n  hbench report --db hbench.db --report hbench-report\n  hbench report --format markdown > "
      "comment.md");
  app.add_option("name", name, "which report (hbench list reports)")->capture_default_str();
  app.add_option("--db", database, "results database")->capture_default_str();
  app.add_option("--report", folder, "folder to write")->capture_default_str();
  app.add_option("--format", format, "print it as html, markdown, csv or text instead of writing a folder");
  if (parse_arguments(app, call)) return ExitCode::good;
  const Report& report = find_report(name);
  const Format* chosen = format.empty() ? nullptr : &find_format(format);
  const Store store(database, Store::Mode::read_only);
  const Document document = report.build(report_input(store.results(), store.runs(), load_data()));
  if (chosen != nullptr) {
    fmt::print("{}", chosen->render(document));
    return ExitCode::good;
  }
  write_report_folder(document, folder);
  fmt::print("{}\n", (folder / "index.html").string());
  return ExitCode::good;
}

}  // namespace

extern const Verb kReport;
constinit const Verb kReport{.name = "report", .summary = "write a report from stored results", .run = run_report};

}  // namespace hbench

#include <fmt/format.h>

#include "analysis/store/store.hpp"
#include "bench/arguments.hpp"
#include "bench/points_json.hpp"

namespace hbench {
namespace {

ExitCode run_export(const Call& call) {
  std::filesystem::path database = "hbench.db";
  bool json = false, csv = false;
  CLI::App app("Prints every stored point for machines.", "hbench export");
  app.footer(
      "Example:\n  hbench export --json --db hbench.db | jq '.[] | select(.gpus == 16) | [.workload, .strategy, "
      ".efficiency]'");
  app.add_option("--db", database, "results database")->capture_default_str();
  CLI::Option* as_json = app.add_flag("--json", json, "an array of objects (the default)");
  app.add_flag("--csv", csv, "a table with a header line")->excludes(as_json);
  if (parse_arguments(app, call)) return ExitCode::good;
  const std::vector<Point> points = make_points(Store(database, Store::Mode::read_only).results());
  fmt::print("{}", csv ? points_csv(points) : points_json(points));
  return ExitCode::good;
}

}  // namespace

extern const Verb kExport;
constinit const Verb kExport{.name = "export", .summary = "print stored points as JSON or CSV", .run = run_export};

}  // namespace hbench

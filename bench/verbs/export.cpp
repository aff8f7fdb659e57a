#include <fmt/format.h>

#include "analysis/points/points.hpp"
#include "analysis/store/store.hpp"
#include "bench/output/points_json.hpp"
#include "bench/verbs/filter_options.hpp"

namespace hbench {
namespace {

ExitCode run_export(const Call& call) {
  std::filesystem::path database = "hbench.db";
  bool json = false, csv = false;
  StoredFilter filter;
  Arguments app("Prints stored points for machines: all of them, or those that the options choose.", "hbench export");
  app.footer(
      "Examples:\n  hbench export --csv --workload vgg16 --strategy ring,sliced\n"
      "  hbench export --csv --label branch=main\n  hbench export --json --db hbench.db > points.json");
  app.add_option("--db", database, "results database");
  Option* as_json = app.add_flag("--json", json, "an array of objects (the default)");
  app.add_flag("--csv", csv, "a table with a header line")->excludes(as_json);
  add_filter_options(app, filter);
  if (app.parse(call)) return ExitCode::good;
  const Store store(database, Store::Mode::read_only);
  const std::vector<Point> points =
      select_points(make_points(store.results(filter.of(store.runs())), store.baselines()), filter.points);
  fmt::print("{}", csv ? points_csv(points) : points_json(points));
  return ExitCode::good;
}

}  // namespace

extern const Verb kExport;
constinit const Verb kExport{.name = "export", .summary = "print stored points as JSON or CSV", .run = run_export};

}  // namespace hbench

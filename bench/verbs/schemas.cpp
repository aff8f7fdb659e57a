#include <fmt/format.h>

#include <filesystem>

#include "bench/collective/summary.hpp"
#include "bench/command/arguments.hpp"
#include "bench/database/database.hpp"
#include "bench/doctor/diagnosis.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/listing.hpp"
#include "bench/output/points.hpp"
#include "reports/catalogue/profiles.hpp"
#include "reports/fit/fits.hpp"

namespace hbench {
namespace {

/// An answer with what its description looks up.
std::vector<CollectiveRow> collective() {
  CollectiveRow row;
  row.result.asked.collective = {.name = "all-reduce", .data_type = "float32"};
  return {row};
}

constexpr Form kSchema = Form::schema;
constexpr PublishedSchema kPublished[] = {
    {"calibrate-curve-1", [] { return curve_fit_json({}, {}, "", kSchema); }},
    {"calibrate-rows-1", [] { return fit_json({}, "", kSchema); }},
    {"collective-1", [] { return collective_json(collective(), {}, {}, {}, kSchema); }},
    {"db-check-1", [] { return check_json("", {}, kSchema); }},
    {"db-merge-1", [] { return merge_json("", {}, kSchema); }},
    {"db-prune-1", [] { return prune_json("", {}, false, kSchema); }},
    {"doctor-1", [] { return doctor_json({}, {}, kSchema); }},
    {"export-1", [] { return points_json({}, kSchema); }},
    {"list-1", [] { return listing_json({}, kSchema); }},
    {"list-profiles-1", [] { return profiles_json({}, kSchema); }},
};

/// The installation has the files; `track-check-1` is written by hand, because it also has limits of the values.
ExitCode run_schemas(const Call& call) {
  std::filesystem::path folder = ".";
  Arguments app(
      "Writes a JSON Schema for each answer that a verb prints with --json, but that of track check, which is a file "
      "of the "
      "installation.",
      "hbench schemas");
  app.footer("Examples:\n  hbench schemas --folder .");
  app.add_option("--folder", folder, "write the files into this folder, which exists");
  if (app.parse(call)) return ExitCode::good;
  for (const PublishedSchema& each : with_features<PublishedSchema>(kPublished, &Feature::schemas))
    write_whole(folder / fmt::format("{}.json", each.file), each.schema(), "--folder");
  return ExitCode::good;
}

}  // namespace

extern const Verb kSchemas;
constinit const Verb kSchemas{
    .name = "schemas", .summary = "write the schemas of --json", .hidden = true, .run = run_schemas};

}  // namespace hbench

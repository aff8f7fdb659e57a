#include <fmt/format.h>

#include <filesystem>

#include "analysis/prediction/compare.hpp"
#include "bench/collective/summary.hpp"
#include "bench/command/arguments.hpp"
#include "bench/database/text.hpp"
#include "bench/doctor/diagnosis.hpp"
#include "bench/output/listing.hpp"
#include "bench/output/output_file.hpp"
#include "bench/output/points_json.hpp"
#include "bench/track/tracked_run.hpp"
#include "reports/prediction/bandwidth.hpp"
#include "reports/prediction/choice.hpp"
#include "reports/prediction/comparison.hpp"
#include "reports/prediction/crossover.hpp"
#include "reports/prediction/expectation.hpp"
#include "reports/prediction/fits.hpp"
#include "reports/prediction/job.hpp"
#include "reports/prediction/profiles.hpp"
#include "reports/prediction/validated_curves.hpp"
#include "reports/prediction/validation.hpp"
#include "reports/track/bisection.hpp"
#include "reports/track/history.hpp"

namespace hbench {
namespace {

/// A schema's file, and what says it. The number is raised where a field gets another meaning.
struct Published {
  std::string_view file;
  std::string (*schema)();
};

/// Answers with what their descriptions look up.
Choice choice() {
  Choice choice;
  choice.catalog.profiles[""] = {};
  return choice;
}
ComparisonAnswer comparison() {
  ComparisonAnswer answer;
  answer.asked = &ready_comparisons().front();
  answer.labels[""] = "";
  return answer;
}
std::vector<CollectiveRow> collective() {
  CollectiveRow row;
  row.result.asked.collective = {.name = "all-reduce", .data_type = "float32"};
  return {row};
}

constexpr Form kSchema = Form::schema;
constexpr Published kPublished[] = {
    {"bandwidth-1", [] { return bandwidth_json({}, kSchema); }},
    {"calibrate-curve-1", [] { return curve_fit_json({}, {}, "", kSchema); }},
    {"calibrate-rows-1", [] { return fit_json({}, "", kSchema); }},
    {"choose-1", [] { return choice_json(choice(), kSchema); }},
    {"choose-several-1", [] { return choice_json(std::vector{choice()}, kSchema); }},
    {"collective-1", [] { return collective_json(collective(), {}, {}, {}, kSchema); }},
    {"compare-1", [] { return comparison_json(comparison(), kSchema); }},
    {"crossover-1", [] { return crossover_json({}, kSchema); }},
    {"db-check-1", [] { return check_json("", {}, kSchema); }},
    {"db-merge-1", [] { return merge_json("", {}, kSchema); }},
    {"db-prune-1", [] { return prune_json("", {}, false, kSchema); }},
    {"doctor-1", [] { return doctor_json({}, {}, kSchema); }},
    {"expect-1", [] { return expectation_json({}, kSchema); }},
    {"expect-training-1", [] { return training_expectation_json({}, kSchema); }},
    {"export-1", [] { return points_json({}, kSchema); }},
    {"import-job-1", [] { return job_json({}, "", {}, kSchema); }},
    {"list-1", [] { return listing_json({}, kSchema); }},
    {"list-profiles-1", [] { return profiles_json({}, kSchema); }},
    {"profile-check-1", [] { return findings_json({}, kSchema); }},
    {"profile-diff-1", [] { return difference_json({}, {}, false, kSchema); }},
    {"track-bisect-1", [] { return bisect_json({}, kSchema); }},
    {"track-history-1", [] { return history_json({}, kSchema); }},
    {"track-run-1", [] { return stored_run_json({}, kSchema); }},
    {"validate-1", [] { return validation_json({}, kSchema); }},
    {"validate-collectives-1", [] { return curves_json({}, kSchema); }},
    {"validate-rates-1", [] { return rates_json({}, kSchema); }},
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
  for (const Published& each : kPublished)
    write_whole(folder / fmt::format("{}.json", each.file), each.schema(), "--folder");
  return ExitCode::good;
}

}  // namespace

extern const Verb kSchemas;
constinit const Verb kSchemas{
    .name = "schemas", .summary = "write the schemas of --json", .hidden = true, .run = run_schemas};

}  // namespace hbench

/// The schemas of `reports/schemas` are what the descriptions of the answers give.

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "analysis/prediction/comparisons.hpp"
#include "bench/collective/json.hpp"
#include "bench/database/text.hpp"
#include "bench/doctor/diagnosis.hpp"
#include "bench/output/listing.hpp"
#include "bench/output/points_json.hpp"
#include "bench/track/tracked_run.hpp"
#include "collectives/base/file.hpp"
#include "reports/prediction/bandwidth.hpp"
#include "reports/prediction/choice.hpp"
#include "reports/prediction/comparison.hpp"
#include "reports/prediction/crossover.hpp"
#include "reports/prediction/expectation.hpp"
#include "reports/prediction/fits.hpp"
#include "reports/prediction/job.hpp"
#include "reports/prediction/profile_difference.hpp"
#include "reports/prediction/profiles.hpp"
#include "reports/prediction/validated_curves.hpp"
#include "reports/prediction/validated_rates.hpp"
#include "reports/prediction/validation.hpp"
#include "reports/track/bisection.hpp"
#include "reports/track/history.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench {
namespace {

/// A schema's file, and what it is to say. The number is raised where a field gets another meaning.
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

std::filesystem::path path_of(std::string_view file) {
  return std::filesystem::path(HBENCH_SOURCE_DIR) / "reports" / "schemas" / (std::string(file) + ".json");
}

// HBENCH_UPDATE_SCHEMAS=1 bench_test --gtest_filter='Schemas.*' writes them anew.
TEST(Schemas, AreWhatTheDescriptionsSay) {
  for (const Published& each : kPublished) {
    if (std::getenv("HBENCH_UPDATE_SCHEMAS") != nullptr) write_bytes(path_of(each.file), each.schema());
    EXPECT_EQ(read_file(path_of(each.file)), each.schema()) << each.file;
  }
}

TEST(Schemas, HaveATitleAndNoFileTooMany) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path_of("any").parent_path())) {
    const auto schema = nlohmann::json::parse(read_file(entry.path()));
    EXPECT_THAT(schema.at("title").get<std::string>(), testing::StartsWith("hbench ")) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, std::size(kPublished) + 1) << "track-check-1.json is written by hand";
}

}  // namespace
}  // namespace hbench


#include <nlohmann/json.hpp>

#include "reports/job/job.hpp"
#include "tests/reports/document_parts.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::job_unknown_test {
namespace {

using Json = nlohmann::json;

/// What NCCL Inspector knows of a job without its verbose mode: bytes and durations.
TrainingJob job_without_times() {
  TrainingJob job;
  job.recordings.push_back({.file = "a.log", .format = "nccl-inspector", .rank = 0, .world = 4, .backend = "nccl"});
  job.ranks = 4;
  job.steps = 6;
  job.communication = Seconds(0.002);
  job.buckets.push_back({.bytes = 8'196'000, .duration = Seconds(0.002)});
  return job;
}

/// What is said below the answer.
std::string facts_of(const Document& document) { return all_of<Paragraph>(document).front().text; }

TEST(JobReport, ShowsNoTimeThatNobodyRecorded) {
  const Document document = job_document(job_without_times(), {});
  EXPECT_EQ(facts_of(document), "How long a step takes on 4 ranks, nccl is not known.");
  const std::vector<Table> tables = all_of<Table>(document);
  for (const auto& row : tables.front().rows)
    EXPECT_EQ(row[1], row[0] == "communication" ? "2.0 ms" : "not known") << row[0];
  EXPECT_THAT(tables.at(1).rows.front(), ElementsAre("1", "-", "not known", "7.82 MiB", "-", "2.0 ms", "4.1 GB/s"));
}

TEST(JobReport, HasNullForWhatIsNotKnown) {
  const Json json = Json::parse(job_json(job_without_times(), {}));
  for (const char* name : {"step_seconds", "forward_seconds", "backward_seconds", "update_seconds", "exposed_seconds"})
    EXPECT_TRUE(json.at(name).is_null()) << name;
  EXPECT_EQ(json["communication_seconds"], 0.002);
  EXPECT_EQ(json["buckets"][0]["bytes"], 8'196'000);
  EXPECT_TRUE(json["buckets"][0]["elements"].is_null());
  EXPECT_TRUE(json["buckets"][0]["launched_seconds"].is_null());
}

TEST(JobReport, ShowsAPredictionBesideWhatWasMeasured) {
  TrainingJob job = job_without_times();
  job.step = Seconds(0.1);
  const PredictedJob predicted{.profile = "aws-p4d",
                               .strategy = "ring",
                               .other_gpu = "a100",
                               .ranks = 4,
                               .nodes = 1,
                               .step = Seconds(0.092),
                               .low = Seconds(0.09),
                               .high = Seconds(0.11),
                               .compute = Seconds(0.09),
                               .exposed = Seconds(0.002),
                               .error = -0.08,
                               .step_difference = Seconds(-0.008),
                               .compute_difference = Seconds(0),
                               .exposed_difference = Seconds(-0.008)};
  const Document document = job_document(job, {}, predicted);
  const std::vector<Table> tables = all_of<Table>(document);
  EXPECT_EQ(tables.back().caption,
            "Predicted where it was measured: aws-p4d, 4 ranks on 1 node, ring, recorded buckets");
  EXPECT_THAT(tables.back().rows.at(0), ElementsAre("step", "100.0 ms", "92.0 ms", "-8.0 ms", "-8.0 %"));
  EXPECT_THAT(tables.back().rows.at(2), ElementsAre("exposed", "10.0 ms", "2.0 ms", "-8.0 ms", "-8.0 %"));
  const std::vector<Paragraph> paragraphs = all_of<Paragraph>(document);
  EXPECT_THAT(paragraphs.at(1).text, HasSubstr("8.0 % below what was measured"));
  EXPECT_THAT(paragraphs.at(2).text, HasSubstr("only the exchange is the profile's"));
  const Json json = Json::parse(job_json(job, {}, predicted));
  EXPECT_EQ(json["predicted"]["error"], -0.08);
  EXPECT_EQ(json["predicted"]["other_gpu"], "a100");
  EXPECT_TRUE(Json::parse(job_json(job, {}))["predicted"].is_null());
}

TEST(JobReport, SaysThatDurationsAreMissing) {
  TrainingJob job = job_without_times();
  job.step = job.fastest_step = job.slowest_step = Seconds(0.22);
  job.communication = {};
  job.buckets.front().duration.reset();
  EXPECT_THAT(facts_of(job_document(job, {})),
              HasSubstr("220.0 ms) on 4 ranks, nccl; how long its gradients travel is not known."));
  EXPECT_TRUE(Json::parse(job_json(job, {}))["communication_seconds"].is_null());
  job.forward = job.backward = Seconds(0.1);
  EXPECT_THAT(facts_of(job_document(job, {})), HasSubstr("travel is not known"));
  const Table times = all_of<Table>(job_document(job, {})).front();
  for (const auto& row : times.rows)
    if (row[0] == "exposed" || row[0] == "overlapped") {
      EXPECT_EQ(row[1], "not known") << row[0];
    }
}

TEST(JobReport, TakesAJobForAloneOnlyWhereNothingSpeaksForOtherRanks) {
  TrainingJob job;
  job.recordings.push_back({.file = "train.log", .format = "megatron"});
  job.step = job.fastest_step = job.slowest_step = Seconds(2);
  const auto verdict = [&] { return facts_of(job_document(job, {})); };
  EXPECT_THAT(verdict(), HasSubstr("on a number of ranks that is not known; no exchange of gradients is in the file."));
  job.forward = job.backward = Seconds(0.9);
  EXPECT_THAT(verdict(), HasSubstr("on one rank; it exchanges no gradients."));
  job.exposed = Seconds(0.1);
  EXPECT_THAT(verdict(), HasSubstr("on a number of ranks that is not known; of its exchanges"));
}

}  // namespace
}  // namespace hbench::job_unknown_test

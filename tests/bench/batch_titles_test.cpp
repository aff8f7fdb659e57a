// The batch of a workload, in the headlines and tables of answers that depend on it.

#include <nlohmann/json.hpp>

#include "analysis/bandwidth/bandwidth.hpp"
#include "analysis/compare/compare.hpp"
#include "analysis/prediction/usual_batch.hpp"
#include "bench/launch/installation.hpp"
#include "reports/bandwidth/bandwidth.hpp"
#include "reports/compare/comparison.hpp"
#include "tests/bench/lab.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::batch_titles_test {
namespace {

PlannedCase lab_case_of(int batch, int global_batch = 0, int accumulate = 0) {
  PlannedCase planned = lab_case(8);
  planned.asked.batch_per_gpu = batch;
  planned.asked.global_batch = global_batch;
  planned.asked.accumulate = accumulate;
  return planned;
}

TEST(TitleWithBatches, NamesEachBatchOfItsCasesOnce) {
  const Trace trace = lab_catalog().traces.at("one");
  PlannedCase other = lab_case_of(7);
  other.asked.workload = "other";
  struct Row {
    std::vector<PlannedCase> cases;
    const char* title;
  };
  for (const Row& row :
       std::vector<Row>{{{}, "One gradient"},
                        {{other}, "One gradient"},
                        {{lab_case_of(64), other, lab_case_of(64)}, "One gradient of batch 64"},
                        {{lab_case_of(64), lab_case_of(32)}, "One gradient of batch 64 or batch 32"},
                        {{lab_case_of(128, 0, 4)}, "One gradient of batch 128 in 4 micro-batches"},
                        {{lab_case_of(64, 512), lab_case_of(32, 512)}, "One gradient of global batch 512"}})
    EXPECT_EQ(title_with_batches(trace, row.cases), row.title);
}

std::vector<std::string> captions_of(const Document& document) {
  std::vector<std::string> captions;
  for (const Block& block : document.blocks)
    if (const auto* table = std::get_if<Table>(&block)) captions.push_back(table->caption);
  return captions;
}

TEST(BatchTitles, OfBandwidthNameTheBatchInItsFirstLineAndItsTables) {
  PredictionRequest request;
  request.workloads = {"vgg16"};
  request.profiles = {"aws-p3-25gbe"};
  request.gpus = {16};
  request.algorithms = {"ring"};
  request.compressors = {"none"};
  request.evidence = {Evidence::simulated};
  for (const auto& [global_batch, batch] : {std::pair(0, "batch 32"), std::pair(1024, "global batch 1024")}) {
    request.global_batch = global_batch;
    const Document document = bandwidth_document(required_bandwidth(request, 0.9, load_data()));
    const std::string title = std::string("VGG-16 of ") + batch;
    EXPECT_EQ(document.title, "The bandwidth that " + title + " needs");
    EXPECT_THAT(std::get<Verdict>(document.blocks.front()).text, HasSubstr("node of 8 GPUs: " + title + ": "));
    EXPECT_THAT(captions_of(document), ElementsAre(StartsWith(title + ": Gbit/s that a node of 8 GPUs needs"),
                                                   StartsWith(title + ": the most GPUs")));
  }
}

TEST(BatchTitles, OfBandwidthNameTheBatchInItsMapOfStrategies) {
  EXPECT_THAT(printed_by("bandwidth", {"--strategies", "--workload", "vgg16", "--gpus", "16", "--bandwidth", "10,100",
                                       "--algorithm", "ring", "--quiet"}),
              AllOf(HasSubstr("=> Simulated, the fastest: VGG-16 of batch 32, 16 GPUs: "),
                    HasSubstr("\nVGG-16 of batch 32: the fastest, GPUs down, Gbit/s per node across\n")));
}

TEST(BatchTitles, OfCompareNameTheBatchInItsFirstLineAndItsTables) {
  const ComparisonAnswer answer = compare(find_comparison("v100-25-100"), load_data());
  const Document document = comparison_document(answer);
  EXPECT_THAT(std::get<Verdict>(document.blocks.front()).text,
              AllOf(HasSubstr(" ResNet-50 of batch 64: "), HasSubstr(" VGG-16 of batch 32: ")));
  EXPECT_THAT(captions_of(document), IsSupersetOf({StartsWith("ResNet-50 of batch 64: simulated"),
                                                   StartsWith("VGG-16 of batch 32: simulated")}));
  const auto json = nlohmann::json::parse(comparison_json(answer));
  for (const auto& point : json.at("points"))
    EXPECT_EQ(point.at("batch_per_gpu"), point.at("workload") == "vgg16" ? 32 : 64);
}

}  // namespace
}  // namespace hbench::batch_titles_test

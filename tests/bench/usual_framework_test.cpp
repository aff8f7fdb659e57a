// Predictions are of a framework where nobody names one, and of hbench's own engine beside what that engine does.

#include <set>

#include "analysis/points/unknowns.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/records/words.hpp"
#include "tests/bench/plan_example.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::usual_framework_test {
namespace {

/// As the program asks.
SweepRequest request_of(std::vector<std::string> algorithms) {
  SweepRequest request = small_request();
  request.of_engine = false;
  request.gpus = {8};
  request.algorithms = std::move(algorithms);
  return request;
}

std::set<std::string> labels(const Plan& plan, Evidence evidence = Evidence::simulated) {
  std::set<std::string> all;
  for (const Case& asked : plan.cases)
    if (asked.evidence == evidence) all.insert(asked.strategy.label());
  return all;
}

TEST(UsualFramework, IsPyTorchsOfRingsAndTensorFlowsOrMxnetsOfServers) {
  EXPECT_THAT(labels(plan_of(request_of({"ring", "ps"}))),
              UnorderedElementsAre("ddp: ring", "tf-ps: ps (greedy, colocated)", "tf-ps: ps (greedy, dedicated)",
                                   "mxnet-ps: ps (sliced, colocated)", "mxnet-ps: ps (sliced, dedicated)"));
}

TEST(UsualFramework, IsNotBesideAFrameworkThatHasTheAlgorithmsThatAreNamed) {
  SweepRequest request = request_of({"ring"});
  request.presets = {"horovod-2018"};
  EXPECT_THAT(labels(plan_of(request)), ElementsAre("horovod-2018: ring"));
  request.gpus = {256};
  EXPECT_THAT(labels(plan_of(request)), ElementsAre("horovod-2018: ring")) << "as it is named";
  request.gpus = {8};
  request.algorithms = {"halving-doubling"};
  EXPECT_THAT(labels(plan_of(request)), Contains(HasSubstr("halving-doubling"))) << "which Horovod does not have";
}

TEST(UsualFramework, HasServersInSomebodysOwnQuestionOnlyWhereTheyAreAskedFor) {
  SweepRequest request = request_of({});
  EXPECT_THAT(labels(plan_of(request)), ElementsAre("ddp: ring"));
  request.placements = {"sliced"};
  EXPECT_THAT(labels(plan_of(request)), UnorderedElementsAre("ddp: ring", "mxnet-ps: ps (sliced, colocated)",
                                                             "mxnet-ps: ps (sliced, dedicated)"));
  request = request_of({});
  request.methods = {"async-ps"};
  EXPECT_THAT(labels(plan_of(request)), Each(HasSubstr("ps (")));
}

/// So that a curve up to 1,024 GPUs is of one strategy, which is no flat ring there.
TEST(UsualFramework, AddsUpAsTheLibraryDoesWhereManyGpusAreAskedAbout) {
  SweepRequest request = request_of({});
  request.gpus = {8, 255};
  EXPECT_THAT(labels(plan_of(request)), ElementsAre("ddp: ring"));
  request.gpus = {8, 256};
  EXPECT_THAT(labels(plan_of(request)), ElementsAre("ddp: vendor"));
  request.compressors = {"none", "fp16"};
  EXPECT_THAT(labels(plan_of(request)), UnorderedElementsAre("ddp: vendor", "ddp: vendor + fp16"));
  request.compressors = {"none", "int8"};
  EXPECT_THAT(labels(plan_of(request)), UnorderedElementsAre("ddp: ring", "ddp: ring + int8"));
  request = request_of({});
  request.gpus = {256};
  request.methods = {"zero:1"};
  EXPECT_THAT(labels(plan_of(request)), ElementsAre(HasSubstr("ddp: ring")));
  request = request_of({"ring"});
  request.gpus = {256};
  EXPECT_THAT(labels(plan_of(request)), ElementsAre("ddp: ring")) << "that was asked for";
  request = request_of({});
  request.gpus = {256};
  request.presets = {"horovod", "byteps"};
  EXPECT_THAT(labels(plan_of(request)), UnorderedElementsAre(HasSubstr("horovod: vendor"), HasSubstr("byteps: ps")));
}

TEST(UsualFramework, IsHorovodInTheSweepThatNamesNothing) {
  SweepRequest request;
  request.gpus = {8};
  request.evidence = {Evidence::simulated};
  EXPECT_THAT(labels(plan_of(request)),
              UnorderedElementsAre("horovod: ring", "horovod: ring + fp16", "tf-ps: ps (greedy, colocated)",
                                   "tf-ps: ps (greedy, dedicated)", "mxnet-ps: ps (sliced, colocated)",
                                   "mxnet-ps: ps (sliced, dedicated)"));
}

TEST(UsualFramework, FollowsTheStrategyThatIsAskedFor) {
  SweepRequest request = request_of({"halving-doubling"});
  request.fusions = {"ddp", "none", "horovod", "horovod:64MiB:5ms"};
  EXPECT_THAT(
      names(plan_of(request)),
      ElementsAre("resnet50 8 ddp: halving-doubling", "resnet50 8 ddp: halving-doubling, no fusion",
                  "resnet50 8 horovod: halving-doubling", "resnet50 8 horovod: halving-doubling, horovod:64MiB:5ms"));
  request = request_of({"ring"});
  request.presets = {"bagua"};
  EXPECT_THAT(labels(plan_of(request)), ElementsAre("bagua: ring, ddp:10MiB:10MiB"));
}

TEST(UsualFramework, IsNoneBesideEmulatedStepsAndInWhatIsMeasured) {
  SweepRequest request = request_of({"ring"});
  request.evidence = {Evidence::emulated, Evidence::simulated};
  const Plan emulated = plan_of(request);
  EXPECT_THAT(labels(emulated), ElementsAre("ring"));
  EXPECT_THAT(labels(emulated, Evidence::emulated), ElementsAre("ring"));
  request.gpus = {2};
  request.evidence = {Evidence::measured, Evidence::simulated};
  const Plan measured = plan_of(request);
  EXPECT_THAT(labels(measured, Evidence::measured), UnorderedElementsAre("none", "ring"));
  EXPECT_THAT(labels(measured), ElementsAre("ddp: ring"));
}

TEST(UsualFramework, LosesTimeAndIsNoUnknownToSpeakOf) {
  SweepRequest request = request_of({"ring"});
  request.gpus = {32};
  const Plan named = plan_of(request);
  request.of_engine = true;
  const Plan engine = plan_of(request);
  const SimulatedStep step = SimulatedRunner(named.catalog).step(named.cases.front()),
                      own = SimulatedRunner(engine.catalog).step(engine.cases.front());
  EXPECT_GT(step.lost, 1);
  EXPECT_EQ(own.lost, 1);
  EXPECT_LT(size_of(step.unknowns, UnknownKind::framework), size_of(own.unknowns, UnknownKind::framework));
}

TEST(UsualFramework, IsSaidInWords) {
  EXPECT_EQ(presets_in_words({"", "tf-ps", "ddp"}),
            " Steps are as in PyTorch's DistributedDataParallel (ddp), TensorFlow 1 with parameter servers over gRPC "
            "(tf-ps).");
  EXPECT_EQ(presets_in_words({""}), "");
  EXPECT_EQ(presets_in_words({"of a later version"}), "");
}

}  // namespace
}  // namespace hbench::usual_framework_test

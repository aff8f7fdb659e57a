#include "bench/sweep/plan.hpp"

#include <set>

#include "analysis/records/fingerprint.hpp"
#include "collectives/network/choose.hpp"
#include "tests/bench/plan_example.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::plan_test {
namespace {

TEST(SweepPlan, IsTheProductOfTheLists) {
  SweepRequest request = small_request();
  request.compressors = {"none", "fp16"};
  request.fusions = {"horovod", "none"};
  EXPECT_THAT(names(plan_of(request)),
              ElementsAre("resnet50 1 ring", "resnet50 1 ring, no fusion", "resnet50 1 ring + fp16",
                          "resnet50 1 ring + fp16, no fusion", "resnet50 8 ring", "resnet50 8 ring, no fusion",
                          "resnet50 8 ring + fp16", "resnet50 8 ring + fp16, no fusion"));
}

TEST(SweepPlan, ReadsBackEveryCaseAsItIsWritten) {
  SweepRequest request;
  request.gpus = {1, 2, 8, 64};
  request.evidence = {Evidence::measured, Evidence::simulated, Evidence::published};
  const Plan plan = plan_of(request);
  EXPECT_GT(plan.cases.size(), 100U);
  for (const auto& [asked, strategy] : plan.cases) {
    const PlannedCase read = planned(asked), written = planned(asked, strategy);
    EXPECT_EQ(written.asked.strategy, asked.strategy) << asked.key();
    EXPECT_EQ(written.asked.training, asked.training) << asked.key();
    EXPECT_EQ(read.strategy.executor, strategy.executor) << asked.key();
    EXPECT_EQ(read.world(4), strategy.world(asked.workers(), 4)) << asked.key();
  }
}

TEST(SweepPlan, HasEveryMethodAndLeavesSynchronousUnsaid) {
  SweepRequest request = small_request();
  request.methods = {"synchronous", "local-sgd", "zero:2"};
  request.gpus = {8};
  EXPECT_THAT(names(plan_of(request)),
              ElementsAre("resnet50 8 ring", "resnet50 8 ring, local-sgd:8", "resnet50 8 ring, zero:2"));
  EXPECT_EQ(plan_of(request).cases.front().asked.strategy.method, "");
}

TEST(SweepPlan, NamesNoAlgorithmThatNobodyAskedForAndAMethodCannotUse) {
  SweepRequest request = small_request();
  request.gpus = {8};
  request.algorithms.clear();
  request.compressors = {"none", "fp16"};
  request.placements = {"sliced"};
  request.servers = {{true, 0}};
  request.methods = {"fsdp", "local-sgd", "async-ps"};
  const Plan plan = plan_of(request);
  EXPECT_THAT(names(plan), ElementsAre("resnet50 8 ring, fsdp", "resnet50 8 ring + fp16, fsdp",
                                       "resnet50 8 ring, local-sgd:8", "resnet50 8 ps (sliced, colocated), local-sgd:8",
                                       "resnet50 8 ps (sliced, colocated), async-ps",
                                       "resnet50 8 ps (sliced, colocated) + fp16, async-ps"));
  EXPECT_THAT(refusals(plan), Each(HasSubstr("local-sgd:8 averages parameters, and fp16 compresses")))
      << "somebody named fp16";
  request.algorithms = {"ring", "ps"};
  EXPECT_THAT(refusals(plan_of(request)), Contains(HasSubstr("fsdp needs an all-gather")));
}

TEST(SweepPlan, SaysTheOptimizerWhereItIsNotTheUsualOne) {
  const auto optimizers_of = [](Evidence evidence, const char* optimizer) {
    SweepRequest request = small_request();
    request.gpus = {1, 2};
    request.evidence = {evidence};
    request.optimizer = parse_optimizer(optimizer);
    std::set<std::string> all;
    for (const Case& asked : plan_of(request).cases) all.insert(asked.training.optimizer);
    return all;
  };
  EXPECT_THAT(optimizers_of(Evidence::measured, "adam"), ElementsAre("adam")) << "of the baseline too";
  EXPECT_THAT(optimizers_of(Evidence::measured, "sgd"), ElementsAre(""));
  EXPECT_THAT(optimizers_of(Evidence::simulated, "sgd"), ElementsAre("sgd")) << "a workload is not recorded with it";
}

TEST(SweepPlan, GivesServersToParameterServersOnly) {
  SweepRequest request = small_request();
  request.gpus = {8};
  request.algorithms = {"ring", "ps"};
  request.placements = {"sliced"};
  request.servers = {{true, 3}, {false, 0}};
  const Plan plan = plan_of(request);
  ASSERT_EQ(plan.cases.size(), 3);
  EXPECT_EQ(plan.cases[0].asked.strategy.servers, 0);
  EXPECT_EQ(plan.cases[0].asked.strategy.placement, "");
  EXPECT_EQ(plan.cases[0].asked.nodes, 2) << "of 4 GPUs each";
  EXPECT_EQ(plan.cases[1].asked.strategy.servers, 3);
  EXPECT_EQ(plan.cases[1].asked.strategy.server_mode, "colocated");
  EXPECT_EQ(plan.cases[2].asked.strategy.servers, 2) << "one for each node of 4 GPUs";
  EXPECT_EQ(plan.cases[2].asked.strategy.server_mode, "dedicated");
  EXPECT_EQ(plan.cases[1].world(4), (World{8, 3, true, 4})) << "with slices the 4 GPUs of a node add up first";
  EXPECT_EQ(plan.cases[2].world(4), (World{8, 2, false, 4}));
  EXPECT_EQ(plan.cases[0].world(4), (World{8, 0, false, 1}));
}

TEST(SweepPlan, SimulatesFrameworksByName) {
  SweepRequest request = small_request();
  request.gpus = {8};
  request.algorithms = {};
  request.presets = {"ddp", "byteps"};
  request.evidence = {Evidence::measured, Evidence::simulated};
  const Plan plan = plan_of(request);
  std::set<std::string> labels;
  for (const auto& [asked, strategy] : plan.cases) {
    EXPECT_EQ(asked.evidence, Evidence::simulated);
    labels.insert(asked.strategy.label());
    EXPECT_EQ(strategy.preset->name, asked.strategy.preset);
  }
  EXPECT_THAT(labels, UnorderedElementsAre("ddp: ring", "byteps: ps (sliced, colocated)"));
  EXPECT_THAT(reasons(plan.refused), HasSubstr("presets, measured"));
  request.algorithms = {"ring"};
  std::set<std::string> presets;
  for (const Case& asked : plan_of(request).cases) presets.insert(asked.strategy.preset);
  EXPECT_THAT(presets, UnorderedElementsAre("", "ddp", "byteps"));
  request.presets = {"dpd"};
  expect_error([&] { plan_of(request); }, ExitCode::usage, HasSubstr("did you mean 'ddp'"));
}

TEST(SweepPlan, HasNoMoreNodesThanAClusterJoins) {
  SweepRequest request = small_request();
  request.profiles = {"lambda-8x-v100"};
  request.gpus = {4, 8, 16};
  request.algorithms = {"ring"};
  const Plan plan = plan_of(request);
  for (const Case& asked : plan.cases) EXPECT_LE(asked.gpus, 8);
  EXPECT_THAT(plan.cases, Not(IsEmpty()));
  EXPECT_THAT(reasons(plan.refused), HasSubstr("lambda-8x-v100 on more than 8 GPUs: its profile has 1 node at most"));
}

TEST(SweepPlan, HasNoMoreColocatedServersThanWorkers) {
  SweepRequest request = small_request();
  request.gpus = {2};
  request.algorithms = {"ps"};
  request.placements = {"greedy"};
  request.servers = {{true, 8}};
  request.workloads = {"resnet50"};
  request.evidence = {Evidence::measured, Evidence::simulated};
  for (const Case& asked : plan_of(request).cases) EXPECT_LE(asked.strategy.servers, 2);
}

TEST(SweepPlan, StatesForEachSimulatedCaseWhereItsFiguresComeFrom) {
  for (const Case& asked : plan_of(small_request()).cases) {
    EXPECT_EQ(asked.evidence, Evidence::simulated);
    EXPECT_EQ(asked.profile, "hkbu-10gbe");
    EXPECT_EQ(asked.implementation, kSimulatorRevision);
    EXPECT_GT(asked.batch_per_gpu, 0);
    EXPECT_THAT(asked.source, AllOf(HasSubstr("profile hkbu-10gbe"), HasSubstr("timeline resnet50")));
  }
}

TEST(SweepPlan, TakesTheBatchFromTheFlagThenFromTheProfile) {
  SweepRequest request = small_request();
  const int of_profile = plan_of(request).catalog.profiles.at("hkbu-10gbe").rates.at("resnet50").batch;
  EXPECT_EQ(plan_of(request).cases.front().asked.batch_per_gpu, of_profile);
  request.batch = of_profile + 3;
  EXPECT_EQ(plan_of(request).cases.front().asked.batch_per_gpu, of_profile + 3);
}

// Rates of BERT large are known at batches of 4 and of more samples: a cluster with less memory would look worse for
// it.
TEST(SweepPlan, TakesOneBatchOfAWorkloadOnAllClusters) {
  const auto batches = [](const std::string& workload, std::vector<std::string> clusters, int gpus = 8) {
    SweepRequest request = small_request();
    request.gpus = {gpus};
    request.workloads = {workload};
    request.profiles = std::move(clusters);
    std::set<int> found;
    for (const Case& asked : plan_of(request).cases) found.insert(asked.batch_per_gpu);
    return found;
  };
  for (const char* workload : {"resnet50", "vgg16", "bert_large"}) {
    const std::set<int> a100 = batches(workload, {"aws-p4d"}), h100 = batches(workload, {"azure-nd-h100-v5"});
    const std::set<int> both = batches(workload, {"aws-p4d", "azure-nd-h100-v5"});
    ASSERT_EQ(both.size(), 1U) << workload;
    EXPECT_TRUE(both == a100 || both == h100) << workload << ": a batch at which a rate is known";
  }
  EXPECT_NE(batches("bert_large", {"aws-p4d"}), batches("bert_large", {"azure-nd-h100-v5"})) << "else nothing is shown";
}

TEST(SweepPlan, DoesNotRunAJobOfOneGpuAtItsSpeedOnAnother) {
  const TemporaryFolder folder;
  const std::string file = (folder / "own.toml").string();
  const std::string text = bytes_of(std::filesystem::path(HBENCH_SOURCE_DIR) / "workloads/traces/resnet50.toml") +
                           "\n[recorded]\ngpu = \"NVIDIA A100-SXM4-40GB\"\nstep = \"60 ms\"\n";
  write_bytes(file, text);
  SweepRequest request = small_request();
  request.gpus = {8};
  request.workloads = {file};
  request.profiles = {"aws-p4d", "uber-p100-25gbe-roce"};
  const Plan modelled = plan_of(request);
  ASSERT_EQ(modelled.cases.size(), 2U);
  EXPECT_THAT(modelled.cases.back().asked.source, HasSubstr("modelled")) << "by the operations of a sample";
  std::string without = text;
  without.insert(without.find("cost = "), "# ");
  write_bytes(file, without);
  const Plan plan = plan_of(request);
  ASSERT_EQ(plan.cases.size(), 1U);
  EXPECT_EQ(plan.cases.front().asked.profile, "aws-p4d");
  EXPECT_THAT(refusals(plan), Contains(HasSubstr("it was recorded on NVIDIA A100-SXM4-40GB, and this cluster has p100; "
                                                 "give what one of these makes: --rate p100=SAMPLES_PER_SECOND")));
  request.gpu_rates = {{"p100", 200}};
  EXPECT_EQ(plan_of(request).cases.size(), 2U);
  request.gpu_rates.clear();
  request.profiles.clear();
  request.algorithms.clear();
  const Plan usual = plan_of(request);
  EXPECT_EQ(usual.catalog.profiles.size(), 6U);
  EXPECT_EQ(usual.cases.size(), 6U) << "clusters that have its GPU, and no servers: nobody asked for them";
  for (const PlannedCase& each : usual.cases)
    EXPECT_TRUE(usual.catalog.profiles.at(each.asked.profile).gpu.starts_with("a100")) << each.asked.profile;
}

TEST(SweepPlan, SharesAGlobalBatchAmongTheGpusAndRefusesWhatIsNotWhole) {
  SweepRequest request = small_request();
  request.gpus = {8, 16, 24};
  request.global_batch = 512;
  const Plan plan = plan_of(request);
  ASSERT_EQ(plan.cases.size(), 2u);
  EXPECT_EQ(plan.cases[0].asked.batch_per_gpu, 64);
  EXPECT_EQ(plan.cases[1].asked.batch_per_gpu, 32);
  EXPECT_EQ(plan.cases[1].asked.global_batch, 512);
  EXPECT_THAT(
      reasons(plan.refused),
      HasSubstr("24 GPUs: a global batch of 512 is no multiple of 24 GPUs with one batch each: 504 and 528 are"));
}

TEST(SweepPlan, KeepsTheRateThatWasGiven) {
  SweepRequest request = small_request();
  request.single_gpu_rate = 123.5;
  for (const Case& asked : plan_of(request).cases) {
    EXPECT_EQ(asked.single_gpu_rate, 123.5);
    EXPECT_THAT(asked.source, HasSubstr("--single-gpu-rate"));
  }
}

TEST(SweepPlan, WithNothingGivenIsAGoodFirstSweep) {
  SweepRequest request;
  request.gpus = {1, 2, 4, 8, 16};
  request.evidence = {Evidence::measured, Evidence::simulated, Evidence::published};
  LocalMachine machine = machine_of_two();
  machine.limits.models.push_back("resnet18");
  const Plan plan = plan_of(request, machine);
  std::set<std::string> workloads, algorithms;
  std::set<Evidence> evidence;
  for (const Case& asked : plan.cases) {
    workloads.insert(asked.workload);
    algorithms.insert(asked.strategy.algorithm);
    evidence.insert(asked.evidence);
  }
  EXPECT_THAT(workloads, UnorderedElementsAre("resnet18", "resnet50", "resnet101", "inception_v3", "vgg16"));
  EXPECT_THAT(algorithms, UnorderedElementsAre("none", "ring", "ps", "vendor"));
  EXPECT_THAT(evidence, UnorderedElementsAre(Evidence::measured, Evidence::simulated));
  EXPECT_THAT(plan.published, Not(IsEmpty()));
  EXPECT_EQ(keys(plan).size(), plan.cases.size());
}

TEST(SweepPlan, HasEveryCaseOnceHoweverOftenItWasAskedFor) {
  SweepRequest request = small_request();
  request.gpus = {2, 4};
  request.evidence = {Evidence::measured, Evidence::simulated, Evidence::published};
  request.profiles = {"hkbu-10gbe", "hkbu-10gbe"};
  request.workloads = {"resnet50", "resnet50"};
  request.algorithms = {"ring", "ps", "ring"};
  request.compressors = {"none", "none"};
  request.fusions = {"horovod", "horovod:128MiB:1ms"};
  request.placements = {"greedy", "greedy"};
  request.servers = {{true, 8}, {true, 4}, {false, 0}, {false, 1}};
  const Plan plan = plan_of(request);
  EXPECT_EQ(keys(plan).size(), plan.cases.size());
  EXPECT_THAT(plan.cases, Not(IsEmpty()));
}

TEST(SweepPlan, OverlapsAsARecordedJobDid) {
  const TemporaryFolder folder;
  const std::string file = (folder / "own.toml").string();
  const std::string text = bytes_of(std::filesystem::path(HBENCH_SOURCE_DIR) / "workloads/traces/resnet50.toml");
  for (const bool overlaps : {true, false}) {
    write_bytes(file, "buckets = [100, 61]\n" + text +
                          "\n[recorded]\nstep = \"60 ms\"\noverlap = " + (overlaps ? "true" : "false") + "\n");
    SweepRequest request = small_request();
    request.gpus = {8};
    request.workloads = {file};
    const Plan plan = plan_of(request);
    ASSERT_FALSE(plan.cases.empty()) << reasons(plan.refused);
    EXPECT_EQ(plan.cases.back().strategy.overlap, overlaps);
  }
}

TEST(SweepPlan, HasNoMoreGpusThanAClusterHas) {
  const TemporaryFolder folder;
  const std::string file = (folder / "single.toml").string();
  std::string text = bytes_of(std::filesystem::path(HBENCH_SOURCE_DIR) / "cluster-profiles/lambda-8x-v100.toml");
  const std::size_t value = text.find("value = 8", text.find("gpus_per_node"));
  ASSERT_NE(value, std::string::npos);
  text.replace(value, 9, "value = 1");
  write_bytes(file, text);
  SweepRequest request = small_request();
  request.gpus = {1, 2};
  request.profiles = {file};
  const Plan plan = plan_of(request);
  for (const Case& asked : plan.cases) EXPECT_EQ(asked.gpus, 1);
  EXPECT_THAT(refusals(plan), Contains(HasSubstr("its profile has 1 node at most")));
}

TEST(SweepPlan, NotesRatesThatNoWorkloadHas) {
  const TemporaryFolder folder;
  const std::string file = (folder / "own.toml").string();
  write_bytes(file,
              "gpus_per_node = 1\n[network]\nlatency = \"1 us\"\nline_rate = \"1 Gbit/s\"\n"
              "[rates]\nresnet50 = 100\nresnet5 = 100\nnonsense = 3\nlenet5 = 7\n");
  SweepRequest request = small_request();
  request.profiles = {file};
  const Plan plan = plan_of(request);
  EXPECT_EQ(plan.cases.size(), 2);
  EXPECT_THAT(refusals(plan), UnorderedElementsAre(AllOf(HasSubstr("rates.resnet5 of "), HasSubstr("'resnet50'")),
                                                   AllOf(HasSubstr("rates.nonsense of "), HasSubstr("--workload"))));
}

TEST(SweepPlan, SimulatesALibrarysOwnCollectiveByItsModel) {
  SweepRequest request = small_request();
  request.algorithms = {"vendor", "ring"};
  request.compressors = {"none"};
  EXPECT_THAT(names(plan_of(request)),
              UnorderedElementsAre("resnet50 1 ring", "resnet50 8 ring", "resnet50 1 vendor", "resnet50 8 vendor"));
}

TEST(SweepPlan, RefusesToCompressForALibrarysOwnCollective) {
  SweepRequest request = small_request();
  request.gpus = {2};
  request.evidence = {Evidence::measured};
  request.algorithms = {"vendor"};
  request.compressors = {"none", "fp16"};
  const Plan plan = plan_of(request);
  EXPECT_THAT(names(plan), ElementsAre("resnet50 1 none", "resnet50 2 vendor"));
  EXPECT_THAT(
      refusals(plan),
      ElementsAre("vendor with fp16 on 2 GPUs: vendor sends elements as they are: with fp16 it is simulated only"));
}

TEST(SweepPlan, RefusesToSimulateAModelWithoutATimelineAndNamesTheCure) {
  SweepRequest request = small_request();
  request.workloads = {"resnet50", "lenet5"};
  EXPECT_THAT(refusals(plan_of(request)),
              ElementsAre(AllOf(HasSubstr("lenet5, simulated"), HasSubstr("hbench calibrate --model lenet5"))));
}

TEST(SweepPlan, RefusesWorldsThatDoNotFitInMemoryAndDoesTheRest) {
  SweepRequest request = small_request();
  request.gpus = {8, 65'536};
  request.algorithms = {"direct"};
  LocalMachine machine = machine_of_two();
  machine.limits.memory = std::int64_t{12} << 30;
  const Plan plan = plan_of(request, machine);
  EXPECT_THAT(names(plan), ElementsAre("resnet50 8 direct"));
  EXPECT_THAT(refusals(plan), ElementsAre(AllOf(HasSubstr("65536 GPUs"), HasSubstr("8,368 GPUs"))));
  request.gpus = {65'536};
  expect_error([&] { plan_of(request, machine); }, ExitCode::environment, HasSubstr("nothing to do"),
               HasSubstr("8,368 GPUs"));
  request.algorithms = {"auto"};
  expect_error([&] { plan_of(request, machine); }, ExitCode::environment, HasSubstr("--algorithm auto"),
               HasSubstr("halving-doubling"));
}

TEST(SweepPlan, WithNothingLeftSaysWhy) {
  SweepRequest request = small_request();
  request.algorithms = {"vendor"};
  request.compressors = {"int8"};
  expect_error([&] { plan_of(request); }, ExitCode::usage, HasSubstr("nothing to do"), HasSubstr("cannot be combined"));
}

TEST(SweepPlan, WithNothingThatMatchesSaysWhatToDo) {
  SweepRequest request = small_request();
  request.evidence = {Evidence::published};
  request.gpus = {3};
  expect_error([&] { plan_of(request); }, ExitCode::usage, HasSubstr("nothing to do"), HasSubstr("published"));
  request.evidence = {Evidence::emulated};
  request.gpus = {1};
  expect_error([&] { plan_of(request); }, ExitCode::usage, HasSubstr("nothing to do"), HasSubstr("emulated"));
}

TEST(SweepPlan, EmulatesWhatItSimulates) {
  SweepRequest request = small_request();
  request.gpus = {1, 4, 8};
  request.algorithms = {"ring", "ps"};
  request.evidence = {Evidence::emulated, Evidence::simulated};
  const Plan plan = plan_of(request);
  EXPECT_TRUE(plan.refused.empty());
  std::set<std::string> emulated, simulated;
  for (const Case& asked : plan.cases) {
    EXPECT_EQ(asked.profile, "hkbu-10gbe");
    EXPECT_EQ(is_of_emulated_cluster(asked, plan.catalog), asked.evidence == Evidence::emulated);
    if (asked.gpus > 1) (asked.evidence == Evidence::emulated ? emulated : simulated).insert(asked.question());
    EXPECT_TRUE(asked.gpus > 1 || asked.evidence == Evidence::simulated) << "one GPU exchanges nothing";
  }
  EXPECT_EQ(emulated, simulated);
  EXPECT_EQ(emulated.size(), 10U) << "a ring and four kinds of servers, on 4 and 8 GPUs";
}

TEST(SweepPlan, AsksAnotherQuestionOnceATimelineOfOnesOwnHasChanged) {
  const TemporaryFolder folder;
  const std::string file = (folder / "own.toml").string();
  const std::string text = bytes_of(std::filesystem::path(HBENCH_SOURCE_DIR) / "workloads/traces/resnet50.toml");
  SweepRequest request = small_request();
  request.gpus = {4};
  request.workloads = {file};
  request.evidence = {Evidence::emulated, Evidence::simulated};
  std::set<std::string> questions;
  for (const char* comment : {"", "", "batch = 7 # "}) {
    std::string changed = text;
    changed.insert(changed.find("batch = "), comment);
    write_bytes(file, changed);
    for (const Case& asked : plan_of(request).cases)
      if (asked.gpus > 1) questions.insert(asked.question());
  }
  EXPECT_EQ(questions.size(), 2U) << "one for both evidences of each text";
  request.workloads = {"resnet50"};
  for (const Case& asked : plan_of(request).cases) EXPECT_EQ(asked.model_digest, "") << "hbench's own";
}

TEST(SweepPlan, SaysWhyACaseCannotBeEmulated) {
  SweepRequest request = small_request();
  request.gpus = {2, 6, 8};
  request.algorithms = {"ring", "vendor"};
  request.evidence = {Evidence::emulated};
  const auto refusals = [&](const LocalMachine& machine) { return reasons(plan_of(request, machine).refused); };
  EXPECT_THAT(refusals(machine_of_two()),
              HasSubstr("ring on 6 GPUs, emulated: emulated nodes are full, and a node has 4 GPUs"));
  EXPECT_THAT(refusals(machine_of_two()),
              HasSubstr("vendor on 8 GPUs, emulated: the vendor's library is the cluster's"));
  LocalMachine small = machine_of_two();
  small.limits.memory = 1'000'000'000;
  EXPECT_THAT(refusals(small), HasSubstr("8 ranks with gradients of 97.5 MiB"));
  LocalMachine without = machine_of_two();
  without.limits.no_emulation = "tc is missing; install it";
  expect_error([&] { plan_of(request, without); }, ExitCode::environment, HasSubstr("nothing to do"),
               HasSubstr("emulated runs: tc is missing; install it"));
}

// 6 GPUs on nodes of 4 are two nodes, of which the second is half full: a server for each.
TEST(SweepPlan, HasAServerForEveryNodeThatIsBegun) {
  SweepRequest request = small_request();
  request.gpus = {4, 6};
  request.profiles = {"uber-p100-25gbe-tcp"};
  request.algorithms = {"ps"};
  const Plan plan = plan_of(request);
  std::set<std::string_view> modes;
  for (const Case& asked : plan.cases) {
    EXPECT_EQ(asked.strategy.servers, asked.gpus == 4 ? 1 : 2) << asked.key();
    modes.insert(asked.strategy.server_mode);
  }
  EXPECT_EQ(modes.size(), 2U);
}

TEST(SweepPlan, ResolvesAutoByProfileAndWorld) {
  SweepRequest request = small_request();
  request.algorithms = {"auto"};
  request.evidence = {Evidence::measured, Evidence::simulated};
  const Plan plan = plan_of(request);
  EXPECT_THAT(refusals(plan), Contains(HasSubstr("auto, measured: there is no model of this machine to choose by")));
  const Profile& profile = plan.catalog.profiles.at("hkbu-10gbe");
  int simulated = 0;
  for (const Case& asked : plan.cases) {
    if (asked.evidence != Evidence::simulated) continue;
    EXPECT_EQ(asked.strategy.algorithm, choose_algorithm(profile, asked.gpus, usual_sizes()).rule.text());
    ++simulated;
  }
  EXPECT_EQ(simulated, 2);
}

TEST(SweepPlan, IsTheSameTwice) {
  SweepRequest request;
  request.gpus = {1, 2, 16};
  request.evidence = {Evidence::measured, Evidence::simulated, Evidence::published};
  LocalMachine machine = machine_of_two();
  machine.limits.models.push_back("resnet18");
  const Plan first = plan_of(request, machine), second = plan_of(request, machine);
  EXPECT_EQ(names(first), names(second));
  EXPECT_EQ(keys(first), keys(second));
}

}  // namespace
}  // namespace hbench::plan_test

#include "analysis/records/records.hpp"

#include <functional>
#include <set>

#include "collectives/base/error.hpp"
#include "example_results.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::records_test {
namespace {

TEST(Evidence, IsReadBackFromItsText) {
  for (Evidence evidence : {Evidence::measured, Evidence::emulated, Evidence::simulated, Evidence::published})
    EXPECT_EQ(parse_evidence(to_string(evidence)), evidence);
}

TEST(Evidence, WithASlipOfThePenSuggestsWhatWasMeant) {
  expect_error([] { parse_evidence("mesured"); }, ExitCode::usage, "no evidence 'mesured'; did you mean 'measured'?",
               testing::_);
}

TEST(StrategyLabel, NamesWhatALegendNeeds) {
  const Strategy ring{.algorithm = "ring", .compressor = "none", .fusion = "horovod:128MiB:1ms"};
  const Strategy servers{
      .algorithm = "ps", .placement = "greedy", .servers = 4, .server_mode = "colocated", .fusion = "none"};
  EXPECT_EQ(ring.label(), "ring");
  EXPECT_EQ(servers.label(), "ps (greedy, colocated)");
  EXPECT_EQ((Strategy{.algorithm = "none", .fusion = "none", .overlap = false}.label()), "none");
}

TEST(StrategyLabel, ShowsWhatIsNotTheDefault) {
  Strategy ring{.algorithm = "ring", .compressor = "fp16", .fusion = "horovod:128MiB:1ms"};
  EXPECT_EQ(ring.label(), "ring + fp16");
  ring.fusion = "horovod:64MiB:5ms";
  EXPECT_EQ(ring.label(), "ring + fp16, horovod:64MiB:5ms");
  ring.fusion = "recorded:2-15-12";
  EXPECT_EQ(ring.label(), "ring + fp16, recorded buckets");
  ring.fusion = "none";
  ring.overlap = false;
  EXPECT_EQ(ring.label(), "ring + fp16, no fusion, no overlap");
  const Strategy servers{.algorithm = "ps", .placement = "sliced", .server_mode = "dedicated", .fusion = "ddp:25MiB"};
  EXPECT_EQ(servers.label(), "ps (sliced, dedicated), ddp:25MiB");
  ring = {.algorithm = "ring", .compressor = "fp16", .fusion = "ddp:25MiB:1MiB", .preset = "ddp"};
  EXPECT_EQ(ring.label(), "ddp: ring + fp16");
  ring.fusion = "none";
  EXPECT_EQ(ring.label(), "ddp: ring + fp16, no fusion");
}

TEST(CaseKey, IsOneLineThatChangesWithEveryField) {
  const std::vector<std::function<void(Case&)>> changes{[](Case&) {},
                                                        [](Case& c) { c.evidence = Evidence::emulated; },
                                                        [](Case& c) { c.workload = "vgg16"; },
                                                        [](Case& c) { c.gpus = 8; },
                                                        [](Case& c) { c.strategy.algorithm = "ring"; },
                                                        [](Case& c) { c.strategy.placement = "sliced"; },
                                                        [](Case& c) { c.strategy.servers = 5; },
                                                        [](Case& c) { c.strategy.server_mode = "colocated"; },
                                                        [](Case& c) { c.strategy.compressor = "none"; },
                                                        [](Case& c) { c.strategy.fusion = "none"; },
                                                        [](Case& c) { c.strategy.overlap = true; },
                                                        [](Case& c) { c.strategy.preset = "ddp"; },
                                                        [](Case& c) { c.profile = "remote"; },
                                                        [](Case& c) { c.batch_per_gpu = 33; },
                                                        [](Case& c) { c.image_size = 299; },
                                                        [](Case& c) { c.single_gpu_rate = 61.250001; },
                                                        [](Case& c) { c.machine = "0123456789abcdef"; },
                                                        [](Case& c) { c.training.device = "gpu"; },
                                                        [](Case& c) { c.training.executor = "cuda"; },
                                                        [](Case& c) { c.training.precision = "bf16"; }};
  std::set<std::string> keys;
  for (const auto& change : changes) {
    Case asked = example_case();
    change(asked);
    EXPECT_EQ(asked.key().find('\n'), std::string::npos);
    keys.insert(asked.key());
  }
  EXPECT_EQ(keys.size(), changes.size());
}

TEST(CaseKey, IsTheSameForEver) {
  EXPECT_EQ(example_case().question(),
            "workload=resnet50;gpus=4;algorithm=ps;placement=greedy;servers=3;server_mode=dedicated;compressor=fp16;"
            "fusion=horovod:64MiB:5ms;batch_per_gpu=32;image_size=224;single_gpu_rate=61.25");
  EXPECT_EQ(example_case().place(), "evidence=measured;profile=local");
  EXPECT_EQ(example_case(Evidence::simulated).place(),
            "evidence=simulated;profile=local;source=O'Neil\\; \"quoted\"\\nsecond line");
  Case collective;
  collective.evidence = Evidence::measured;
  collective.gpus = 2;
  collective.strategy.algorithm = "ring";
  collective.collective = {
      .name = "all-reduce", .bytes = 1024, .data_type = "float32", .operation = "sum", .executor = "mpi"};
  collective.training = {.device = "gpu", .executor = "", .precision = "bf16"};
  EXPECT_EQ(collective.question(),
            "gpus=2;algorithm=ring;overlap=yes;collective=all-reduce;bytes=1024;type=float32;redop=sum;executor=mpi;"
            "device=gpu;precision=bf16");
}

TEST(CaseKey, LeavesOutWhoAnswered) {
  Case other = example_case();
  other.implementation = "engine/2";
  other.source = "in other words";
  EXPECT_EQ(other.key(), example_case().key());
  other = example_case(Evidence::simulated);
  other.source = "another digest of the profile";
  EXPECT_NE(other.key(), example_case(Evidence::simulated).key()) << "a profile that changed is another place";
}

TEST(AnswerKey, IsOfTheQuestionThePlaceAndTheCode) {
  const Producer by{.version = "1.0", .started_at = "now", .labels = {{"commit", "abc"}, {"branch", "main"}}};
  const std::string key = answer_key(example_case(), by);
  Producer later = by;
  later.run = 9;
  later.started_at = "later";
  later.labels["branch"] = "other";
  EXPECT_EQ(answer_key(example_case(), later), key);
  Producer committed = by;
  committed.labels["commit"] = "def";
  EXPECT_NE(answer_key(example_case(), committed), key);
  Producer updated = by;
  updated.version = "1.1";
  EXPECT_NE(answer_key(example_case(), updated), key);
  Case revised = example_case();
  revised.implementation = "engine/2";
  EXPECT_NE(answer_key(revised, by), key);
}

TEST(TrainingTask, AddsToALegendWhatIsNotAsAlways) {
  EXPECT_EQ(TrainingTask().label(), "");
  EXPECT_EQ((TrainingTask{.device = "gpu", .executor = "nccl", .precision = ""}.label()), "nccl");
  EXPECT_EQ((TrainingTask{.device = "", .executor = "", .precision = "bf16"}.label()), "bf16");
  EXPECT_EQ((TrainingTask{.device = "gpu", .executor = "nccl-p2p", .precision = "tf32"}.label()), "nccl-p2p, tf32");
  EXPECT_EQ((TrainingTask{.precision = "bf16", .recompute = "full"}.label()), "bf16, full recomputation");
  EXPECT_EQ((TrainingTask{.precision = "bf16", .optimizer = "adam"}.label()), "bf16, adam");
}

TEST(CaseKey, CannotBeForgedByASeparatorWithinAField) {
  Case one = example_case();
  Case other = example_case();
  one.strategy.compressor = "a;fusion=b";
  one.strategy.fusion = "c";
  other.strategy.compressor = "a";
  other.strategy.fusion = "b;fusion=c";
  EXPECT_NE(one.key(), other.key());
  EXPECT_THAT(other.key(), HasSubstr("compressor=a;fusion=b\\;fusion=c"));
}

}  // namespace
}  // namespace hbench::records_test

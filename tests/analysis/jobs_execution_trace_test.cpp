#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/analysis/jobs_files.hpp"
#include "tests/support/expect_error.hpp"

namespace hbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kRoot = 1;
constexpr const char* kTask = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";

/// A trace that is written node by node, in the older or the newer schema.
class NodesText {
 public:
  explicit NodesText(bool older = false) : older_(older) {}

  /// Returns the number of the node. `tensor` has elements; 0: none.
  int add(const std::string& name, int parent, int elements = 0, int sequence = -1, const std::string& group = {}) {
    const int id = ++last_;
    const std::string tensor = elements > 0 ? fmt::format(R"([[3, 4, 0, {}, 2, "cuda:1"]])", elements) : "[]";
    const std::string types = elements > 0 ? R"(["GenericList[Tensor(c10::BFloat16)]"])" : "[]";
    const std::string called = group.empty() ? "" : R"(, 7, ["g", "dp"], 1, "allreduce")";
    const std::string values = fmt::format("[{}{}]", tensor, called);
    if (older_)
      nodes_.push_back(fmt::format(
          R"({{"name": "{}", "id": {}, "rf_id": 1, "parent": {}, "seq_id": {}, "scope": 0, "inputs": {}, "input_types": {}}})",
          name, id, parent, sequence, values, types));
    else
      nodes_.push_back(fmt::format(
          R"({{"id": {}, "name": "{}", "ctrl_deps": {}, "inputs": {{"values": {}, "types": {}}}, "attrs": [)"
          R"({{"name": "rf_id", "value": 1}}, {{"name": "seq_id", "value": {}}}, {{"name": "scope", "value": 0}})"
          R"(, {{"name": "pg_name", "value": "{}"}}, {{"name": "pg_size", "value": 4}}]}})",
          id, name, parent, values, types, sequence, group));
    return id;
  }

  /// Forward pass, gradients (each in a task of its own; the last one of a bucket sends it), and the update.
  void add_step(const std::vector<std::vector<int>>& buckets, bool update = true, const std::string& group = "g") {
    for (int i = 0; i < 3; ++i) add("aten::linear", kRoot, 0, i);
    for (const std::vector<int>& bucket : buckets) {
      int task = 0, sum = 0;
      for (const int elements : bucket) {
        task = add(kTask, kRoot);
        add("torch::autograd::AccumulateGrad", task, elements);
        sum += elements;
      }
      const int call = add("c10d::allreduce_", task, sum);
      add("record_param_comms", call, sum, -1, group);
    }
    if (update) add("Optimizer.step#SGD.step", kRoot);
  }

  std::string text() const {
    return fmt::format(R"({{"schema": "1.1.1-chakra.0.0.4", "pid": 3, "nodes": [{}], "finish_ts": 9}})",
                       fmt::join(nodes_, ",\n"));
  }
  std::string add_groups() {
    nodes_.push_back(
        R"({"id": 900, "name": "## process_group:init ##", "ctrl_deps": 1, "inputs": {"values": )"
        R"(["[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": \"cpu:gloo,cuda:nccl\", )"
        R"(\"group_size\": 4}]"], "types": ["String"]}, "attrs": []})");
    return text();
  }

 private:
  bool older_;
  int last_ = kRoot;
  std::vector<std::string> nodes_;
};

TEST(ExecutionTraces, HaveTheSizesOfOneStepOfSeveral) {
  for (const bool older : {false, true}) {
    NodesText trace(older);
    for (int step = 0; step < 3; ++step) trace.add_step({{10, 20}, {30, 1}});
    const Recording recording = recording_of(trace.text());
    EXPECT_EQ(recording.format, "execution-trace");
    EXPECT_THAT(recording.gradient_elements, ElementsAre(10, 20, 30, 1));
    EXPECT_THAT(recording.bucket_elements, ElementsAre(30, 31));
    EXPECT_EQ(recording.gradient_type, "bfloat16");
    EXPECT_EQ(recording.holds, "4 gradients of 61 elements and 2 buckets of one step of 3");
    EXPECT_THAT(recording.steps, IsEmpty());
    EXPECT_THAT(recording.unknown, IsEmpty());
  }
}

TEST(ExecutionTraces, SayWhichRankTheyAreOfWhereTheGroupIsTheWholeJob) {
  NodesText trace;
  trace.add_step({{10}});
  const Recording recording = recording_of(trace.add_groups());
  EXPECT_EQ(recording.world, 4);
  EXPECT_EQ(recording.rank, 1);
  EXPECT_EQ(recording.backend, "nccl");
}

TEST(ExecutionTraces, TellStepsApartWithoutTheirUpdates) {
  NodesText trace;
  for (int step = 0; step < 2; ++step) trace.add_step({{5}, {5}, {5}}, false);
  EXPECT_THAT(recording_of(trace.text()).bucket_elements, ElementsAre(5, 5, 5));
}

TEST(ExecutionTraces, TakeAForwardPassWithinTheBackwardOneForAPartOfIt) {
  NodesText trace;
  for (int step = 0; step < 2; ++step) {
    trace.add_step({{5}}, false);
    const int task = trace.add("autograd::engine::evaluate_function: CheckpointFunctionBackward", kRoot);
    trace.add("aten::linear", task, 0, 9);
    trace.add("torch::autograd::AccumulateGrad", trace.add(kTask, task), 6);
  }
  EXPECT_THAT(recording_of(trace.text()).gradient_elements, ElementsAre(5, 6));
}

TEST(ExecutionTraces, TakeTheStepThatMostStepsAreLike) {
  NodesText trace;
  trace.add_step({{10, 20, 30}});  // DDP's first
  for (int step = 0; step < 2; ++step) trace.add_step({{10}, {20, 30}});
  EXPECT_THAT(recording_of(trace.text()).bucket_elements, ElementsAre(10, 50));
}

TEST(ExecutionTraces, DoNotMixTheExchangesOfTwoGroups) {
  NodesText trace;
  trace.add_step({{10}}, false, "g");
  trace.add_step({{10}}, true, "tensor");
  const Recording recording = recording_of(trace.text());
  EXPECT_THAT(recording.bucket_elements, IsEmpty());
  EXPECT_THAT(recording.gradient_elements, ElementsAre(10, 10));
  EXPECT_THAT(recording.unknown, ElementsAre(HasSubstr("2 groups of ranks")));
}

TEST(ExecutionTraces, OfNoBackwardPassAreRefused) {
  NodesText trace;
  trace.add("aten::linear", kRoot, 0, 1);
  expect_error([&] { recording_of(trace.text()); }, ExitCode::usage, HasSubstr("none of its 1 node"),
               HasSubstr("backward pass"));
}

TEST(ExecutionTraces, SurviveDamage) {
  NodesText trace;
  for (int step = 0; step < 2; ++step) trace.add_step({{10, 20}, {30, 1}});
  survive_damage(trace.add_groups(), "execution-trace", 400);
  std::string text = trace.text();
  const Recording cut = recording_of(text.substr(0, text.size() - 400));
  EXPECT_THAT(cut.bucket_elements, ElementsAre(30, 31));
  EXPECT_THAT(cut.unknown, ElementsAre(HasSubstr("ends before its list of nodes")));
}

TEST(ExecutionTraces, OfResNet50OnTwoGpusHaveItsFiveBuckets) {
  HBENCH_REFERENCE_TRACE(file, "resnet_2gpu_execution_trace.json.gz");
  const Recording recording = read_recordings(file, {}).at(0);
  EXPECT_THAT(recording.bucket_elements, ElementsAre(2'049'000, 7'875'584, 6'563'840, 6'637'568, 2'431'040));
  EXPECT_THAT(recording.gradient_elements, SizeIs(161));
  EXPECT_EQ(recording.gradient_type, "float32");
  EXPECT_EQ(recording.world, 2);
  EXPECT_EQ(recording.rank, 1);
}

TEST(ExecutionTraces, OfTwoVersionsOfPyTorchAreAlike) {
  HBENCH_REFERENCE_TRACE(newer, "recorded/torch215_execution_trace_rank0.json.gz");
  HBENCH_REFERENCE_TRACE(older, "recorded/debian113_execution_graph_rank0.json.gz");
  const Recording one = read_recordings(newer, {}).at(0), other = read_recordings(older, {}).at(0);
  EXPECT_THAT(one.bucket_elements, ElementsAre(7'264'356, 3'963'456));
  EXPECT_THAT(other.bucket_elements, ElementsAre(2'411'620, 6'623'744, 2'192'448));
  EXPECT_THAT(one.gradient_elements, SizeIs(62));
  EXPECT_EQ(one.gradient_elements, other.gradient_elements);
  EXPECT_EQ(one.world, 2);
  EXPECT_EQ(one.backend, "gloo");
}

}  // namespace
}  // namespace hbench

#include "workloads/models/models.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <ranges>
#include <set>

#include "tests/support/matchers.hpp"
#include "workloads/engine/replica.hpp"
#include "workloads/step/trace.hpp"
#include "workloads/training.hpp"

namespace hbench::models_test {
namespace {

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

/// Smallest images, and the smallest batch that batch normalisation accepts.
Replica smallest(const ModelEntry& entry) { return {entry, {.batch = 2, .image_size = entry.smallest_image}}; }

const ModelEntry& entry(std::string_view name) {
  for (const ModelEntry* model : models()) {
    if (model->name == name) return *model;
  }
  throw std::out_of_range("no such model");
}

TEST(Models, HaveThePublishedParameterCountsAndUseEveryParameter) {
  for (const ModelEntry* model : models()) {
    SCOPED_TRACE(model->name);
    Replica replica = smallest(*model);
    const auto elements = replica.tensor_elements();
    EXPECT_EQ(sum(elements), model->parameters);
    const GradientLayout layout = replica.record_layout();
    EXPECT_THAT(layout.parameters, SizeIs(elements.size()));
    EXPECT_EQ(layout.total(), model->parameters);
    // The first layer's gradients come last.
    EXPECT_LT(layout.parameters.back(), 3);
  }
}

TEST(Models, HaveTheTensorsOfTheirArchitecture) {
  // Convolutions of 7 x 7 x 3 x 64 and, in the first bottleneck, 64 x 64, 9 x 64 x 64, 64 x 256 and the
  // projection's 64 x 256; each with scale and shift.
  const auto resnet = smallest(entry("resnet50")).tensor_elements();
  EXPECT_THAT(std::vector(resnet.begin(), resnet.begin() + 15),
              ElementsAre(9408, 64, 64, 4096, 64, 64, 36864, 64, 64, 16384, 256, 256, 16384, 256, 256));
  EXPECT_THAT(resnet, SizeIs(161));
  // The three dense layers hold 123,642,856 of VGG-16's 138,357,544 parameters.
  const auto vgg = smallest(entry("vgg16")).tensor_elements();
  EXPECT_THAT(std::vector(vgg.end() - 6, vgg.end()), ElementsAre(102760448, 4096, 16777216, 4096, 4096000, 1000));
  EXPECT_THAT(vgg, SizeIs(32));
  EXPECT_THAT(smallest(entry("inception_v3")).tensor_elements(), SizeIs(284));
  EXPECT_THAT(smallest(entry("lenet5")).tensor_elements(),
              ElementsAre(150, 6, 2400, 16, 48000, 120, 10080, 84, 840, 10));
}

TEST(Models, HaveTheTensorsOfTheTimelinesThatAreComputed) {
  const TraceLibrary library(std::filesystem::path(HBENCH_SOURCE_DIR) / "workloads/traces");
  const std::vector<std::string> timelines = library.names();
  std::vector<std::string_view> compared;
  for (const ModelEntry* model : models()) {
    if (std::ranges::find(timelines, model->name) == timelines.end()) continue;
    const Trace trace = library.load(std::string(model->name));
    if (!trace.computed() || model->architecture == Architecture::inception) continue;  // its branches run side by side
    std::vector<std::int64_t> forward;
    for (const GradientEvent& gradient : std::views::reverse(trace.timeline.gradients))
      forward.push_back(gradient.elements);
    EXPECT_EQ(smallest(*model).tensor_elements(), forward) << model->name;
    compared.push_back(model->name);
  }
  EXPECT_THAT(compared, IsSupersetOf({"mobilenet_v2", "resnet152", "vgg16"}));
}

TEST(Models, OfEveryArchitectureAreTrainedInBfloat16) {
  std::set<Architecture> tried;
  for (const ModelEntry* model : models()) {
    if (!tried.insert(model->architecture).second) continue;
    SCOPED_TRACE(model->name);
    Replica replica(*model, {.batch = 2, .image_size = model->smallest_image, .precision = Precision::bf16});
    EXPECT_EQ(replica.record_layout().total(), model->parameters);
    EXPECT_GT(replica.loss(), 0);
  }
  EXPECT_THAT(tried, SizeIs(6));
}

TEST(Models, AcceptLargerAndOddImages) {
  for (const char* name : {"lenet5", "resnet18", "inception_v3", "mobilenet_v2"}) {
    const ModelEntry& model = entry(name);
    Replica replica(model, {.batch = 2, .image_size = model.smallest_image + 9});
    replica.forward(0);
    EXPECT_GT(replica.loss(), 0) << name;
  }
}

TEST(Models, StartFromTheSameParametersWithTheSameSeedOnly) {
  const ModelEntry& model = entry("lenet5");
  const auto digest = [&](unsigned seed, int rank) {
    return Replica(model, {.batch = 1, .image_size = 32, .seed = seed, .rank = rank, .workers = 4}).digest();
  };
  EXPECT_EQ(digest(3, 0), digest(3, 2));
  EXPECT_NE(digest(3, 0), digest(4, 0));
}

TEST(Timeline, ListsEveryGradientInTheOrderInWhichItIsReady) {
  const StepTimeline timeline = record_timeline({.model = "lenet5", .batch = 4, .image_size = 32, .steps = 3});
  ASSERT_THAT(timeline.gradients, SizeIs(10));
  EXPECT_EQ(timeline.batch, 4);
  EXPECT_THAT(timeline.gradients.back().tensor, StartsWith("conv1."));
  EXPECT_THAT(timeline.gradients.front().tensor, StartsWith("fc3."));
  Seconds before{0};
  for (const GradientEvent& gradient : timeline.gradients) {
    EXPECT_GE(gradient.ready, before);
    before = gradient.ready;
  }
  EXPECT_LE(before, timeline.backward);
  EXPECT_GT(timeline.forward, Seconds(0));
}

}  // namespace
}  // namespace hbench::models_test

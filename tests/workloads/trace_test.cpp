#include "workloads/step/trace.hpp"

#include <map>
#include <set>

#include "collectives/base/file.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mutate.hpp"

namespace hbench::trace_test {
namespace {

using namespace ::hbench::support;

const std::filesystem::path kTraces = HBENCH_SOURCE_DIR "/workloads/traces";

const std::string kText = R"(format = 1
title = "Two \"tensors\""
source = "by hand"
batch = 8
forward = "1 ms"
backward = "2 ms"
gradients = [
  ["b", 10, 0.5],
  ["a", 20, 2000],
]
)";

void expect_refused(const std::string& old_text, const std::string& new_text, const std::string& message) {
  std::string text = kText;
  text.replace(text.find(old_text), old_text.size(), new_text);
  expect_usage_error([&] { parse_trace(text, "my.toml"); }, message, "traces/README.md");
}

void expect_same_to_a_nanosecond(const Trace& a, const Trace& b) {
  constexpr double kNanosecond = 1e-9;
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.timeline.batch, b.timeline.batch);
  EXPECT_NEAR(a.timeline.forward.value, b.timeline.forward.value, kNanosecond);
  EXPECT_NEAR(a.timeline.backward.value, b.timeline.backward.value, kNanosecond);
  EXPECT_NEAR(a.timeline.update.value, b.timeline.update.value, kNanosecond);
  ASSERT_EQ(a.timeline.gradients.size(), b.timeline.gradients.size());
  for (std::size_t i = 0; i < a.timeline.gradients.size(); ++i) {
    EXPECT_EQ(a.timeline.gradients[i].tensor, b.timeline.gradients[i].tensor);
    EXPECT_EQ(a.timeline.gradients[i].elements, b.timeline.gradients[i].elements);
    EXPECT_NEAR(a.timeline.gradients[i].ready.value, b.timeline.gradients[i].ready.value, kNanosecond);
  }
}

TEST(Trace, ReadsEveryKey) {
  const Trace trace = parse_trace(kText, "folder/my.toml");
  EXPECT_EQ(trace.name, "my");
  EXPECT_EQ(trace.title, "Two \"tensors\"");
  EXPECT_EQ(trace.source, "by hand");
  EXPECT_EQ(trace.timeline.batch, 8);
  EXPECT_DOUBLE_EQ(trace.timeline.forward.value, 1e-3);
  EXPECT_DOUBLE_EQ(trace.timeline.backward.value, 2e-3);
  ASSERT_EQ(trace.timeline.gradients.size(), 2U);
  EXPECT_EQ(trace.timeline.gradients[0].tensor, "b");
  EXPECT_EQ(trace.timeline.gradients[1].elements, 20);
  EXPECT_DOUBLE_EQ(trace.timeline.gradients[0].ready.value, 5e-7);
}

TEST(Trace, HasTheUpdateApartWhereItIsKnown) {
  EXPECT_EQ(parse_trace(kText, "my.toml").timeline.update.value, 0);
  const Trace trace = parse_trace("update = \"1.5 ms\"\n" + kText, "my.toml");
  EXPECT_DOUBLE_EQ(trace.timeline.update.value, 1.5e-3);
  EXPECT_DOUBLE_EQ(trace.timeline.passes().value, 3e-3);
  EXPECT_DOUBLE_EQ(trace.timeline.step().value, 4.5e-3);
  expect_same_to_a_nanosecond(parse_trace(format_trace(trace), "my.toml"), trace);
}

TEST(Trace, ErrorsNameFileAndLine) {
  expect_refused("format = 1", "format = 2", "my.toml:1: this hbench reads traces of format 1");
  expect_refused("format = 1", "", "my.toml: 'format' is missing");
  expect_refused("title", "titel", "my.toml:2: unknown key 'titel'");
  expect_refused("\"by hand\"", "3", "my.toml:3: 'source' must be text");
  expect_refused("batch = 8", "batch = 0", "my.toml:4: 'batch' must be a whole number of at least 1");
  expect_refused("batch = 8", "batch = 1.5", "my.toml:4: 'batch' must be a whole number of at least 1");
  expect_refused("\"1 ms\"", "1", "my.toml:5: 'forward' has no unit; write it as text, such as \"64.8 ms\"");
  expect_refused(
      "1 ms", "1",
      "my.toml:5: forward: invalid duration '1': it has no unit; expected a number and s, ms, us, ns or min");
  expect_refused("1 ms", "-1 ms", "my.toml:5: 'forward' must lie between 0 and 1 hour");
  expect_refused("2 ms\"", "2 ms\"\nupdate = 1",
                 "my.toml:7: 'update' has no unit; write it as text, such as \"64.8 ms\"");
  expect_refused("2 ms\"", "2 ms\"\nupdate = \"-1 ms\"", "my.toml:7: 'update' must lie between 0 and 1 hour");
  expect_refused("2 ms", "1e6 s", "my.toml:6: 'backward' must lie between 0 and 1 hour");
  expect_refused("2 ms", "1e9 s", "my.toml:6: backward: '1e9 s' is out of range");
  expect_refused("[\"b\", 10, 0.5]", "[\"b\", 10]",
                 "my.toml:8: a gradient is [\"tensor\", elements, ready in microseconds]");
  expect_refused("\"b\"", "1", "my.toml:8: a gradient is [\"tensor\", elements, ready in microseconds]");
  expect_refused("\"b\"", "\"\"", "my.toml:8: a tensor has no name");
  expect_refused("\"a\"", "\"b\"", "my.toml:9: 'b' is listed twice");
  expect_refused("10", "0", "my.toml:8: 'b' has 0 elements");
  expect_refused("10", "9000000000000000000", "my.toml:8: 'b' has 9000000000000000000 elements");
  expect_refused("0.5", "-0.5", "my.toml:8: 'b' is ready before the backward pass");
  expect_refused("0.5", "nan", "my.toml:8: 'b' is ready before the backward pass");
  expect_refused("2000]", "0.4]", "my.toml:9: 'a' is ready before the gradient above it");
  expect_refused("2000]", "2001]", "my.toml:9: 'a' is ready after the backward pass");
  expect_refused("2000]", "inf]", "my.toml:9: 'a' is ready after the backward pass");
}

TEST(Trace, BrokenTomlIsSaidSoWithItsLine) {
  try {
    parse_trace("format = 1\ntitle = \"un", "my.toml");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith("my.toml:2: Error while parsing string"));
    EXPECT_EQ(error.code(), ExitCode::usage);
  }
}

TEST(Trace, ATraceTakesTimeAndHasTensors) {
  const std::string head = "format = 1\ntitle = \"t\"\nsource = \"s\"\nbatch = 1\n";
  const std::string no_time = head + "forward = \"0 s\"\nbackward = \"0 s\"\ngradients = [[\"a\", 1, 0]]\n";
  expect_usage_error([&] { parse_trace(no_time, "my.toml"); }, "my.toml:6: a step must take time", "README");
  expect_usage_error([&] { parse_trace("update = \"1 s\"\n" + no_time, "my.toml"); },
                     "my.toml:7: a step must take time", "README");
  const std::string none = head + "forward = \"1 s\"\nbackward = \"1 s\"\ngradients = []\n";
  expect_usage_error([&] { parse_trace(none, "my.toml"); }, "my.toml:7: 'gradients' must list the tensors", "README");
}

TEST(Trace, IsReadBackAsWritten) {
  Trace trace = parse_trace(kText, "my.toml");
  trace.title = "quoted \" and \\ and µ";
  trace.timeline.gradients[0].ready = Seconds(1.0 / 3e6);
  expect_same_to_a_nanosecond(parse_trace(format_trace(trace), "my.toml"), trace);
  trace.source = "two\nlines\tand\x01more";
  EXPECT_EQ(parse_trace(format_trace(trace), "my.toml").source, trace.source);
}

TEST(Trace, SurvivesMutations) {
  survive_mutations(kText, 20'000, 3, [](const std::string& text) {
    const StepTimeline timeline = parse_trace(text, "mutant.toml").timeline;
    ASSERT_GT(timeline.samples_per_second(), 0);
    for (const GradientEvent& gradient : timeline.gradients) {
      ASSERT_GT(gradient.elements, 0);
      ASSERT_TRUE(gradient.ready.value >= 0 && gradient.ready <= timeline.backward);
    }
  });
  survive_mutations(read_file(kTraces / "vgg16.toml"), 1000, 4,
                    [](const std::string& text) { parse_trace(text, "mutant.toml"); });
  survive_mutations(kText + "shape = \"llama:layers=2,hidden=64,heads=4,kv_heads=2,vocab=99,seq=8,tied=no\"\n", 5000, 5,
                    [](const std::string& text) { parse_trace(text, "mutant.toml"); });
}

TEST(TraceLibrary, ShippedTracesHaveTheParametersOfTheirModels) {
  // As counted by the models' authors' implementations; Inception V3 without its auxiliary classifier.
  const std::map<std::string, std::int64_t> parameters{{"alexnet", 61'100'840},
                                                       {"bert_base", 109'482'240},
                                                       {"bert_large", 335'141'888},
                                                       {"efficientnet_b0", 5'288'548},
                                                       {"efficientnet_b4", 19'341'616},
                                                       {"gpt2_large", 774'030'080},
                                                       {"gpt2_medium", 354'823'168},
                                                       {"gpt2_small", 124'439'808},
                                                       {"gpt2_xl", 1'557'611'200},
                                                       {"inception_v3", 23'834'568},
                                                       {"llama_7b", 6'738'415'616},
                                                       {"mobilenet_v2", 3'504'872},
                                                       {"resnet101", 44'549'160},
                                                       {"resnet152", 60'192'808},
                                                       {"resnet50", 25'557'032},
                                                       {"resnext101_32x4d", 44'177'704},
                                                       {"se_resnext101_32x4d", 48'955'416},
                                                       {"vgg16", 138'357'544},
                                                       {"vgg19", 143'667'240},
                                                       {"vit_b_16", 86'567'656}};
  const TraceLibrary library(kTraces);
  EXPECT_EQ(library.names().size(), parameters.size());
  for (const auto& [name, count] : parameters) {
    const Trace trace = library.load(name);
    std::int64_t elements = 0;
    for (const GradientEvent& gradient : trace.timeline.gradients) elements += gradient.elements;
    EXPECT_EQ(elements, count) << name;
  }
}

TEST(TraceLibrary, EveryShippedTraceIsInOrderAndRoundTrips) {
  const TraceLibrary library(kTraces);
  EXPECT_GE(library.names().size(), 4U);
  for (const std::string& name : library.names()) {
    const Trace trace = library.load(name);
    EXPECT_EQ(trace.name, name);
    EXPECT_FALSE(trace.source.empty()) << name;
    EXPECT_TRUE(std::ranges::is_sorted(trace.timeline.gradients, {}, &GradientEvent::ready)) << name;
    std::set<std::string> tensors;
    for (const GradientEvent& gradient : trace.timeline.gradients)
      EXPECT_TRUE(tensors.insert(gradient.tensor).second) << name << " lists " << gradient.tensor << " twice";
    expect_same_to_a_nanosecond(parse_trace(format_trace(trace), name + ".toml"), trace);
  }
}

TEST(TraceReadme, ItsExampleWorks) {
  const std::string readme = read_file(kTraces / "README.md");
  const std::string fence = "```toml\n";
  const std::size_t begin = readme.find(fence) + fence.size();
  ASSERT_NE(begin, std::string::npos + fence.size());
  const std::string example = readme.substr(begin, readme.find("```", begin) - begin);
  EXPECT_EQ(parse_trace(example, "example.toml").timeline.gradients.size(), 2U);
}

TEST(TraceLibrary, UnknownNamesAreSaidSo) {
  const TraceLibrary library(kTraces);
  expect_usage_error([&] { library.load("resnet5"); }, "no workload 'resnet5'; did you mean 'resnet50'?", "resnet152");
}

}  // namespace
}  // namespace hbench::trace_test

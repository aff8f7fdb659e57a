// Transformers by their numbers: tensors, FLOPs and messages.

#include <array>

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/step/trace.hpp"
#include "workloads/step/transformer.hpp"

namespace hbench::transformer_test {
namespace {

// Published numbers of parameters, to the unit.
TEST(Transformer, HasTheParametersOfThePublishedModel) {
  struct Published {
    const char* shape;
    double parameters;
  };
  constexpr std::array<Published, 12> kModels{{
      {"gpt:layers=12,hidden=768,heads=12,vocab=50257,seq=1024", 124'439'808},
      {"gpt:layers=24,hidden=1024,heads=16,vocab=50257,seq=1024", 354'823'168},
      {"gpt:layers=36,hidden=1280,heads=20,vocab=50257,seq=1024", 774'030'080},
      {"gpt:layers=48,hidden=1600,heads=25,vocab=50257,seq=1024", 1'557'611'200},
      {"bert:layers=12,hidden=768,heads=12,vocab=30522,seq=512", 109'482'240},
      {"bert:layers=24,hidden=1024,heads=16,vocab=30522,seq=128", 335'141'888},
      {"llama:layers=32,hidden=4096,heads=32,vocab=32000,seq=2048", 6'738'415'616},
      {"llama:layers=40,hidden=5120,heads=40,vocab=32000,seq=4096", 13'015'864'320},
      {"llama:layers=80,hidden=8192,heads=64,kv_heads=8,ffn=28672,vocab=32000,seq=4096", 68'976'648'192},
      {"llama:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,vocab=128256,seq=8192", 8'030'261'248},
      {"llama:layers=80,hidden=8192,heads=64,kv_heads=8,ffn=28672,vocab=128256,seq=8192", 70'553'706'496},
      {"llama:layers=126,hidden=16384,heads=128,kv_heads=8,ffn=53248,vocab=128256,seq=8192", 405'853'388'800},
  }};
  for (const Published& each : kModels)
    EXPECT_EQ(parse_transformer(each.shape).parameters(), each.parameters) << each.shape;
}

// 6 x parameters of matrices x tokens, and 12 x layers x hidden x tokens^2 for attention (Narayanan et al., SC 2021).
TEST(Transformer, CostsTheFlopsOfTheClosedForm) {
  const double tokens = 2048, layers = 24, hidden = 2304, words = 51200;
  const TransformerShape shape = parse_transformer("layers=24,hidden=2304,heads=24,vocab=51200,seq=2048");
  const double closed =
      72 * tokens * layers * hidden * hidden * (1 + tokens / (6 * hidden) + words / (12 * layers * hidden));
  EXPECT_NEAR(shape.cost().flops / closed, 1, 1e-12);
}

// Counted by PyTorch's FlopCounterMode on an H200 (bench/gpu), which counts what flash attention computes again.
TEST(Transformer, CostsWhatPyTorchCounts) {
  struct Counted {
    const char* workload;
    double flops;
  };
  constexpr std::array<Counted, 6> kCounted{{{"gpt2_small", 8.94272e11},
                                             {"gpt2_medium", 2.53239e12},
                                             {"gpt2_xl", 1.06812e13},
                                             {"bert_large", 1.11715e12},
                                             {"llama_7b", 8.88843e13},
                                             {"bert_base", 3.68568e11}}};
  const TraceLibrary traces(std::filesystem::path(HBENCH_SOURCE_DIR) / "workloads/traces");
  for (const Counted& each : kCounted)
    EXPECT_NEAR(traces.load(each.workload).cost->flops / each.flops, 1, 0.03) << each.workload;
}

TEST(Transformer, IsTheShapeOfTheTimelinesThatNameOne) {
  const TraceLibrary traces(std::filesystem::path(HBENCH_SOURCE_DIR) / "workloads/traces");
  int shapes = 0;
  for (const std::string& name : traces.names()) {
    const Trace trace = traces.load(name);
    EXPECT_TRUE(trace.cost) << name;
    if (!trace.shape) continue;
    ++shapes;
    EXPECT_EQ(trace.shape->parameters(), trace.elements()) << name;
    EXPECT_EQ(parse_trace(format_trace(trace), name).cost->flops, trace.cost->flops) << name;
  }
  EXPECT_GE(shapes, 7);
}

TEST(Transformer, IsReadBackAsTheSame) {
  for (const char* text : {"layers=2,hidden=64,heads=4,vocab=100,seq=16",
                           "transformer:kind=llama,layers=2,hidden=96,heads=4,kv_heads=2,vocab=100,seq=16,tied=yes",
                           "bert:layers=2,hidden=64,heads=4,vocab=100,seq=16,ffn=100"}) {
    const TransformerShape shape = parse_transformer(text);
    const TransformerShape again = parse_transformer(format_transformer(shape));
    EXPECT_EQ(format_transformer(again), format_transformer(shape));
    EXPECT_EQ(again.parameters(), shape.parameters());
  }
}

TEST(Transformer, RefusesWhatIsNone) {
  struct Wrong {
    const char* text;
    const char* says;
  };
  constexpr std::array<Wrong, 12> kWrong{{
      {"layers=2", "without hidden"},
      {"", "empty"},
      {"layers", "'layers' is no number"},
      {"layers=2,layers=3", "layers is given twice"},
      {"layers=0,hidden=64,heads=4,vocab=10,seq=4", "layers=0 is no count"},
      {"layers=2.5,hidden=64,heads=4,vocab=10,seq=4", "layers=2.5 is no count"},
      {"layer=2,hidden=64,heads=4,vocab=10,seq=4", "'layer'"},
      {"layers=2,hidden=64,heads=5,vocab=10,seq=4", "cannot be divided among heads=5"},
      {"layers=2,hidden=64,heads=4,kv_heads=3,vocab=10,seq=4", "cannot share kv_heads=3"},
      {"layers=2,hidden=64,heads=4,vocab=10,seq=40,positions=4", "longer than positions=4"},
      {"layers=2,hidden=64,heads=4,vocab=10,seq=4,tied=maybe", "neither yes nor no"},
      {"lama:layers=2,hidden=64,heads=4,vocab=10,seq=4", "'lama'"},
  }};
  for (const Wrong& each : kWrong) {
    SCOPED_TRACE(each.text);
    expect_error([&] { parse_transformer(each.text); }, ExitCode::usage, HasSubstr(each.says), ::testing::_);
  }
}

TEST(ComputedTimeline, AnnouncesTheLastLayerFirstAndTheEmbeddingLast) {
  const auto layers = layers_of(parse_transformer("llama:layers=2,hidden=96,heads=4,vocab=100,seq=16"));
  const StepTimeline timeline = computed_timeline(layers, 4);
  EXPECT_EQ(timeline.batch, 4);
  EXPECT_EQ(timeline.gradients.front().tensor, "output.weight");
  EXPECT_EQ(timeline.gradients.back().tensor, "embedding.words");
  EXPECT_EQ(timeline.gradients.back().ready, timeline.backward);
  EXPECT_DOUBLE_EQ(timeline.backward / timeline.forward, 2);
}

TEST(ComputedTrace, OfEveryPublishedNameHasAboutItsParameters) {
  std::string last;
  for (const PublishedShape& each : published_shapes()) {
    EXPECT_LT(last, each.name) << "sorted";
    last = each.name;
    const Trace trace = computed_trace(each.name);
    // `llama3-8b`, `gpt-1t`: what the name says, to a digit.
    const std::string size = last.substr(last.rfind('-') + 1);
    const double unit = size.back() == 't' ? 1e12 : size.back() == 'b' ? 1e9 : 1e6;
    EXPECT_NEAR(trace.elements() / (std::stod(size) * unit), 1, 0.08) << each.name;
    EXPECT_EQ(trace.elements(), trace.shape->parameters()) << each.name;
    EXPECT_EQ(parse_trace(format_trace(trace), "again").cost->flops, trace.cost->flops) << each.name;
  }
}

TEST(ComputedTrace, IsLoadedByItsNameOrItsNumbers) {
  const TraceLibrary traces(std::filesystem::path(HBENCH_SOURCE_DIR) / "workloads/traces");
  EXPECT_TRUE(traces.has("llama3-8b"));
  EXPECT_TRUE(traces.has("resnet50"));
  EXPECT_FALSE(traces.has("llama3-9b"));
  EXPECT_EQ(traces.load("llama3-8b").elements(), 8'030'261'248);
  const Trace own = traces.load("transformer:kind=llama,layers=2,hidden=96,heads=4,vocab=100,seq=16,batch=3");
  EXPECT_EQ(own.timeline.batch, 3);
  EXPECT_EQ(traces.load(own.name).elements(), own.elements()) << "its name is its numbers";
  EXPECT_THAT(own.source, HasSubstr("computed"));
}

TEST(Workloads, OfAListHaveTheirOwnCommas) {
  EXPECT_THAT(split_workloads("vgg16,transformer:layers=2,hidden=64,gpt:layers=3,heads=2,resnet50", "--workload"),
              ElementsAre("vgg16", "transformer:layers=2,hidden=64", "gpt:layers=3,heads=2", "resnet50"));
  expect_error([] { split_workloads("vgg16,,resnet50", "--workload"); }, ExitCode::usage, HasSubstr("--workload"));
}

TEST(Transformer, WithPlainAttentionWritesItsScores) {
  const std::string text = "gpt:layers=2,hidden=64,heads=4,vocab=100,seq=16";
  const TransformerShape fused = parse_transformer(text), plain = parse_transformer(text + ",attention=plain");
  EXPECT_EQ(format_transformer(plain), text + ",attention=plain");
  EXPECT_EQ(format_transformer(parse_transformer(text + ",attention=fused")), text);
  EXPECT_EQ(plain.cost().flops, fused.cost().flops);
  EXPECT_EQ(plain.cost().activations - fused.cost().activations, 2 * 3.0 * 4 * 16 * 16);
  expect_error([&] { parse_transformer(text + ",attention=flash"); }, ExitCode::usage,
               HasSubstr("attention=flash is neither fused nor plain"));
}

}  // namespace
}  // namespace hbench::transformer_test

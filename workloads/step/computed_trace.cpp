#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "workloads/step/trace.hpp"
#include "workloads/step/transformer.hpp"

namespace hbench {
namespace {

/// Only their proportion matters.
constexpr Seconds kForward(0.15), kBackward(0.3);

/// Collects the layers of a transformer.
class Layers {
 public:
  explicit Layers(const TransformerShape& shape) : shape_(shape) {}

  void layer(double multiply_adds) { all_.push_back({multiply_adds, {}}); }
  /// Ready with the layer before it.
  void tensor(std::string name, std::int64_t elements) { all_.back().tensors.emplace_back(std::move(name), elements); }
  /// A matrix that every token is multiplied with.
  void dense(const std::string& name, std::int64_t inputs, std::int64_t outputs) {
    layer(static_cast<double>(inputs) * static_cast<double>(outputs) * shape_.seq);
    tensor(name + ".weight", inputs * outputs);
    if (shape_.family != TransformerFamily::llama) tensor(name + ".bias", outputs);
  }
  void norm(const std::string& name) {
    tensor(name + ".weight", shape_.hidden);
    if (shape_.family != TransformerFamily::llama) tensor(name + ".bias", shape_.hidden);
  }
  /// Scores of attention, and what they weigh: no tensors.
  void attention() { layer(2.0 * shape_.seq * shape_.seq * shape_.hidden); }

  std::vector<ComputedLayer> take() { return std::move(all_); }

 private:
  const TransformerShape& shape_;
  std::vector<ComputedLayer> all_;
};

void add_block(Layers& layers, const TransformerShape& shape, const std::string& name) {
  const bool after = shape.family == TransformerFamily::bert;  // norms follow their sums
  const std::int64_t width = shape.hidden, keys = width / shape.heads * shape.kv_heads;
  if (!after) layers.norm(name + ".norm1");
  if (shape.family == TransformerFamily::gpt) {
    layers.dense(name + ".attention.qkv", width, width + 2 * keys);
  } else {
    layers.dense(name + ".attention.q", width, width);
    layers.dense(name + ".attention.k", width, keys);
    layers.dense(name + ".attention.v", width, keys);
  }
  layers.attention();
  layers.dense(name + ".attention.out", width, width);
  layers.norm(name + (after ? ".norm1" : ".norm2"));
  if (shape.family == TransformerFamily::llama) layers.dense(name + ".ffn.gate", width, shape.ffn);
  layers.dense(name + ".ffn.up", width, shape.ffn);
  layers.dense(name + ".ffn.down", shape.ffn, width);
  if (after) layers.norm(name + ".norm2");
}

void add_embeddings(Layers& layers, const TransformerShape& shape) {
  const std::int64_t width = shape.hidden;
  layers.layer(0);
  layers.tensor("embedding.words", shape.vocab * width);
  if (shape.positions > 0) layers.tensor("embedding.positions", shape.positions * width);
  if (shape.family != TransformerFamily::bert) return;
  layers.tensor("embedding.segments", 2 * width);
  layers.norm("embedding.norm");
}

void add_output(Layers& layers, const TransformerShape& shape) {
  const std::int64_t width = shape.hidden;
  const double words = static_cast<double>(width) * shape.vocab * shape.seq;
  if (shape.family == TransformerFamily::bert) {
    // The pooler sees one token; the words that are masked are guessed by a layer of every token and the embedding.
    layers.layer(static_cast<double>(width * width) * (shape.seq + 1) + words);
    layers.tensor("pooler.weight", width * width);
    layers.tensor("pooler.bias", width);
    if (!shape.tied) layers.tensor("output.weight", shape.vocab * width);
    return;
  }
  layers.norm("norm");
  layers.layer(words);
  if (!shape.tied) layers.tensor("output.weight", shape.vocab * width);
}

}  // namespace

std::vector<ComputedLayer> layers_of(const TransformerShape& shape) {
  Layers layers(shape);
  add_embeddings(layers, shape);
  for (int block = 0; block < shape.layers; ++block) add_block(layers, shape, fmt::format("layer{}", block));
  add_output(layers, shape);
  return layers.take();
}

StepTimeline computed_timeline(const std::vector<ComputedLayer>& layers, int batch) {
  double all = 0, passed = 0;
  for (const ComputedLayer& layer : layers) all += layer.multiply_adds;
  StepTimeline timeline{.batch = batch, .forward = kForward, .backward = kBackward, .gradients = {}};
  for (const ComputedLayer& layer : layers | std::views::reverse) {
    passed += layer.multiply_adds;
    for (const auto& [name, elements] : layer.tensors | std::views::reverse)
      timeline.gradients.push_back({name, elements, kBackward * std::min(1.0, passed / all)});
  }
  return timeline;
}

Trace computed_trace(std::string_view name) {
  const PublishedShape* published = find_published_shape(name);
  TransformerShape shape = parse_transformer(published != nullptr ? published->shape : name);
  if (published != nullptr) shape.batch = published->batch;
  Trace trace{.name = published != nullptr ? std::string(name) : format_transformer(shape),
              .title = published != nullptr ? std::string(published->title) : std::string(),
              .source = fmt::format(
                  "computed from the numbers of its layers{}: the backward pass is shared out over the layers by their "
                  "multiply-adds, forward taken as half of backward",
                  published != nullptr ? fmt::format(" ({})", published->source) : std::string()),
              .timeline = computed_timeline(layers_of(shape), shape.batch)};
  if (published == nullptr)
    trace.title = fmt::format("Transformer of {:.3g} B parameters ({} x {})", shape.parameters() / 1e9, shape.layers,
                              shape.hidden);
  trace.state_bytes = 16;
  trace.cost = shape.cost();
  trace.shape = std::move(shape);
  return trace;
}

}  // namespace hbench

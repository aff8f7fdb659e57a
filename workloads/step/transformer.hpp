#pragma once

/// Transformers by their numbers: `gpt:layers=12,hidden=768,heads=12,vocab=50257,seq=1024`.
///
/// What training on one sample costs a GPU, counted from the layers of a model.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/step/timeline.hpp"

namespace hbench {

/// Models of a kind use GPUs about equally well.
enum class WorkloadKind : std::uint8_t {
  convolutions,
  encoder,  ///< transformers that see their whole input: BERT, vision transformers
  decoder,  ///< transformers that generate: GPT, LLaMA
};

/// `convolutions`, `encoder`, `decoder`.
std::string_view to_string(WorkloadKind kind);
/// \throws Error (usage).
WorkloadKind parse_workload_kind(std::string_view name);

struct WorkloadCost {
  WorkloadKind kind = WorkloadKind::convolutions;
  /// Floating-point operations of the forward and the backward pass, a multiply-add counted as two; the backward pass
  /// has twice those of the forward pass. Nothing is computed twice.
  double flops = 0;
  /// Numbers that layers write in the forward pass: outputs of matrix products, convolutions, normalisations and
  /// activation functions that do not overwrite their input.
  double activations = 0;
};

enum class TransformerFamily : std::uint8_t {
  gpt,    ///< GPT-2 and GPT-3: learned positions, biases, layer norms, the word embedding is the output layer
  llama,  ///< LLaMA to Llama 3: rotary positions, no biases, RMS norms, gated feed-forward layers
  bert,   ///< BERT: learned positions and segments, biases, a pooler; the output layer is the word embedding
};

/// The numbers of a model, which fix its tensors. A sample is a sequence.
struct TransformerShape {
  TransformerFamily family = TransformerFamily::gpt;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;   ///< heads of keys and values, which groups of heads share: at most `heads`
  int ffn = 0;        ///< width of the feed-forward layers
  int vocab = 0;      ///< words, and rows of the embedding
  int seq = 0;        ///< tokens of a sample
  int positions = 0;  ///< that have been learned; not of LLaMA
  int batch = 1;      ///< sequences per GPU and step
  bool tied = true;   ///< the output layer is the word embedding
  bool fused = true;  ///< attention keeps no scores (FlashAttention); false: all of them, for the backward pass

  /// Parameters of a model with these tensors.
  double parameters() const;
  /// Training FLOPs of a sample, with `WorkloadCost`'s count: 6 for each weight of a matrix and token, output layer
  /// included, and 12 x hidden x seq^2 for the scores of a layer's attention and what they weigh (Narayanan et al., SC
  /// 2021, section 5, without recomputation; the half that a causal mask could save is counted, as there).
  WorkloadCost cost() const;
};

/// Reads `[family:]key=value,...`. `layers`, `hidden`, `heads`, `vocab` and `seq` are required; `ffn` is 4 x hidden
/// where it is not given (LLaMA: two thirds of that, rounded up to 256), `kv_heads` is `heads`, `positions` is `seq`
/// (BERT: at least 512), `tied` is yes but for LLaMA, `attention` is fused or plain. \throws Error (usage) that names
/// the key.
TransformerShape parse_transformer(std::string_view text);
/// The workloads of a comma list, in which the numbers of a transformer have commas as well. \throws Error (usage) as
/// `split_list`.
std::vector<std::string> split_workloads(const std::string& list, std::string_view flag);
/// Whether a name is a text for it: `transformer:` or a family stands before its numbers.
bool is_transformer(std::string_view name);
/// What `parse_transformer` reads back as the same shape: what it would take by itself is left out.
std::string format_transformer(const TransformerShape& shape);

/// A layer in forward order: what a sample costs in it, and its tensors, which are ready together in the backward pass.
struct ComputedLayer {
  double multiply_adds = 0;
  std::vector<std::pair<std::string, std::int64_t>> tensors;
};

/// The layers of a transformer, with the tensors of the published implementations (transformers 4.57: GPT2LMHeadModel,
/// LlamaForCausalLM, BertModel with its pooler).
std::vector<ComputedLayer> layers_of(const TransformerShape& shape);

/// One step of `batch` samples in relative times: the forward pass takes a third of it, and the backward pass is
/// divided among layers by their multiply-adds, last layer first; a gradient is ready when the share of its layer has
/// passed.
StepTimeline computed_timeline(const std::vector<ComputedLayer>& layers, int batch);

/// A published transformer by name: `gpt3-13b`, `llama3-8b`.
struct PublishedShape {
  std::string_view name;
  std::string_view title;
  std::string_view shape;  ///< for `parse_transformer`
  int batch = 1;           ///< sequences per GPU and step
  std::string_view source;
};

/// Sorted by name.
std::span<const PublishedShape> published_shapes();

/// The model with this name; none where there is none.
const PublishedShape* find_published_shape(std::string_view name);

}  // namespace hbench

#include "workloads/step/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

struct KindName {
  std::string_view name;
  WorkloadKind kind;
};

constexpr std::array<KindName, 3> kKinds{{{"convolutions", WorkloadKind::convolutions},
                                          {"encoder", WorkloadKind::encoder},
                                          {"decoder", WorkloadKind::decoder}}};

constexpr int kMost = 100'000'000;
constexpr std::array<std::string_view, 3> kFamilies{"gpt", "llama", "bert"};
/// In the order of `format_transformer`.
constexpr std::array<std::pair<std::string_view, int TransformerShape::*>, 9> kNumbers{
    {{"layers", &TransformerShape::layers},
     {"hidden", &TransformerShape::hidden},
     {"heads", &TransformerShape::heads},
     {"kv_heads", &TransformerShape::kv_heads},
     {"ffn", &TransformerShape::ffn},
     {"vocab", &TransformerShape::vocab},
     {"seq", &TransformerShape::seq},
     {"positions", &TransformerShape::positions},
     {"batch", &TransformerShape::batch}}};

[[noreturn]] void fail(std::string what, std::string cure) {
  throw Error(ExitCode::usage, std::move(what), std::move(cure));
}

TransformerFamily parse_family(std::string_view name) {
  const auto found = std::ranges::find(kFamilies, name);
  if (found == kFamilies.end()) throw unknown_name("kind of transformer", name, kFamilies);
  return static_cast<TransformerFamily>(found - kFamilies.begin());
}

/// Of a key with two values, whether it has the first.
bool parse_first(std::string_view key, std::string_view value, std::string_view first, std::string_view second) {
  if (value != first && value != second)
    fail(fmt::format("{}={} is neither {} nor {}", key, value, first, second), fmt::format("write {}={}", key, first));
  return value == first;
}

std::map<std::string, std::string> pairs_of(std::string_view text) {
  std::map<std::string, std::string> pairs;
  for (const std::string& part : split_list(text, "transformer")) {
    const std::size_t equals = part.find('=');
    if (equals == part.npos)
      fail(fmt::format("'{}' is no number of a transformer", part), "write key=value, such as layers=32");
    if (!pairs.emplace(part.substr(0, equals), part.substr(equals + 1)).second)
      fail(fmt::format("{} is given twice", part.substr(0, equals)), "leave one of them out");
  }
  return pairs;
}

int take_number(std::string_view key, std::string_view value) {
  const int number = parse_number<int>(value).value_or(0);
  if (number < 1 || number > kMost)
    fail(fmt::format("{}={} is no count", key, value), "write a whole number of at least 1");
  return number;
}

bool is_required(std::string_view key) {
  return key == "layers" || key == "hidden" || key == "heads" || key == "vocab" || key == "seq";
}

/// Takes what is not given from what is.
void complete(TransformerShape& shape) {
  const bool llama = shape.family == TransformerFamily::llama;
  for (const auto& [key, number] : kNumbers)
    if (shape.*number == 0 && is_required(key))
      fail(fmt::format("a transformer without {}", key),
           "write transformer:layers=32,hidden=4096,heads=32,vocab=32000,seq=2048");
  if (shape.kv_heads == 0) shape.kv_heads = shape.heads;
  if (shape.ffn == 0) shape.ffn = llama ? (shape.hidden * 8 / 3 + 255) / 256 * 256 : 4 * shape.hidden;
  if (shape.positions == 0 && !llama)
    shape.positions = shape.family == TransformerFamily::bert ? std::max(512, shape.seq) : shape.seq;
  if (shape.hidden % shape.heads != 0)
    fail(fmt::format("hidden={} cannot be divided among heads={}", shape.hidden, shape.heads),
         "the width is a multiple of the heads");
  if (shape.heads % shape.kv_heads != 0)
    fail(fmt::format("heads={} cannot share kv_heads={}", shape.heads, shape.kv_heads),
         "heads are a multiple of kv_heads");
  if (shape.positions > 0 && shape.positions < shape.seq)
    fail(fmt::format("seq={} is longer than positions={}", shape.seq, shape.positions), "give positions=seq at least");
}

constexpr std::string_view kGpt3 = "Brown et al., NeurIPS 2020 (arXiv:2005.14165), table 2.1";
constexpr std::string_view kMegatron = "Narayanan et al., SC 2021 (arXiv:2104.04473), table 1";
constexpr std::string_view kKorthikanti = "Korthikanti et al., MLSys 2023 (arXiv:2205.05198), table 3";
constexpr std::string_view kLlama = "Touvron et al., arXiv:2302.13971, table 2";
constexpr std::string_view kLlama2 = "Touvron et al., arXiv:2307.09288, and the model's config.json";
constexpr std::string_view kLlama3 = "Grattafiori et al., arXiv:2407.21783, table 3, and the model's config.json";

constexpr std::array<PublishedShape, 22> kShapes{{
    {"gpt-1t", "GPT 1 T (Megatron)", "gpt:layers=128,hidden=25600,heads=160,vocab=51200,seq=2048", 1, kKorthikanti},
    {"gpt-22b", "GPT 22 B (Megatron)", "gpt:layers=48,hidden=6144,heads=64,vocab=51200,seq=2048", 1, kKorthikanti},
    {"gpt-530b", "MT-NLG 530 B", "gpt:layers=105,hidden=20480,heads=128,vocab=51200,seq=2048", 1, kKorthikanti},
    {"gpt3-1.3b", "GPT-3 1.3 B", "gpt:layers=24,hidden=2048,heads=16,vocab=50257,seq=2048", 4, kGpt3},
    {"gpt3-125m", "GPT-3 125 M", "gpt:layers=12,hidden=768,heads=12,vocab=50257,seq=2048", 16, kGpt3},
    {"gpt3-13b", "GPT-3 13 B", "gpt:layers=40,hidden=5120,heads=40,vocab=50257,seq=2048", 1, kGpt3},
    {"gpt3-175b", "GPT-3 175 B", "gpt:layers=96,hidden=12288,heads=96,vocab=50257,seq=2048", 1, kGpt3},
    {"gpt3-2.7b", "GPT-3 2.7 B", "gpt:layers=32,hidden=2560,heads=32,vocab=50257,seq=2048", 2, kGpt3},
    {"gpt3-6.7b", "GPT-3 6.7 B", "gpt:layers=32,hidden=4096,heads=32,vocab=50257,seq=2048", 1, kGpt3},
    {"llama-13b", "LLaMA 13 B", "llama:layers=40,hidden=5120,heads=40,ffn=13824,vocab=32000,seq=2048", 1, kLlama},
    {"llama-7b", "LLaMA 7 B", "llama:layers=32,hidden=4096,heads=32,ffn=11008,vocab=32000,seq=2048", 1, kLlama},
    {"llama2-13b", "Llama 2 13 B", "llama:layers=40,hidden=5120,heads=40,ffn=13824,vocab=32000,seq=4096", 1, kLlama2},
    {"llama2-70b", "Llama 2 70 B", "llama:layers=80,hidden=8192,heads=64,kv_heads=8,ffn=28672,vocab=32000,seq=4096", 1,
     kLlama2},
    {"llama2-7b", "Llama 2 7 B", "llama:layers=32,hidden=4096,heads=32,ffn=11008,vocab=32000,seq=4096", 1, kLlama2},
    {"llama3-70b", "Llama 3 70 B", "llama:layers=80,hidden=8192,heads=64,kv_heads=8,ffn=28672,vocab=128256,seq=8192", 1,
     kLlama3},
    {"llama3-8b", "Llama 3 8 B", "llama:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,vocab=128256,seq=8192", 1,
     kLlama3},
    {"llama3.1-405b", "Llama 3.1 405 B",
     "llama:layers=126,hidden=16384,heads=128,kv_heads=8,ffn=53248,vocab=128256,seq=8192", 1, kLlama3},
    {"megatron-1.7b", "GPT 1.7 B (Megatron)", "gpt:layers=24,hidden=2304,heads=24,vocab=51200,seq=2048", 4, kMegatron},
    {"megatron-18b", "GPT 18 B (Megatron)", "gpt:layers=40,hidden=6144,heads=48,vocab=51200,seq=2048", 1, kMegatron},
    {"megatron-3.6b", "GPT 3.6 B (Megatron)", "gpt:layers=30,hidden=3072,heads=32,vocab=51200,seq=2048", 2, kMegatron},
    {"megatron-7.5b", "GPT 7.5 B (Megatron)", "gpt:layers=36,hidden=4096,heads=32,vocab=51200,seq=2048", 1, kMegatron},
    {"mistral-7b", "Mistral 7 B", "llama:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,vocab=32000,seq=8192", 1,
     "Jiang et al., arXiv:2310.06825, table 1"},
}};

}  // namespace

std::string_view to_string(WorkloadKind kind) { return kKinds.at(static_cast<std::size_t>(kind)).name; }

WorkloadKind parse_workload_kind(std::string_view name) {
  for (const KindName& each : kKinds)
    if (each.name == name) return each.kind;
  throw unknown_name("kind of model", name, std::array{kKinds[0].name, kKinds[1].name, kKinds[2].name});
}

double TransformerShape::parameters() const {
  double sum = 0;
  for (const ComputedLayer& layer : layers_of(*this))
    for (const auto& [name, elements] : layer.tensors) sum += static_cast<double>(elements);
  return sum;
}

WorkloadCost TransformerShape::cost() const {
  const bool llama = family == TransformerFamily::llama;
  double multiply_adds = 0;
  for (const ComputedLayer& layer : layers_of(*this)) multiply_adds += layer.multiply_adds;
  // Two norms, queries, keys and values, attention, its projection, two sums, and the feed-forward layers, whose
  // activation function keeps its input: GPT has one, LLaMA the product of two. Plain attention writes the scores,
  // their softmax and what dropout leaves of it.
  const double width = hidden, keys = width * kv_heads / heads;
  const double scores = fused ? 0 : 3.0 * heads * seq;
  const double of_layer = 8 * width + 2 * keys + (llama ? 4.0 : 2.0) * ffn + scores;
  return {.kind = family == TransformerFamily::bert ? WorkloadKind::encoder : WorkloadKind::decoder,
          .flops = 6 * multiply_adds,
          .activations = seq * (layers * of_layer + 2.0 * vocab)};
}

TransformerShape parse_transformer(std::string_view text) {
  TransformerShape shape;
  const std::size_t colon = text.find(':');
  if (colon != text.npos) {
    if (text.substr(0, colon) != "transformer") shape.family = parse_family(text.substr(0, colon));
    text.remove_prefix(colon + 1);
  }
  std::map<std::string, std::string> pairs = pairs_of(text);
  if (auto kind = pairs.extract("kind")) shape.family = parse_family(kind.mapped());
  shape.tied = shape.family != TransformerFamily::llama;
  if (auto tied = pairs.extract("tied")) shape.tied = parse_first("tied", tied.mapped(), "yes", "no");
  if (auto attention = pairs.extract("attention"))
    shape.fused = parse_first("attention", attention.mapped(), "fused", "plain");
  for (const auto& [key, number] : kNumbers)
    if (auto given = pairs.extract(std::string(key))) shape.*number = take_number(key, given.mapped());
  if (!pairs.empty()) {
    std::vector<std::string_view> known{"kind", "tied", "attention"};
    for (const auto& [key, number] : kNumbers) known.push_back(key);
    throw unknown_name("number of a transformer", pairs.begin()->first, known);
  }
  complete(shape);
  return shape;
}

std::vector<std::string> split_workloads(const std::string& list, std::string_view flag) {
  std::vector<std::string> workloads;
  for (std::string& part : split_list(list, flag)) {
    const bool continues =
        !workloads.empty() && is_transformer(workloads.back()) && !is_transformer(part) && part.find('=') != part.npos;
    if (continues)
      workloads.back() += "," + part;
    else
      workloads.push_back(std::move(part));
  }
  return workloads;
}

bool is_transformer(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == name.npos) return false;
  const std::string_view family = name.substr(0, colon);
  return family == "transformer" || std::ranges::find(kFamilies, family) != kFamilies.end();
}

std::string format_transformer(const TransformerShape& shape) {
  std::string text = fmt::format("{}:", kFamilies.at(static_cast<std::size_t>(shape.family)));
  for (const auto& [key, number] : kNumbers) {
    TransformerShape without = shape;
    without.*number = TransformerShape().*number;
    if (!is_required(key)) complete(without);
    if (without.*number != shape.*number) text += fmt::format("{}={},", key, shape.*number);
  }
  const bool tied = shape.family != TransformerFamily::llama;
  if (shape.tied != tied) text += fmt::format("tied={},", shape.tied ? "yes" : "no");
  if (!shape.fused) text += "attention=plain,";
  return text.substr(0, text.size() - 1);
}

std::span<const PublishedShape> published_shapes() { return kShapes; }

const PublishedShape* find_published_shape(std::string_view name) {
  const auto found = std::ranges::find(kShapes, name, &PublishedShape::name);
  return found == kShapes.end() ? nullptr : found;
}

}  // namespace hbench

#include "workloads/step/published_shapes.hpp"

#include <algorithm>
#include <array>

namespace hbench {
namespace {

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

std::span<const PublishedShape> published_shapes() { return kShapes; }

const PublishedShape* find_published_shape(std::string_view name) {
  const auto found = std::ranges::find(kShapes, name, &PublishedShape::name);
  return found == kShapes.end() ? nullptr : found;
}

}  // namespace hbench

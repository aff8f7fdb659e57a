#include "analysis/jobs/words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace hbench {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

/// The small letters and digits of a text: `all_reduce`, `AllReduce` and `allreduce` are alike.
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  return letters;
}

}  // namespace

std::string operation_word(std::string_view recorded) {
  // Longer words first: the shorter ones stand in them.
  static constexpr std::array kOperations{Words{"barrier", "barrier"},  // `all_reduce_barrier` is one as well
                                          Words{"reducescatter", "reduce-scatter"},
                                          Words{"allreduce", "all-reduce"},
                                          Words{"allgather", "all-gather"},
                                          Words{"alltoall", "all-to-all"},
                                          Words{"all2all", "all-to-all"},
                                          Words{"broadcast", "broadcast"},
                                          Words{"sendrecv", "send-receive"},
                                          Words{"reduce", "reduce"},
                                          Words{"scatter", "scatter"},
                                          Words{"gather", "gather"},
                                          Words{"send", "send-receive"},
                                          Words{"recv", "send-receive"}};
  const std::string letters = letters_of(recorded);
  for (const auto& [theirs, ours] : kOperations)
    if (letters.find(theirs) != std::string::npos) return std::string(ours);
  return {};
}

std::string type_word(std::string_view recorded) {
  static constexpr std::array kTypes{
      Words{"bfloat16", "bfloat16"}, Words{"float8", "float8"},  Words{"float16", "float16"}, Words{"half", "float16"},
      Words{"float64", "float64"},   Words{"double", "float64"}, Words{"float", "float32"},   Words{"uint8", "uint8"},
      Words{"byte", "uint8"},        Words{"int8", "int8"},      Words{"char", "int8"},       Words{"int64", "int64"},
      Words{"long", "int64"},        Words{"int32", "int32"},    Words{"int", "int32"}};
  const std::string letters = letters_of(recorded);
  for (const auto& [theirs, ours] : kTypes)
    if (letters.find(theirs) != std::string::npos) return std::string(ours);
  return {};
}

bool is_reduction(std::string_view operation) { return operation == "all-reduce" || operation == "reduce-scatter"; }

int type_bytes(std::string_view word) {
  if (word.ends_with("64")) return 8;
  if (word.ends_with("32")) return 4;
  if (word.ends_with("16")) return 2;
  return word.ends_with("8") ? 1 : 0;
}

}  // namespace hbench

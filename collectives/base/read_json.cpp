#include "collectives/base/read_json.hpp"

namespace hbench {

std::string_view json_excess(std::string_view text) {
  constexpr int kMostDepth = 64;
  constexpr int kMostValues = 500'000;
  int depth = 0, values = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char mark = text[at];
    if (mark == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
      continue;
    }
    const bool opens = mark == '[' || mark == '{';
    depth += opens - (mark == ']' || mark == '}');
    values += opens || mark == ',';
    if (depth > kMostDepth) return "it is nested more than 64 deep";
    if (values > kMostValues) return "it has more than 500,000 values";
  }
  return {};
}

}  // namespace hbench

#include "collectives/base/toml_text.hpp"

#include "collectives/base/error.hpp"

namespace hbench {

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return one_line(std::move(out)) + '"';
}

}  // namespace hbench

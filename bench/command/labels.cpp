#include "bench/command/labels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/command/arguments.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

bool in_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}
bool is_control(char c) { return (c >= 0 && c < ' ') || c == 0x7f; }

void add_label(std::map<std::string, std::string>& labels, const std::string& pair) {
  const std::size_t equals = pair.find('=');
  const std::string key = pair.substr(0, equals);
  const std::string value = equals == pair.npos ? "" : pair.substr(equals + 1);
  if (key.empty() || value.empty() || !std::ranges::all_of(key, in_key) || std::ranges::any_of(value, is_control))
    throw Error(ExitCode::usage, fmt::format("--label '{}' is not a label", pair),
                "write KEY=VALUE, such as branch=main; keys have letters, digits, '.', '-' and '_'");
  if (!labels.emplace(key, value).second)
    throw Error(ExitCode::usage, fmt::format("--label {}: '{}' is given more than once", pair, key),
                "give each key once");
}

}  // namespace

std::map<std::string, std::string> parse_labels(const std::vector<std::string>& pairs) {
  std::map<std::string, std::string> labels;
  for (const std::string& pair : pairs) add_label(labels, pair);
  return labels;
}

void add_labels(Arguments& arguments, std::map<std::string, std::string>& labels, const char* help) {
  arguments.add_each(
      "--label", [&labels](const std::string& pair) { add_label(labels, pair); }, help);
}

}  // namespace hbench

#include "collectives/base/toml_file.hpp"

#include <fmt/format.h>

#include "collectives/base/error.hpp"

namespace hbench {

std::string place_in(std::string_view file_name, const toml::node& node) {
  return fmt::format("{}:{}", file_name, node.source().begin.line);
}

toml::table parse_toml(std::string_view text, std::string_view file_name) {
  try {
    return toml::parse(text, file_name);
  } catch (const toml::parse_error& error) {
    throw Error(ExitCode::usage, fmt::format("{}:{}: {}", file_name, error.source().begin.line, error.description()),
                "the file must be TOML (toml.io)");
  }
}

}  // namespace hbench

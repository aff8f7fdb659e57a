#include <fmt/format.h>

#include <array>

#include "collectives/base/units_text.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/network/profile.hpp"
#include "collectives/network/profile_reader.hpp"

namespace hbench {
namespace {

constexpr std::string_view kCodingForm = R"(write { encode = "0.1 ns", decode = "0.1 ns", source = "..." })";

double read_time(const TomlReader& read, const toml::node& node, const std::string& key) {
  const std::string text = read.text(node, fmt::format("coding.{} must be a time", key), kCodingForm);
  return read.at(
      node, [&] { return parse_seconds(text).value; }, fmt::format("coding.{}: ", key));
}

StatedCoding read_one(const TomlReader& read, const std::string& name, const toml::node& node) {
  const toml::table& fields = read.table(node, fmt::format("coding.{} must be a table", name), kCodingForm);
  read.check_keys(fields, std::array<std::string_view, 4>{"encode", "decode", "call", "source"}, "",
                  fmt::format(" in coding.{}", name));
  const auto time = [&](std::string_view key) {
    return read_time(read, read.required(fields, key, fmt::format("coding.{}.", name), kCodingForm),
                     fmt::format("{}.{}", name, key));
  };
  StatedCoding stated{.rate = {.encode = time("encode"), .decode = time("decode")},
                      .source = fmt::format("stated in {}", read.file())};
  if (fields.contains("call")) stated.rate.call = time("call");
  if (const toml::node* source = fields.get("source"))
    stated.source = read.text(*source, fmt::format("the source of coding.{} must be text", name), kSourceHelp);
  return stated;
}

}  // namespace

std::map<std::string, StatedCoding, std::less<>> read_coding(const TomlReader& read, const toml::table& table) {
  std::map<std::string, StatedCoding, std::less<>> coding;
  const toml::node* section = table.get("coding");
  if (section == nullptr) return coding;
  for (const auto& [key, node] : read.table(*section, "'coding' must be a section [coding]")) {
    const std::string name(key.str());
    const std::string compressor = read.at(node, [&] { return parse_compressor(name).text(); });
    coding[compressor] = read_one(read, name, node);
  }
  return coding;
}

}  // namespace hbench

#pragma once

#include <toml++/toml.h>

#include <span>
#include <string>
#include <string_view>

#include "collectives/base/error.hpp"

namespace hbench {

/// Parses TOML text. \throws Error (usage) with file and line.
toml::table parse_toml(std::string_view text, std::string_view file_name);

/// Reads keys and values of one TOML file. Every error is of usage and names the file and the line.
class TomlReader {
 public:
  /// \param about follows the line in every message: `[[collectives]]: `. \param cure ends every hint.
  explicit TomlReader(std::string_view file_name, std::string_view about = {}, std::string_view cure = {})
      : file_(file_name), about_(about), cure_(cure) {}

  const std::string& file() const { return file_; }
  /// Where a node is written, for people: `my.toml:12`.
  std::string place(const toml::node& node) const;
  [[noreturn]] void fail(const toml::node& node, std::string_view what, std::string_view hint = {}) const;

  /// Returns what `body` does; its errors get the line of `node` and `key` in front.
  template <class Body>
  auto at(const toml::node& node, Body body, std::string_view key = {}) const {
    try {
      return body();
    } catch (const Error& error) {
      fail(node, std::string(key) + error.what(), error.hint());
    }
  }

  /// Refuses keys that are not `known`, of which the hint names the nearest. The message has the key between `section`
  /// (`network.`) and what follows it (` in 'latency'`).
  void check_keys(const toml::table& table, std::span<const std::string_view> known, std::string_view section = {},
                  std::string_view rest = {}) const;
  /// The value of a key that must be there. `section` as above.
  const toml::node& required(const toml::table& table, std::string_view key, std::string_view section = {},
                             std::string_view hint = {}) const;

  /// Values of these types; `otherwise` is the message for other types, for numbers beyond their limits and for text
  /// that is empty.
  std::string text(const toml::node& node, std::string_view otherwise, std::string_view hint = {}) const;
  int whole(const toml::node& node, int least, int most, std::string_view otherwise, std::string_view hint = {}) const;
  double number(const toml::node& node, double least, double most, std::string_view otherwise,
                std::string_view hint = {}) const;
  const toml::table& table(const toml::node& node, std::string_view otherwise, std::string_view hint = {}) const;
  /// An array of at least `least` values.
  const toml::array& array(const toml::node& node, std::size_t least, std::string_view otherwise,
                           std::string_view hint = {}) const;

 private:
  std::string file_, about_, cure_;
};

/// `text` as a TOML basic string, quotes included: control characters are escaped.
std::string toml_text(std::string_view text);

}  // namespace hbench

#include "collectives/base/toml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/table.hpp"

namespace hbench {
namespace {

/// More than any file of ours has. The parser, and whoever walks its tables, calls itself once for each part of a key.
constexpr int kMostKeyParts = 32;

/// Finds keys with too many parts, where a part may be in quotes; text in quotes and comments has no dots.
class KeyDepth {
 public:
  KeyDepth(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  /// \throws Error (usage) with file and line.
  void check() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\'' || c == '"')
        skip_string(c);
      else if (c == '#')
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      else if (c == '.')
        count_part();
      else if (std::string_view("\n=,{}").find(c) != std::string_view::npos)
        parts_ = 1;
    }
  }

 private:
  /// To the quote that ends it; at most to the end of its line where it is not of three quotes.
  void skip_string(char quote) {
    const std::string three(3, quote);
    if (text_.substr(at_).starts_with(three)) {
      at_ = std::min(text_.find(three, at_ + 3), text_.size() - 1);
      if (at_ + 2 < text_.size()) at_ += 2;
      return;
    }
    while (++at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
      if (text_[at_] == '\\' && quote == '"') ++at_;
  }

  void count_part() {
    if (++parts_ <= kMostKeyParts) return;
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw Error(ExitCode::usage, fmt::format("{}:{}: a key with more than {} parts", file_name_, line, kMostKeyParts),
                "hbench's keys have one or two");
  }

  std::string_view text_, file_name_;
  std::size_t at_ = 0;
  int parts_ = 1;
};

}  // namespace

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    else
      out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  }
  return out + '"';
}

toml::table parse_toml(std::string_view text, std::string_view file_name) {
  KeyDepth(text, file_name).check();
  try {
    return toml::parse(text, file_name);
  } catch (const toml::parse_error& error) {
    throw Error(ExitCode::usage, fmt::format("{}:{}: {}", file_name, error.source().begin.line, error.description()),
                "the file must be TOML (toml.io)");
  }
}

std::string TomlReader::place(const toml::node& node) const {
  return fmt::format("{}:{}", file_, node.source().begin.line);
}

void TomlReader::fail(const toml::node& node, std::string_view what, std::string_view hint) const {
  std::string text(hint.empty() ? cure_ : hint);
  if (!hint.empty() && !cure_.empty()) text += fmt::format(" ({})", cure_);
  throw Error(ExitCode::usage, fmt::format("{}: {}{}", place(node), about_, what), text);
}

void TomlReader::check_keys(const toml::table& table, std::span<const std::string_view> known, std::string_view section,
                            std::string_view rest) const {
  for (const auto& [key, node] : table) {
    if (std::ranges::find(known, key.str()) != known.end()) continue;
    const std::string meant = nearest_name(key.str(), known);
    fail(node, fmt::format("unknown key '{}{}'{}", section, key.str(), rest),
         meant.empty() ? fmt::format("known here: {}", fmt::join(known, ", "))
                       : fmt::format("did you mean '{}'?", meant));
  }
}

const toml::node& TomlReader::required(const toml::table& table, std::string_view key, std::string_view section,
                                       std::string_view hint) const {
  if (const toml::node* node = table.get(key)) return *node;
  const std::string what = fmt::format("'{}{}' is missing", section, key);
  // The line of a section says nothing that its name does not; of several without names it does.
  if (!about_.empty()) fail(table, what, hint);
  throw Error(ExitCode::usage, fmt::format("{}: {}", file_, what), std::string(hint.empty() ? cure_ : hint));
}

std::string TomlReader::text(const toml::node& node, std::string_view otherwise, std::string_view hint) const {
  const auto text = node.value_exact<std::string>();
  if (!text || text->empty()) fail(node, otherwise, hint);
  return *text;
}

int TomlReader::whole(const toml::node& node, int least, int most, std::string_view otherwise,
                      std::string_view hint) const {
  const auto number = node.value_exact<std::int64_t>();
  if (!number || *number < least || *number > most) fail(node, otherwise, hint);
  return static_cast<int>(*number);
}

double TomlReader::number(const toml::node& node, double least, double most, std::string_view otherwise,
                          std::string_view hint) const {
  const auto number = node.value<double>();
  if (!number || !(*number >= least && *number <= most)) fail(node, otherwise, hint);
  return *number;
}

const toml::table& TomlReader::table(const toml::node& node, std::string_view otherwise, std::string_view hint) const {
  if (const toml::table* table = node.as_table()) return *table;
  fail(node, otherwise, hint);
}

const toml::array& TomlReader::array(const toml::node& node, std::size_t least, std::string_view otherwise,
                                     std::string_view hint) const {
  const toml::array* array = node.as_array();
  if (array == nullptr || array->size() < least) fail(node, otherwise, hint);
  return *array;
}

}  // namespace hbench

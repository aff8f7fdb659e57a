#include "collectives/base/toml_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/error.hpp"

namespace hbench {

std::string place_in(std::string_view file_name, const toml::node& node) {
  return fmt::format("{}:{}", file_name, node.source().begin.line);
}

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

toml::table parse_toml(std::string_view text, std::string_view file_name) {
  KeyDepth(text, file_name).check();
  try {
    return toml::parse(text, file_name);
  } catch (const toml::parse_error& error) {
    throw Error(ExitCode::usage, fmt::format("{}:{}: {}", file_name, error.source().begin.line, error.description()),
                "the file must be TOML (toml.io)");
  }
}

}  // namespace hbench

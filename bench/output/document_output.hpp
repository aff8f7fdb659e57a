#pragma once

/// How a verb's document leaves the program: on the terminal, in a format, as JSON, or into a file.

#include <filesystem>
#include <functional>
#include <limits>
#include <string>

#include "bench/command/arguments.hpp"
#include "reports/document/document.hpp"
#include "reports/formats/formats.hpp"

namespace hbench {

/// The flags `--format`, `--out`, `--wide` and `--json`, the same in every verb that has them; where `--out` is for
/// what the verb makes, the document's file has another name. Stays where it is from `add_options` on.
class DocumentOutput {
 public:
  void add_options(Arguments& app, const char* out = "--out");
  /// Markdown that is longer loses rows: for a comment on a pull request.
  void keep_markdown_within(std::size_t bytes) { most_markdown_bytes_ = bytes; }
  /// Before long work. \throws Error (usage) for a format that there is not, (environment) where the file cannot be
  /// written.
  void check();
  /// Prints or writes `document`, or what `json` gives. A file ending in `.svg` gets the document's first chart, drawn
  /// with gnuplot. \throws Error (environment).
  void deliver(const Document& document, const std::function<std::string()>& json) const;
  /// Whether `deliver` prints for people, rather than a format or a file.
  bool for_terminal() const { return !json_ && format_ == nullptr && file_.empty(); }

 private:
  const char* out_ = "--out";
  std::string format_name_;
  std::filesystem::path file_;
  bool json_ = false, wide_ = false;
  std::size_t most_markdown_bytes_ = std::numeric_limits<std::size_t>::max();
  const Format* format_ = nullptr;  ///< null: the terminal's, or a picture
};

}  // namespace hbench

#pragma once

/// How a verb's document leaves the program: on the terminal, in a format, as JSON, or into a file.

#include <filesystem>
#include <functional>
#include <string>

#include "bench/command/arguments.hpp"
#include "reports/document.hpp"
#include "reports/formats/formats.hpp"

namespace hbench {

/// The flags `--format`, `--out`, `--wide` and `--json`, the same in every verb that has them. Stays where it is from
/// `add_options` on.
class DocumentOutput {
 public:
  void add_options(Arguments& app);
  /// Before long work. \throws Error (usage) for a format that there is not, (environment) where the file cannot be
  /// written.
  void check();
  /// Prints or writes `document`, or what `json` gives. A file ending in `.svg` gets the document's first chart, drawn
  /// with gnuplot. \throws Error (environment).
  void deliver(const Document& document, const std::function<std::string()>& json) const;

 private:
  std::string format_name_;
  std::filesystem::path file_;
  bool json_ = false, wide_ = false;
  const Format* format_ = nullptr;  ///< null: the terminal's, or a picture
};

}  // namespace hbench

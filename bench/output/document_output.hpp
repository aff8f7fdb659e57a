#pragma once

/// How a verb's document leaves the program: on the terminal, in a format, as JSON, or into a file, which is tried
/// before long work.

#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "bench/command/arguments.hpp"
#include "reports/document/document.hpp"
#include "reports/formats/formats.hpp"
#include "reports/rows/tool_formats.hpp"

namespace hbench {

/// The flags `--format`, `--out`, `--wide` and `--json`, the same in every verb that has them: a file has the format
/// that the end of its name says, standard output that of `--format`, for which `--json` is short. Stays where it is
/// from `add_options` until the arguments are parsed.
class DocumentOutput {
 public:
  /// `out` are the names of `--out`. `product` is what a file that ends in `.toml` gets, of verbs that make one.
  void add_options(Arguments& app, const char* out = "--out", std::string product = {});
  /// Before `add_options`: `--format` also takes the name of a `ToolFormat`, which `json` of `deliver` then writes.
  void take_tools() { takes_tools_ = true; }
  /// After `check`: the format of that name; null where another one was asked for.
  const ToolFormat* tool() const { return takes_tools_ ? tool_format(format_name_) : nullptr; }
  /// Before `check`: the file of `--out` where its name ends with `.toml`, since a verb makes it beside its document,
  /// which is then printed; else none.
  std::filesystem::path take_toml() { return file_.extension() == ".toml" ? std::exchange(file_, {}) : ""; }
  /// Markdown that is longer loses rows: for a comment on a pull request.
  void keep_markdown_within(std::size_t bytes) { most_markdown_bytes_ = bytes; }
  /// Before long work. \throws Error (usage) for a format that there is not, and for one beside a file; (environment)
  /// where the file cannot be written.
  void check();
  /// Prints or writes `document`, or what `json` gives, or `csv` where the document's tables are not meant. A file
  /// ending in `.svg` gets the document's first chart, drawn with gnuplot. What cannot be written is printed.
  /// \throws Error (environment).
  void deliver(const Document& document, const std::function<std::string()>& json,
               const std::function<std::string()>& csv = {}) const;
  /// Whether `deliver` prints for people, rather than a format or a file.
  bool for_terminal() const { return !json_ && format_ == nullptr && file_.empty(); }
  /// Whether standard output has room for a line to people: it holds no format.
  bool leaves_room() const { return for_terminal() || !file_.empty(); }

 private:
  std::string format_name_, product_;
  std::filesystem::path file_;
  bool json_ = false, wide_ = false, takes_tools_ = false;
  std::size_t most_markdown_bytes_ = std::numeric_limits<std::size_t>::max();
  const Format* format_ = nullptr;  ///< null: the terminal's, or a picture
};

/// Returns `tool_text`. Figures that the format does not take are counted on standard error, which says too where
/// there are none.
std::string tool_output(const ToolFormat& format, const std::vector<ToolFigure>& figures);

/// Writes what a flag names, as `replace_file` does: whole or not at all; `flag` is what chooses another one. \throws
/// Error (environment).
void write_whole(const std::filesystem::path& file, const std::string& text, std::string_view flag);

/// Before long work: whether such a file can be written there. \throws Error (environment) as `write_whole` would, and
/// (usage) where a database of results is there, which is never meant.
void check_writable(const std::filesystem::path& file, std::string_view flag);

/// What came of `try_folder`.
struct FolderTrial {
  bool made = false;    ///< it was missing, and is there now
  std::string why_not;  ///< why no files can be written there, in the system's words; empty: they can
};
/// Before long work: makes the folder where it is missing, and writes a file there that it removes again.
FolderTrial try_folder(const std::filesystem::path& folder);

/// ISO 8601, UTC.
std::string now_utc();

}  // namespace hbench

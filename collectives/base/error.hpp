#pragma once

/// The one exception type of hbench and the exit codes it turns into.
///
/// An `Error` ends a command. Its message says what was wrong and where in the user's own files or
/// flags; its hint says how to cure it. Expected outcomes (a backend that is absent, a pair that makes
/// no sense, a point without a baseline) are return values, never exceptions.

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace hbench {

/// The documented exit codes of the program; never counts.
enum class ExitCode : int {
  good = 0,
  internal = 1,         ///< our own mistake
  usage = 2,            ///< flags, names or input files that make no sense
  environment = 3,      ///< something on this machine is missing, read-only or full
  wrong_data = 4,       ///< a result failed its check, a file holds what it must not
  lost_rank = 5,        ///< a rank died, hung or ran out of time
  regressed = 10,       ///< or slower than a cluster lets expect
  inconclusive = 11,    ///< or nobody can say so
  not_comparable = 12,  ///< or no baseline
  interrupted = 130     ///< with Ctrl-C
};

/// `text` on one line that does nothing to a terminal: control characters and separators of lines become spaces, marks
/// that reverse what follows and stray bytes of control characters U+FFFD. Messages quote what users wrote.
inline std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t most = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
    std::size_t length = 1;
    while (length < most && length < text.size() && (text[length] & 0xC0) == 0x80) ++length;
    const std::string_view character = text.substr(0, length);
    const auto is_in = [&](std::string_view low, std::string_view high) {
      return character >= low && character <= high;
    };
    if (first < 0x20 || first == 0x7F || is_in("\xC2\x80", "\xC2\x9F") || is_in("\xE2\x80\xA8", "\xE2\x80\xA9"))
      line += ' ';
    else if ((first >= 0x80 && first < 0xA0) || is_in("\xE2\x80\xAA", "\xE2\x80\xAE") ||
             is_in("\xE2\x81\xA6", "\xE2\x81\xA9"))
      line += "\xEF\xBF\xBD";
    else
      line += character;
    text.remove_prefix(length);
  }
  return line;
}

/// Ends a command: `bench/main.cpp` prints `hbench: <message>` and `  <hint>`, and exits with `code`.
/// The message is one line, whatever it quotes.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message, std::string hint = {})
      : std::runtime_error(one_line(message)), code_(code), hint_(std::move(hint)) {}

  ExitCode code() const noexcept { return code_; }
  /// What to do about it; may be empty.
  const std::string& hint() const noexcept { return hint_; }

 private:
  ExitCode code_;
  std::string hint_;
};

/// How bad it is what a check found, of a profile, a database or this machine: one scale for all.
///
/// An error cannot be true or must not be relied on, and the exit code says so; a warning makes figures doubtful; a
/// note is harmless and should be known. The worst first.
enum class Severity : std::uint8_t { error, warning, note, pass };

/// Its name above.
inline std::string_view to_string(Severity severity) {
  constexpr std::array<std::string_view, 4> kNames{"error", "warning", "note", "pass"};
  return kNames.at(static_cast<std::size_t>(severity));
}

}  // namespace hbench

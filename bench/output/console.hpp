#pragma once

/// What a person sees while work goes on: progress on standard error, one live line on a terminal, plain
/// lines elsewhere.
///
/// Documents on the terminal: one way for every verb to print tables.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "bench/command/common_options.hpp"
#include "bench/command/program.hpp"
#include "reports/document/document.hpp"

namespace hbench {

/// Beside the calls of its user a thread of its own draws: a terminal's line each second, and elsewhere a line where
/// there was none for ten seconds. Who wants it verbose gets a line for each piece of work that begins.
class Progress {
 public:
  /// `total` is the work to do, in seconds as far as they are known. 0: not known, and only what is being done is
  /// shown.
  Progress(double total, Verbosity verbosity);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What is being done now; the live line shows how far and about how long still.
  void doing(std::string_view what);
  /// `amount` of the work is done. On a terminal the line stays live; elsewhere `what`, when given, is a line.
  void done(double amount, std::string_view what = {});
  /// There is more work than was known.
  void more(double amount);
  /// A line that stays, whatever the progress line shows; `even_quiet` where it is no progress.
  void note(std::string_view line, bool even_quiet = false);
  /// Takes the live line away until the next call, so that something else can be printed.
  void clear();

 private:
  void draw();
  void repeat(const std::stop_token& stop);
  bool quiet() const { return verbosity_ == Verbosity::quiet; }
  double seconds() const;
  std::string line() const;

  double total_;
  double done_ = 0;
  Verbosity verbosity_;
  bool terminal_;
  bool cleared_ = true;
  std::string what_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double last_line_ = 0;  ///< seconds since the start
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  ///< the last member: it ends before the others
};

/// The document as wide as the terminal that standard output is, or with every column where `wide` (`--wide`). On a
/// terminal verdicts (regressed, improved, failed) have colours, unless `NO_COLOR` is set.
std::string terminal_text(const Document& document, bool wide = false);

/// Returns what fits in `columns`, all of it where that is `kAnyWidth`. \pre no line break.
std::string first_columns(std::string_view text, std::size_t columns);

}  // namespace hbench

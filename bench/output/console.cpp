#include "bench/output/console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "collectives/base/error.hpp"
#include "reports/formats/formats.hpp"
#include "reports/formats/text_table.hpp"

namespace hbench {
namespace {

/// In front of a verdict's word, and behind it.
constexpr std::array kColours{std::pair("regressed", "\033[31m"), std::pair("failed", "\033[31m"),
                              std::pair("improved", "\033[32m")};
constexpr std::string_view kPlain = "\033[0m";

bool is_letter(char character) { return character == '_' || std::isalnum(static_cast<unsigned char>(character)) != 0; }

std::string coloured(std::string text) {
  for (const auto& [word, colour] : kColours) {
    const std::string_view verdict = word;
    for (std::size_t at = 0; (at = text.find(verdict, at)) != text.npos;) {
      const std::size_t end = at + verdict.size();
      const bool whole = (at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]));
      const std::string painted = whole ? fmt::format("{}{}{}", colour, verdict, kPlain) : std::string(verdict);
      text.replace(at, verdict.size(), painted);
      at += painted.size();
    }
  }
  return text;
}

constexpr std::chrono::seconds kRedraw(1), kSilence(10);

std::string left_text(double seconds) {
  if (seconds < 1) return "";
  if (seconds < 90) return fmt::format(", about {:.0f} s left", seconds);
  return fmt::format(", about {:.0f} min left", seconds / 60);
}

}  // namespace

std::string terminal_text(const Document& document, bool wide) {
  std::string text = text_of(document, wide ? kAnyWidth : terminal_width(STDOUT_FILENO));
  const char* plain = std::getenv("NO_COLOR");
  const bool colours = isatty(STDOUT_FILENO) != 0 && (plain == nullptr || *plain == '\0');
  return colours ? coloured(std::move(text)) : text;
}

std::string first_columns(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t column = 0; end < text.size(); ++end) {
    const bool begins_character = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins_character && columns != kAnyWidth && column++ == columns) break;
  }
  return std::string(text.substr(0, end));
}

Progress::Progress(double total, Verbosity verbosity)
    : total_(total), verbosity_(verbosity), terminal_(isatty(STDERR_FILENO) != 0) {
  if (!quiet()) thread_ = std::jthread([this](const std::stop_token& stop) { repeat(stop); });
}

Progress::~Progress() { clear(); }

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (terminal_ && !quiet()) inform("\r\033[K");
  cleared_ = true;
}

double Progress::seconds() const { return seconds_since(start_); }

/// `[ 40 %] simulating, about 10 s left`: the share of the time, of what is over and what is left.
std::string Progress::line() const {
  if (total_ == 0) return what_;
  const double elapsed = seconds(), share = std::clamp(done_ / total_, 0.0, 1.0);
  // The estimate is the caller's until enough was done to correct it.
  const double left = share > 0.1 ? elapsed * (1 - share) / share : total_ - done_;
  const double percent = left > 0 ? 100 * elapsed / (elapsed + left) : 100;
  return fmt::format("[{:3.0f} %] {}{}", percent, what_, left_text(left));
}

/// \pre the mutex is held.
void Progress::draw() {
  cleared_ = false;
  if (!terminal_ || quiet()) return;
  inform("\r\033[K{}", first_columns(line(), terminal_width(STDERR_FILENO) - 1));
  std::fflush(stderr);
}

void Progress::repeat(const std::stop_token& stop) {
  // Ctrl-C is the caller's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, kRedraw, [] { return false; });
    if (stop.stop_requested() || cleared_) continue;
    if (terminal_) draw();
    if (terminal_ || seconds() - last_line_ < std::chrono::duration<double>(kSilence).count()) continue;
    last_line_ = seconds();
    inform("{}\n", line());
  }
}

void Progress::doing(std::string_view what) {
  const std::lock_guard lock(mutex_);
  what_ = what;
  if (verbosity_ == Verbosity::verbose) {
    inform("{}{:8.2f} s  {}\n", terminal_ ? "\r\033[K" : "", seconds(), what);
    last_line_ = seconds();
  }
  draw();
}

void Progress::done(double amount, std::string_view what) {
  const std::lock_guard lock(mutex_);
  done_ += amount;
  if (!terminal_ && !quiet() && !what.empty()) {
    inform("[{:3.0f} %] {}\n", total_ > 0 ? 100 * std::min(1.0, done_ / total_) : 100, one_line(what));
    last_line_ = seconds();
  }
  draw();
}

void Progress::more(double amount) {
  const std::lock_guard lock(mutex_);
  total_ += amount;
}

void Progress::note(std::string_view line, bool even_quiet) {
  const std::lock_guard lock(mutex_);
  if (terminal_ && !quiet()) inform("\r\033[K");
  if (even_quiet || !quiet()) inform("{}\n", for_people(line, 2));
  draw();
}

}  // namespace hbench

#include "bench/output/console.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace hbench {
namespace {

std::string left_text(double seconds) {
  if (seconds < 1) return "";
  if (seconds < 90) return fmt::format(", about {:.0f} s left", seconds);
  return fmt::format(", about {:.0f} min left", seconds / 60);
}

}  // namespace

Progress::Progress(double total, bool quiet) : total_(total), quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (terminal_ && !quiet_) fmt::print(stderr, "\r\033[K");
}

void Progress::draw() {
  if (!terminal_ || quiet_) return;
  if (total_ == 0) {
    fmt::print(stderr, "\r\033[K{}", what_);
    std::fflush(stderr);
    return;
  }
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double share = std::clamp(done_ / total_, 0.0, 1.0);
  // The estimate is the caller's until enough has been seen to correct it.
  const double left = share > 0.1 ? elapsed * (1 - share) / share : total_ - done_;
  fmt::print(stderr, "\r\033[K[{:3.0f} %] {}{}", 100 * share, what_, left_text(left));
  std::fflush(stderr);
}

void Progress::doing(std::string_view what) {
  what_ = what;
  draw();
}

void Progress::done(double amount, std::string_view what) {
  done_ += amount;
  if (!terminal_ && !quiet_ && !what.empty())
    fmt::print(stderr, "[{:3.0f} %] {}\n", total_ > 0 ? 100 * std::min(1.0, done_ / total_) : 100, what);
  draw();
}

void Progress::note(std::string_view line) {
  clear();
  if (!quiet_) fmt::print(stderr, "{}\n", line);
  draw();
}

}  // namespace hbench

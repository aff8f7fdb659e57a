#pragma once

/// What a person sees while work goes on: progress on standard error, one live line on a terminal, plain
/// lines elsewhere.

#include <chrono>
#include <string>
#include <string_view>

namespace hbench {

class Progress {
 public:
  /// `total` is the work ahead, in any unit (seconds serve well). 0: not known, and only what is being done is shown.
  Progress(double total, bool quiet);
  ~Progress();
  /// What is being done now; the live line shows how far and about how long still.
  void doing(std::string_view what);
  /// `amount` of the work is done. On a terminal the line stays live; elsewhere `what`, when given, is a line.
  void done(double amount, std::string_view what = {});
  /// A line that stays, whatever the progress line shows.
  void note(std::string_view line);

 private:
  void draw();
  void clear();

  double total_;
  double done_ = 0;
  bool quiet_;
  bool terminal_;
  std::string what_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hbench

#pragma once

/// How a check leaves the program: the flags that `hbench track check` and `hbench track pair` share.

#include <filesystem>
#include <optional>

#include "analysis/track/check.hpp"
#include "bench/output/document_output.hpp"

namespace hbench {

/// `--fail-on`, `--junit`, `--gitlab`, `--github` and those of `DocumentOutput`. Stays where it is from `add_options`
/// on.
class TrackOutput {
 public:
  void add_options(Arguments& app);
  /// Before long work. \throws Error (usage, environment).
  void check();
  /// Whether an inconclusive case is a failure, where `--fail-on` says so.
  std::optional<bool> fails_on_inconclusive() const { return fail_on_; }
  /// Prints or writes the report in all forms that were asked for. \throws Error (environment).
  void deliver(const TrackReport& report) const;

 private:
  DocumentOutput document_;
  std::optional<bool> fail_on_;
  std::filesystem::path junit_, gitlab_;
  bool github_ = false;
};

}  // namespace hbench

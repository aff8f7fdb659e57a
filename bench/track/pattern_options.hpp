#pragma once

/// The flags by which a number is found in what a program prints: `--pattern`, `--unit`, `--better`, `--take`; also
/// keys of a `[[command]]` in `hbench.toml`.

#include <memory>
#include <string>

#include "analysis/import/number_pattern.hpp"
#include "bench/command/arguments.hpp"

namespace hbench {

struct PatternOptions {
  std::string expression, unit, better, take = "only";

  void add_options(Arguments& app);
  /// Returns the pattern, whose benchmark is called `name`; null where none was given. \throws Error (usage).
  std::shared_ptr<const NumberPattern> pattern(const std::string& name) const;
  /// Returns what was given as words of a shell, each with a blank before it.
  std::string in_shell() const;
};

}  // namespace hbench

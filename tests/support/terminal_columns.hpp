#pragma once

#include <cstdlib>
#include <string>

namespace hbench {

/// Makes output that of a terminal of some columns, as long as it lives: what is captured is a file, which has no
/// width.
class TerminalColumns {
 public:
  explicit TerminalColumns(int columns = 80) { setenv("COLUMNS", std::to_string(columns).c_str(), 1); }
  ~TerminalColumns() { unsetenv("COLUMNS"); }
  TerminalColumns(const TerminalColumns&) = delete;
  TerminalColumns& operator=(const TerminalColumns&) = delete;
};

}  // namespace hbench

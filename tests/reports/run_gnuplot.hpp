#pragma once

/// A process runner for tests and samples.

#include <string>
#include <vector>

namespace hbench {

/// Runs gnuplot as `write_report` asks for it; 127 when it is not installed. Other programs are refused.
int run_gnuplot(const std::vector<std::string>& argv, const std::string& input);

}  // namespace hbench

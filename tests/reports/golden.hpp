#pragma once

/// Golden files: what was once looked at and found good.

#include <string>

namespace hbench {

/// Set by `--update`: golden files are written, not compared.
extern bool g_update_golden;

/// Expects `actual` to be the bytes of `golden/<name>`, or writes them there.
void expect_golden(const std::string& name, const std::string& actual);

}  // namespace hbench

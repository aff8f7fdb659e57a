#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analysis/store/open.hpp"

namespace hbench {

/// The databases of `tests/analysis/data`, one of each released schema before today's, oldest first.
inline std::vector<std::string> frozen_schemas() {
  std::vector<std::string> names;
  const auto steps = store::migrations();
  for (const store::Migration& step : steps.first(steps.size() - 1))
    names.push_back(fmt::format("version_{}.sql", step.version));
  return names;
}

}  // namespace hbench

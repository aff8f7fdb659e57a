#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analysis/store/migrations.hpp"

namespace hbench {

/// The databases of `tests/analysis/data`, one of each schema before today's, oldest first.
inline std::vector<std::string> frozen_schemas() {
  std::vector<std::string> names;
  for (const store::Migration& next : store::migrations().subspan(1))
    names.push_back(fmt::format("version_{}.sql", next.version - 1));
  return names;
}

}  // namespace hbench

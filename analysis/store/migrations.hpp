#pragma once

/// The steps that lead from an empty file to today's schema.

#include <span>
#include <string_view>

namespace hbench::store {

/// One step: SQL that turns a database of `version - 1` into one of `version`. Once released, never edited.
struct Migration {
  int version = 0;
  std::string_view sql;
};

/// All steps; the versions are 1, 2, 3 ... without a gap.
std::span<const Migration> migrations();

}  // namespace hbench::store

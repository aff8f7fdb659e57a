#pragma once

/// The steps that lead from an empty file, or from a database of hbench 0.1.0, to today's schema.

#include <span>
#include <string_view>

namespace hbench::store {

class Database;

/// One step: SQL that turns a database of the step before it into one of `version`. Once released, never edited.
struct Migration {
  int version = 0;
  std::string_view sql;
  /// What SQL cannot do, on the schema of the last version: of the steps that ran, the last one's is called once, after
  /// them all. Null where there is nothing to do.
  void (*finish)(Database& database) = nullptr;
};

/// All steps, one for each file of `migrations/`, in ascending order: the schema of each release. Between them,
/// versions were those of no release; databases of such a version are refused.
std::span<const Migration> migrations();

}  // namespace hbench::store

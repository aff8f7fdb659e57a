#pragma once

/// Brings a database to today's schema.

#include <span>

#include "analysis/store/migrations.hpp"
#include "analysis/store/sqlite.hpp"

namespace hbench::store {

/// `PRAGMA application_id` of our files: "hbnc" in ASCII. `file results.db` shows it.
inline constexpr std::int64_t kApplicationId = 0x68626e63;

/// `PRAGMA user_version`; 0 before the first migration.
int schema_version(Database& database);

/// Runs the steps above the database's version, all in one transaction: a crash leaves the old schema
/// whole. Safe when two processes do it at once. \throws Error (environment).
void migrate(Database& database, std::span<const Migration> steps);

}  // namespace hbench::store

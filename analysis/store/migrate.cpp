#include "analysis/store/migrate.hpp"

#include <fmt/format.h>

namespace hbench::store {

int schema_version(Database& database) { return static_cast<int>(database.integer("PRAGMA user_version")); }

void migrate(Database& database, std::span<const Migration> steps) {
  Transaction transaction(database, Transaction::Kind::write);
  // Read under the lock: another process may have migrated while this one waited for it.
  const int version = schema_version(database);
  void (*finish)(Database&) = nullptr;
  for (const Migration& step : steps) {
    if (step.version <= version) continue;
    database.run(step.sql);
    if (step.finish != nullptr) finish = step.finish;
    database.run(fmt::format("PRAGMA user_version = {}", step.version));
  }
  if (finish != nullptr) finish(database);
  database.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
  transaction.commit();
}

}  // namespace hbench::store

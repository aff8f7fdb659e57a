#include "analysis/store/migrations.hpp"

#include <array>

namespace hbench::store {

extern const std::string_view kMigration_0001_initial, kMigration_0002_collectives, kMigration_0003_training;

std::span<const Migration> migrations() {
  static const std::array kAll{Migration{1, kMigration_0001_initial}, Migration{2, kMigration_0002_collectives},
                               Migration{3, kMigration_0003_training}};
  return kAll;
}

}  // namespace hbench::store

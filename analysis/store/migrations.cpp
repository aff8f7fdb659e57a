#include "analysis/store/migrations.hpp"

#include <array>

namespace hbench::store {

extern const std::string_view kMigration_0001_initial;

std::span<const Migration> migrations() {
  static const std::array kAll{Migration{1, kMigration_0001_initial}};
  return kAll;
}

}  // namespace hbench::store

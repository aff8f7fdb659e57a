#pragma once

#include <array>

namespace hbench {

/// The databases of older schemas that are kept in `tests/analysis/data`, oldest first.
inline constexpr std::array kFrozen{"version_1.sql", "version_2.sql", "version_3.sql", "version_4.sql",
                                    "version_5.sql", "version_6.sql", "version_7.sql", "version_8.sql"};

}  // namespace hbench

#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/records/records.hpp"
#include "collectives/algorithms/algorithm.hpp"

namespace hbench {

/// A collective that another program has timed by its library's own implementation (`vendor`), on ranks that the caller
/// knows. Types and operations get hbench's names where it has them (`float`: `float32`), else they are kept; an
/// empty operation is none.
Case collective_case(std::string_view program, CollectiveKind kind, std::int64_t bytes, std::string_view type,
                     std::string_view operation);

}  // namespace hbench

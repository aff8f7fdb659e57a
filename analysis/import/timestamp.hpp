#pragma once

#include <string>
#include <string_view>

namespace hbench {

/// `2026-11-23T14:05:09+01:00`, `2026-11-23 14:05:09` or `2026/11/23-14:05:09` as ISO 8601 in UTC. One without a zone
/// is taken to be UTC, since nothing says where it was written. Empty for what is none.
std::string utc_of(std::string_view written);

}  // namespace hbench

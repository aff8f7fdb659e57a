#pragma once

#include <cstdint>
#include <filesystem>

namespace hbench {

/// Bytes that a process can still take: what Linux calls available (`/proc/meminfo`), or what is left of the limits of
/// its control group (versions 1 and 2), whichever is less. Reads below `root`, so that tests can bring a machine of
/// their own. INT64_MAX where nothing is known.
std::int64_t available_memory(const std::filesystem::path& root = "/");

}  // namespace hbench

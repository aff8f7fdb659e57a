#pragma once

/// What compressors take on one machine, from collectives that were timed there. Pure.

#include <map>
#include <string>
#include <vector>

#include "analysis/records/records.hpp"
#include "collectives/network/profile.hpp"

namespace hbench {

/// By compressor, of measured collectives on the machine and the kind of device of `like`: for each byte the median
/// over sizes from a sixteenth of the largest on, for a call what the smallest takes beyond its bytes. The source of
/// each names the newest day: `coding rates measured here on 2026-11-26 by hbench collective, 9 sizes`. Compressors
/// that nobody timed there have none.
std::map<std::string, StatedCoding, std::less<>> coding_rates(const std::vector<CaseResult>& results, const Case& like);

}  // namespace hbench

#pragma once

#include "analysis/records.hpp"

namespace hbench {

/// Refuses figures that no run of hbench stores: a database that was edited or damaged must not become an efficiency.
/// Failed cases are not looked at. \throws Error (wrong_data) that names the case, its run and the figure.
void check_plausible(const CaseResult& result);

}  // namespace hbench

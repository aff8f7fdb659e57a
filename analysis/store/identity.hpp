#pragma once

/// Who a run is, in whichever database it is found.

#include "analysis/store/sqlite.hpp"

namespace hbench::store {

/// Gives the runs without a UUID, which were stored by a schema before 7, one that is made of their contents: so a
/// run is the same one whenever and wherever its database is migrated, or a reader's copy of it. The contents are what
/// no migration changes: command, version, start, environment (without the fingerprints that migrations add), labels,
/// and of each case its outcome, its work's and implementation's names and its samples. Of runs that are equal in all
/// of these in one database each has its own.
void identify_runs(Database& database);

}  // namespace hbench::store

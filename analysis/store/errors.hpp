#pragma once

/// SQLite's result codes as errors that say what the user can do.

#include <string_view>

#include "collectives/base/error.hpp"

struct sqlite3;

namespace hbench::store {

/// The error for the last failure of `handle` on `file`.
/// Codes: environment for a lock, a full disk, missing permissions and failed input or output; wrong_data
/// for a damaged file; usage for a file that is no database; internal for the rest.
Error error_of(sqlite3* handle, std::string_view file);

}  // namespace hbench::store

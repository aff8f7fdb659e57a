#pragma once

/// Tables for machines.

#include <string>

#include "reports/document/document.hpp"

namespace hbench {

/// An array with an object for each row, whose keys are the columns' names.
std::string table_json(const Table& table);

}  // namespace hbench

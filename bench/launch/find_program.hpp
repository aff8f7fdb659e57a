#pragma once

#include <string>
#include <string_view>

#include "collectives/base/availability.hpp"

namespace hbench {

/// Whether `file` is a program that this user may run.
bool may_be_run(const std::string& file);

/// The file that a shell would run as `program`: itself when it names a folder, else the first of that name in the
/// folders of `path` (a PATH variable) that may be run. Empty when there is none.
std::string find_program(std::string_view program, std::string_view path);

/// Whether `program` stands in a folder of `path` and may be run.
bool on_path(std::string_view program, std::string_view path);

/// The same, with `cure` where it does not.
Availability program_availability(std::string_view program, std::string_view path, std::string_view cure);

}  // namespace hbench

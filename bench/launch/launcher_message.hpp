#pragma once

#include <string>
#include <string_view>

namespace hbench {

/// The line that says what is wrong, of what a launcher wrote to standard error: Open MPI wraps its messages into
/// blocks between rules, each a sentence with details below it, and follows the one that matters with others that only
/// say that something failed. Without blocks it is the first line about an error, or else the last one. Empty when
/// there are no words. Pure.
std::string launcher_message(std::string_view errors);

}  // namespace hbench

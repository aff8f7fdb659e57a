#include "bench/command/words.hpp"

namespace hbench {

bool is_flag(std::string_view argument, std::string_view flag) {
  return argument == flag || (argument.starts_with(flag) && argument[flag.size()] == '=');
}

}  // namespace hbench

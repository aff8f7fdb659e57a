#include "bench/command/verb.hpp"

namespace hbench {

CommandDescription describe(const Verb& verb, const std::vector<std::string>& arguments) {
  CommandDescription description;
  verb.run({.arguments = arguments, .description = &description});
  return description;
}

}  // namespace hbench

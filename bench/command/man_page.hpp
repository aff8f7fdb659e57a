#pragma once

/// Manual pages in the language of man(7), from what `--help` prints.

#include <span>
#include <string>

#include "bench/command/verb.hpp"

namespace hbench {

/// hbench(1): the verbs, and the exit codes.
std::string man_page(std::span<const Verb* const> verbs);
/// hbench-VERB(1): the verb's options and examples, and those of its actions.
std::string man_page(const Verb& verb);

}  // namespace hbench

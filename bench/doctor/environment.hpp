#pragma once

#include <map>
#include <string>

#include "collectives/base/test_delay.hpp"

namespace hbench {

/// Facts about this machine that results depend on: an allow-list, never the whole environment. GPUs are asked about
/// where the command may use them: their driver takes its time to answer.
std::map<std::string, std::string> environment_facts(bool uses_gpus);

/// The network that ranks have instead of this machine's, in words: the variable HBENCH_EMULATED, which `bench/links`
/// sets and which everybody who slows links down should. Empty: none. \throws Error (usage) for a text that is no line.
std::string emulated_network();

/// The rank that a test slows down: the variable HBENCH_TEST_DELAY. \throws Error (usage) as `parse_test_delay`.
TestDelay test_delay();

}  // namespace hbench

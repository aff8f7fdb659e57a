#pragma once

/// Runs of `hbench collective` on ranks that are processes.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/program.hpp"

namespace hbench {

/// Skipped, with the program's reason, where ranks cannot be processes.
class CollectiveUnderMpi : public testing::Test {
 protected:
  void SetUp() override;

  /// `hbench collective --quiet <arguments>`.
  Outcome run(std::vector<std::string> arguments) const;
  /// The same with `--json`, which must succeed: the document.
  nlohmann::json document(std::vector<std::string> arguments) const;
  /// `mpirun -n ranks hbench collective --quiet <arguments>`, as a user's own launcher would.
  Outcome started(int ranks, const std::string& arguments) const;

  Workplace workplace_;
};

/// Names in /dev/shm, without Open MPI's own, which come and go with runs beside this one.
std::vector<std::string> names_in_shared_memory();

}  // namespace hbench

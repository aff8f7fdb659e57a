#pragma once

/// Runs of `hbench collective` on ranks that are processes.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/bench/program.hpp"
#include "tests/collectives/shared_names.hpp"

namespace hbench {

/// Skipped, with the reason, where hbench is built without MPI.
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

/// Waits until /dev/shm has no other names than `before` that no living process has mapped: those of tests beside this
/// one are. Open MPI's own are not looked at, since there always may be some.
bool all_go(const std::set<std::string>& before);

}  // namespace hbench

#include "tests/bench/collective_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "collectives/endpoints/endpoint.hpp"

namespace hbench {

void CollectiveUnderMpi::SetUp() {
  if (!mpi_availability().available) GTEST_SKIP() << mpi_availability().reason;
}

Outcome CollectiveUnderMpi::run(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {"collective", "--quiet"});
  return workplace_.run(arguments);
}

nlohmann::json CollectiveUnderMpi::document(std::vector<std::string> arguments) const {
  arguments.emplace_back("--json");
  const Outcome outcome = run(std::move(arguments));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

Outcome CollectiveUnderMpi::started(int ranks, const std::string& arguments) const {
  // MPI keeps memory of its own until the end: a leak sanitizer would make that the exit code.
  return workplace_.shell(
      fmt::format("export ASAN_OPTIONS=detect_leaks=0; [ $(id -u) = 0 ] && root=--allow-run-as-root; "
                  "mpirun $root --oversubscribe -n {} $HBENCH collective --quiet {}",
                  ranks, arguments));
}

namespace {

/// Whether a living process has it mapped, or is the one whose folder it is (hbench-HOST-PROCESS-...): then it is
/// another test's, which runs beside this one.
bool is_of_others(const std::string& name) {
  std::error_code ignored;
  int owner = 0;
  if (std::sscanf(name.c_str(), "hbench-%*[0-9a-f]-%d-", &owner) == 1 &&
      std::filesystem::exists(fmt::format("/proc/{}", owner), ignored))
    return true;
  for (const auto& process : std::filesystem::directory_iterator("/proc", ignored)) {
    std::ifstream maps(process.path() / "maps");
    for (std::string line; std::getline(maps, line);)
      if (line.ends_with("/" + name)) return true;
  }
  return false;
}

}  // namespace

bool all_go(const std::set<std::string>& before) {
  std::set<std::string> left;
  for (int i = 0; i < 500; ++i) {
    left.clear();
    std::ranges::set_difference(names_in_shared_memory(), before, std::inserter(left, left.end()));
    std::erase_if(left, is_of_others);
    if (left.empty()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

}  // namespace hbench

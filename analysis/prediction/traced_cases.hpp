#pragma once

/// Cases whose steps have spans: measured ones have stored them, simulated ones are simulated again.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/prediction/data.hpp"
#include "analysis/store/store.hpp"

namespace hbench {

/// Which cases are meant.
struct TraceRequest {
  int run = 0;        ///< 0: the newest that has any
  std::string match;  ///< a part of the name, in any case; the whole name of one means that one alone
  std::vector<std::string> profiles, workloads;  ///< files of the user's, which simulated cases are of
  std::int64_t memory = INT64_MAX;               ///< bytes that a simulation can take
  std::function<void(const std::string& name)> simulating = [](const std::string&) {};  ///< before each simulation
};

struct TracedCase {
  Case asked;
  std::string name;  ///< `resnet18, 2 ranks, ring, batch 16, measured`
  std::int64_t run = 0;
  int period = 1;                        ///< iterations of which each step is the mean: of a method with a period
  std::vector<TracedStep> steps;         ///< none where only the ledger of a case is stored
  std::map<std::string, double> ledger;  ///< the parts of a typical step (`typical_ledger`), where there are no steps
  /// What the passes take in the step of one process alone, of the same run; 0: not known.
  Seconds alone;
  std::vector<std::string> host_of_rank;  ///< by rank; empty where all were on one machine
  std::string note;                       ///< what is odd about it; empty for nothing
};

/// Those of a run that are meant, measured ones first. \throws Error (usage) where there is none, with what there is,
/// and where a simulated one cannot be simulated again, or takes long and nobody named it;
/// as `check_plausible`.
std::vector<TracedCase> find_traced_cases(const Store& store, const Data& data, const TraceRequest& request);

}  // namespace hbench

#pragma once

/// The plan of a sweep: what was asked, as an ordered list of cases. Pure.
///
/// The plan is the product of the lists that were given, less the pairs that make no sense; each of those is
/// named with its reason. Lists that were not given have defaults that make a good first sweep.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/records.hpp"
#include "bench/data.hpp"
#include "bench/doctor/training_means.hpp"
#include "bench/launch/allocation.hpp"
#include "bench/sweep/experiment.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// How parameter servers are placed: `colocated`, `dedicated`, `4` (dedicated), `colocated:4`.
struct ServerChoice {
  bool colocated = false;
  int count = 0;  ///< 0: one for each node
};
/// \throws Error (usage).
ServerChoice parse_servers(std::string_view text);

/// Whether a sweep also simulates nodes like this machine. `where_it_helps`: on GPUs, when more of them are asked for
/// than there are.
enum class CalibrationChoice : std::uint8_t { where_it_helps, always, never };

/// What was asked for. Empty lists take their defaults.
struct SweepRequest {
  std::vector<int> gpus;
  std::vector<int> nodes;  ///< of measured runs: each GPU count on each of these; empty: on the fewest that hold it
  int gpus_per_node = 0;   ///< of measured runs, in the place of `nodes`; 0: not given
  std::vector<NodeLayout>
      layouts;  ///< of measured runs, in the place of both; `gpus` has their GPU counts. Empty: none
  std::vector<std::string> workloads, profiles, algorithms, compressors, fusions, placements;
  std::vector<std::string> presets;  ///< frameworks, which are only simulated; with no algorithms, nothing else is
  std::vector<ServerChoice> servers;
  std::set<Evidence> evidence;
  int batch = 0;               ///< per GPU; 0: the profile's, or 16 for measured runs
  double single_gpu_rate = 0;  ///< samples/s; 0: the profile's
  int image_size = 0;          ///< of measured runs; 0: 64 on CPU cores, 224 on GPUs
  std::string device;          ///< of measured runs: `cpu`, `gpu`; empty: GPUs where models can be trained on them
  std::string executor;        ///< of measured runs; empty: the best there is for each algorithm
  std::string precision;       ///< of measured runs; empty: float32 on CPU cores, tf32 on GPUs
  bool overlap = true;
};

/// What this machine can measure.
struct LocalMachine : TrainingMeans {
  int cores = 1;
  int ranks = 1;                    ///< on CPU cores, measured runs use at most this many workers
  bool asked_for = false;           ///< by --oversubscribe, which then counts for GPUs as well
  std::vector<std::string> models;  ///< trainable here
  std::string emulated;             ///< the network that ranks have instead of their own, in words; empty: none
  Allocation allocation;            ///< where measured ranks are started
  std::string no_emulation;         ///< why no cluster can be emulated here; empty where one can
  std::int64_t memory = INT64_MAX;  ///< bytes that a simulation can take
};

/// A combination that was not planned.
struct Refusal {
  std::string what;
  std::string why;

  friend bool operator==(const Refusal&, const Refusal&) = default;
};
/// Says each thing once.
void refuse(std::vector<Refusal>& refused, std::string what, std::string why);
/// `<what>, <what>: <why>; ...`, on one line: each reason once, in the order of their first.
std::string reasons(const std::vector<Refusal>& refused);

struct Plan {
  Catalog catalog;
  std::vector<Case> cases;            ///< measured, then simulated
  std::vector<CaseResult> published;  ///< within the range asked for
  std::vector<Refusal> refused;
};

/// \throws Error (usage) for a name that nothing knows, and when nothing is left to do.
Plan make_plan(const SweepRequest& request, const Data& data, const LocalMachine& machine);

/// Whether a case is one of a profile's cluster that is emulated here, and not one of this machine on slowed links.
bool is_of_emulated_cluster(const Case& asked, const Catalog& catalog);

/// Makes a case one that is timed on this machine: measured, or emulated where its network is
/// (`LocalMachine::emulated`).
void time_here(Case& asked, const std::string& emulated);

}  // namespace hbench

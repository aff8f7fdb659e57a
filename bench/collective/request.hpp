#pragma once

/// What `hbench collective` was asked to measure.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/command/common_options.hpp"
#include "bench/command/verb.hpp"
#include "bench/output/document_output.hpp"
#include "bench/sweep/request.hpp"
#include "bench/worker/rank_loop.hpp"
#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/schedule/schedule.hpp"
#include "workloads/step/timeline.hpp"

namespace hbench {

/// Empty lists take their defaults.
struct CollectiveRequest {
  CollectiveKind collective = CollectiveKind::all_reduce;
  std::int64_t min_bytes = 8, max_bytes = 128 << 20;
  double factor = 2;            ///< from one size to the next
  std::int64_t step_bytes = 0;  ///< added instead, when not 0
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  std::vector<int> ranks;
  std::vector<std::string> algorithms, compressors, executors;
  std::vector<std::string> profiles;  ///< clusters to simulate on, with the executor `simulate` alone
  std::optional<ServerChoice> servers;
  int ranks_per_node = 0;  ///< ranks per node of hierarchical algorithms; 0: all on one
  int segments = 0;        ///< of pipelined algorithms; 0: their own choice
  bool peers = false;
  std::string workload;  ///< a trace whose tensors travel, instead of sizes
  std::string fusion;    ///< what merges them; empty: as they come
  bool check = true;

  bool simulates() const { return !profiles.empty(); }
};

/// The whole command line.
struct CollectiveOptions {
  CollectiveRequest request;
  LoopOptions loop;
  int launches = 1;
  std::filesystem::path database;             ///< empty: nothing is stored
  DocumentOutput output;                      ///< of JSON it has every raw sample
  std::map<std::string, std::string> labels;  ///< of the run
  std::filesystem::path mpich;                ///< the program built with MPICH; empty: beside this build
  std::optional<BytesPerSecond> link;         ///< what each rank's link carries, in one direction
  bool dry_run = false;
  Verbosity verbosity = Verbosity::usual;
};

/// Nothing when help was asked for and printed. \throws Error (usage).
std::optional<CollectiveOptions> parse_collective_options(const Call& call);

/// The sizes from the smallest to the largest. \throws Error (usage) when there would be none, or too many.
std::vector<std::int64_t> sizes_of(const CollectiveRequest& request);

/// Returns the tensors of a trace as they travel, in elements: each alone, or as the fusion policy merges them.
std::vector<std::int64_t> tensors_of(const StepTimeline& timeline, const std::string& fusion, DataType type);

}  // namespace hbench

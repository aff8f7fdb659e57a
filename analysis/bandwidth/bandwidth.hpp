#pragma once

/// `hbench bandwidth`: what the network between nodes must carry for a training job to scale, and below which rate a
/// compressor pays.
///
/// What holds a training step back where the network between nodes takes no time.

#include <optional>
#include <string>
#include <vector>

#include "analysis/prediction/data.hpp"
#include "analysis/prediction/plan.hpp"
#include "analysis/prediction/varied_network.hpp"
#include "analysis/records/records.hpp"

namespace hbench {

/// What the network of each node must carry, each way; none where no network is fast enough.
struct RequiredBandwidth {
  Case asked;
  std::optional<BytesPerSecond> stated;
  /// By the better and the worse end of the prediction's 90 % band.
  std::optional<BytesPerSecond> least, most;
  std::optional<UnknownKind> widest;  ///< what makes most of that band, at the stated rate
  double best_efficiency = 0;         ///< on a network that takes no time, latency apart
  /// What holds it back there, in words, and the efficiency without that; only where `stated` is none.
  std::string obstacle;
  double without_obstacle = 0;
};

/// A compressor beside the same strategy without one.
struct BreakEven {
  Case asked;
  double bits_per_element = 0;  ///< on the wire; 32 without a compressor
  bool bits_vary = false;       ///< with the values: these are the most
  /// Of normally distributed values (`Compressor::relative_l2_error`); none where it has other parameters than there.
  std::optional<double> relative_error;
  Seconds coding;  ///< of all gradients once, at the busiest GPU; 0 where the profile does not say how fast memory is
  /// On slower networks than this it is ahead (`lead_of`), and on slower ones than that it is faster at all; none: on
  /// no network. `kUnlimited`: on every network.
  std::optional<BytesPerSecond> ahead_below, even_at;
};

/// A network that exists.
struct KnownNetwork {
  std::string profile;
  BytesPerSecond reaches;  ///< what one path between two nodes carries
};

/// What was asked and what was found.
struct BandwidthAnswer {
  double target = 0;  ///< efficiency
  Profile base;
  std::map<std::string, std::string> titles;  ///< of workloads with their batches, by name
  std::string batches;                        ///< `batches_in_words`
  std::vector<RequiredBandwidth> required;    ///< by workload, then by GPUs, then as asked
  std::vector<BreakEven> break_even;          ///< on the most GPUs
  std::vector<KnownNetwork> networks;         ///< ascending
  std::vector<Refusal> refused;
};

/// `90%`, `0.9`: above 0 and below 100 %. \throws Error (usage).
double parse_target(const std::string& text);

/// Simulates `request`, which names one profile. \throws Error (usage) as `plan_across_nodes`, (interrupted) after a
/// stop.
BandwidthAnswer required_bandwidth(const PredictionRequest& request, double target, const Data& data,
                                   const SimulationMeans& means = {});

/// One search. \pre `network` knows the case; it has more than one node.
RequiredBandwidth search_required(const PlannedCase& asked, double target, VariedNetwork& network);
/// One compressor; `plain` is `compressed` without it. \pre as above.
BreakEven search_break_even(const PlannedCase& compressed, const PlannedCase& plain, VariedNetwork& network);

struct Obstacle {
  std::string words;              ///< `what parameter servers handle`
  double efficiency_without = 0;  ///< on an unlimited network
};

/// Takes away each thing that a network's rate does not change (latency, links inside nodes, servers, memory, host,
/// stragglers ...), one at a time, and gives what the step gains most from. \pre `catalog` has what the case names.
Obstacle worst_obstacle(const PlannedCase& asked, const Catalog& catalog);

}  // namespace hbench
